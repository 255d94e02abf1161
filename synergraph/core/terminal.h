#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// Columns of an output that has no right edge: a file or a pipe.
inline constexpr std::size_t kUnlimited = SIZE_MAX;

/// Columns of the terminal that a stream writes to, or kUnlimited if it is none.
std::size_t terminal_columns(std::FILE* stream);

/// Text from a file or a command line, on one line that no terminal can take for a command: control
/// characters, marks that reverse the writing direction and bytes that are not UTF-8 are written
/// out ("\x1b", "\u202e").
std::string printable(std::string_view text);

/// The same for a text of several lines: line feeds stay.
std::string printable_lines(std::string_view text);

/// Columns that printable UTF-8 text takes on a terminal: two for an East Asian character, none for
/// a combining mark.
std::size_t display_width(std::string_view text);

/// The text, cut to so many columns; "…" stands for its end.
std::string cut_end(std::string_view text, std::size_t columns);

/// The text, cut to so many columns; "…" stands for its beginning.
std::string cut_begin(std::string_view text, std::size_t columns);

/// The text, cut to so many columns; "…" stands for its middle. Names differ in their ends.
std::string cut_middle(std::string_view text, std::size_t columns);

/// "1 test", "2 tests".
std::string counted(std::int64_t count, std::string_view noun);

/// Text between quotation marks for a message: printable and short.
std::string quoted_text(std::string_view text);

/// The text's lines, each broken at blanks into lines of at most `columns`; continuations are
/// indented by `indent`. A word that is longer than a line is left whole.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent = 0);

}  // namespace synergraph
#pragma GCC visibility pop
