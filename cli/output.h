#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

namespace synergraph::cli {

/// Writes to standard output. What goes to a terminal cannot command it; into a file or a pipe goes
/// every byte as it is. InputError if it cannot be written.
void print(const std::string& text);

/// Whether one of these outputs is "-", standard output. UsageError if several are.
bool to_standard_output(std::initializer_list<std::string> paths);

/// Writes a file of text, or prints it where the path is "-".
void write_output(const std::string& path, const std::string& text);

/// A line on standard error, printable.
void print_note(const std::string& line);

/// The same for what went wrong; a terminal gets it broken at blanks, a pipe on one line.
void print_error(const std::string& line);

/// Columns that print() has: those of the terminal, or no limit.
std::size_t output_columns();

/// Makes sure that all that was printed has been written. InputError if it has not.
void finish_output();

/// A standard stream that is closed must not become the next file that is opened. Call it first.
void reserve_standard_streams();

}  // namespace synergraph::cli
