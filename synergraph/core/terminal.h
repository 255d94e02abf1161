#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// The number of columns of an output without a right edge: a file or a pipe.
inline constexpr std::size_t kUnlimited = SIZE_MAX;

/// Returns the number of columns of the terminal behind a stream, or kUnlimited if the stream is no
/// terminal.
std::size_t terminal_columns(std::FILE* stream);

/// Makes text from a file or a command line safe to print on one line of a terminal. The function
/// escapes control characters, marks that reverse the writing direction, and invalid UTF-8 ("\x1b",
/// "\u202e").
std::string printable(std::string_view text);

/// Applies printable() to a text of several lines and keeps line feeds.
std::string printable_lines(std::string_view text);

/// Returns the number of columns of printable UTF-8 text on a terminal. An East Asian character
/// takes two columns, and a combining mark takes none.
std::size_t display_width(std::string_view text);

/// Cuts the text to at most `columns` columns; "…" replaces the end.
std::string cut_end(std::string_view text, std::size_t columns);

/// Cuts the text to at most `columns` columns; "…" replaces the beginning.
std::string cut_begin(std::string_view text, std::size_t columns);

/// Cuts the text to at most `columns` columns; "…" replaces the middle, because names usually
/// differ at their ends.
std::string cut_middle(std::string_view text, std::size_t columns);

/// Formats a count with its noun: "1 test", "2 tests".
std::string counted(std::int64_t count, std::string_view noun);

/// Puts text in quotation marks for a message and makes the text printable and short.
std::string quoted_text(std::string_view text);

/// Breaks each line of the text at blanks into lines of at most `columns` columns. Continuation
/// lines are indented by `indent`. A word longer than a line stays whole.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0);

}  // namespace synergraph
#pragma GCC visibility pop
