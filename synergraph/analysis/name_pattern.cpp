#include "synergraph/analysis/name_pattern.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

// std::regex recurses along the groups of an expression when it reads it, and along the expression,
// repetitions written out, when it searches.
constexpr std::size_t kLongest = 200;
constexpr int kDeepest = 20;
constexpr int kMostCopies = 20;
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kMostSteps = 5'000'000;

#ifdef _GLIBCXX_RELEASE
// All matches at once: no backtracking, and no recursion along the name.
constexpr auto kSyntax = std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSyntax = std::regex::ECMAScript;
#endif

[[noreturn]] void refuse(const std::string& expression, const std::string& reason) {
  throw UsageError(
      fmt::format("{} is not a regular expression: {}", quoted_text(expression), reason));
}

void check_limits(const std::string& expression) {
  if (expression.size() > kLongest)
    refuse(expression, fmt::format("it is longer than {} characters", kLongest));
  int depth = 0;
  int copies = 1;
  int number = 0;  // that is being read
  bool in_braces = false;
  int most = 1;  // number in these braces
  for (const char c : expression) {
    if (c == '(' && ++depth > kDeepest)
      refuse(expression, fmt::format("its groups are more than {} deep", kDeepest));
    if (c == ')') --depth;
    if (c == '{') most = 1;
    if (c == '{' || c == '}') in_braces = c == '{';
    number = in_braces && is_digit(c) ? std::min(10 * number + (c - '0'), kMostCopies + 1) : 0;
    most = std::max(most, number);
    if (c == '}') copies = std::min(copies * most, kMostCopies + 1);
    if (copies > kMostCopies)
      refuse(expression, fmt::format("its repetitions are more than {} together", kMostCopies));
  }
}

/// A place in a name that counts how often it is looked at, to end a search that would take years.
class CountedPlace {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedPlace() = default;
  CountedPlace(const char* at, std::size_t* steps) : at_(at), steps_(steps) {}

  reference operator*() const {
    if (++*steps_ > kMostSteps) throw std::regex_error(std::regex_constants::error_complexity);
    return *at_;
  }
  CountedPlace& operator++() { return ++at_, *this; }
  CountedPlace& operator--() { return --at_, *this; }
  CountedPlace operator++(int) { return {at_++, steps_}; }
  CountedPlace operator--(int) { return {at_--, steps_}; }
  bool operator==(const CountedPlace& other) const { return at_ == other.at_; }

 private:
  const char* at_ = nullptr;
  std::size_t* steps_ = nullptr;
};

}  // namespace

NamePattern::NamePattern(const std::string& expression) : expression_(expression) {
  check_limits(expression);
  try {
    pattern_.assign(expression, kSyntax);
  } catch (const std::regex_error& error) {
    refuse(expression, error.what());
  }
}

bool NamePattern::matches(const std::string& name) const {
  if (name.size() > kLongestName) return false;
  std::size_t steps = 0;
  try {
    return std::regex_search(CountedPlace(name.data(), &steps),
                             CountedPlace(name.data() + name.size(), &steps), pattern_);
  } catch (const std::regex_error&) {
    throw UsageError(fmt::format("the search for {} in the name {} takes too long",
                                 quoted_text(expression_), quoted_text(name)));
  }
}

}  // namespace synergraph
