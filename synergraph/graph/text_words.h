#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synergraph::detail {

/// A word of the graph text format.
struct Word {
  std::string text;
  bool quoted = false;

  /// Returns true if the word is this keyword. A quoted word is a name, never a keyword.
  bool is(std::string_view keyword) const { return !quoted && text == keyword; }
};

/// Splits a line into words at blanks. Quotes "..." keep blanks together and allow the escapes \"
/// \\ \n \r \t \xHH. '#' ends the line. InputError for a quoted word without an end and for other
/// escapes.
std::vector<Word> words_of(std::string_view line);

/// Replaces quotes, backslashes and control characters by the escapes of quoted words. The result
/// is one line.
std::string escaped(std::string_view text);

/// Formats a name as a word that words_of() reads back. The word is quoted where necessary, or
/// always.
std::string name_word(const std::string& name, bool always_quoted = false);

}  // namespace synergraph::detail
