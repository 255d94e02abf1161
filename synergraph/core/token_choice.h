#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Some tokens of a sequence, in the notation of --layers and of Python's slices: "5", "-2" (from
/// the end), "0,3,9", "0-7" (both ends included), "::4" (every fourth), "8:" or "2:10:2".
class TokenChoice {
 public:
  TokenChoice() = default;
  /// UsageError for any other text; `option` begins the message.
  TokenChoice(std::string_view text, std::string_view option);

  bool empty() const { return parts_.empty(); }  ///< nothing was chosen: the default applies
  const std::string& text() const { return text_; }
  std::string described() const;  ///< "token 5", or "tokens 0-7"
  /// The token, where one is chosen by its number.
  std::optional<std::int64_t> single() const;

  /// The chosen ones of the tokens 0 .. tokens - 1, rising. InputError where a token that is named
  /// is not there, or the slices are empty; `option` begins the message.
  std::vector<int> places(int tokens, std::string_view option) const;

 private:
  /// A slice; of a token that is named, the slice of this token alone.
  struct Part {
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    std::int64_t step = 1;
    bool named = false;  ///< begin, and end - 1 if it is there, must exist
  };

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace synergraph
#pragma GCC visibility pop
