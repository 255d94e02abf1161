#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synergraph::detail {

/// A word of the graph text format.
struct Word {
  std::string text;
  bool quoted = false;

  /// Whether it is this keyword: what is quoted is a name, never a keyword.
  bool is(std::string_view keyword) const { return !quoted && text == keyword; }
};

/// The words of a line: separated by blanks; "..." keeps blanks together and knows the escapes \"
/// \\ \n \r \t \xHH; '#' ends the line. InputError for a quoted word that does not end and for
/// other escapes.
std::vector<Word> words_of(std::string_view line);

/// Text with the escapes of quoted words in place of quotes, backslashes and control characters:
/// one line.
std::string escaped(std::string_view text);

/// A name as a word that words_of() gives back: quoted where it must be, or always.
std::string name_word(const std::string& name, bool always_quoted = false);

}  // namespace synergraph::detail
