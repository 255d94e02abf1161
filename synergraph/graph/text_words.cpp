#include "synergraph/graph/text_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"

namespace synergraph::detail {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr std::array<std::string_view, 7> kKeywords = {"nodes",  "self-loops", "head", "weight",
                                                       "matrix", "->",         ":"};
constexpr std::array<std::pair<char, char>, 5> kEscapes = {
    {{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}}};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
}

/// The character that an escape stands for. `at` is behind the backslash, and afterwards behind
/// the escape.
char unescape(std::string_view line, std::size_t& at) {
  const char kind = at < line.size() ? line[at++] : '\0';
  for (const auto& [letter, character] : kEscapes)
    if (letter == kind) return character;
  unsigned char byte = 0;
  const std::string_view digits = line.substr(at, 2);
  if (kind != 'x' || digits.size() != 2 || !parse_number(digits, byte, 16))
    throw InputError(R"(a quoted name has a backslash before none of " \ n r t xHH)");
  at += 2;
  return static_cast<char>(byte);
}

/// The quoted word that begins at `at`, which is afterwards behind its end.
Word take_quoted(std::string_view line, std::size_t& at) {
  Word word{.text = {}, .quoted = true};
  for (++at; at < line.size();) {
    const char c = line[at++];
    if (c == '"') return word;
    word.text += c == '\\' ? unescape(line, at) : c;
  }
  throw InputError("a quoted name does not end");
}

}  // namespace

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (std::size_t at = 0;;) {
    at = line.find_first_not_of(kBlanks, at);
    if (at == std::string_view::npos || line[at] == '#') return words;
    if (line[at] == '"') {
      words.push_back(take_quoted(line, at));
    } else {
      const std::size_t end = std::min(line.find_first_of(" \t\n\v\f\r#", at), line.size());
      words.push_back({std::string(line.substr(at, end - at))});
      at = end;
    }
  }
}

std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const std::pair<char, char>* known = nullptr;
    for (const auto& escape : kEscapes)
      if (escape.second == c) known = &escape;
    if (known != nullptr)
      line += {'\\', known->first};
    else if (is_control(c))
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      line += c;
  }
  return line;
}

std::string name_word(const std::string& name, bool always_quoted) {
  std::string inside = escaped(name);
  const bool plain = !always_quoted && !name.empty() && inside == name &&
                     name.find_first_of(" #") == std::string::npos &&
                     std::find(kKeywords.begin(), kKeywords.end(), name) == kKeywords.end();
  return plain ? inside : '"' + inside + '"';
}

}  // namespace synergraph::detail
