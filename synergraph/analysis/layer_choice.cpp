#include "synergraph/analysis/layer_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/shorten_names.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = text.find_last_not_of(' ');
  return text.substr(begin, end == text.npos ? 0 : end + 1 - begin);
}

bool is_number_list(const std::string& text) {
  return text.find_first_not_of("0123456789,- ") == text.npos &&
         text.find_first_of("0123456789") != text.npos;
}

/// The numbers that outputs show for layers of these names.
std::vector<std::int64_t> numbers_of(const std::vector<std::string>& names) {
  const SharedEnds place = shared_ends(names);
  std::vector<std::int64_t> numbers;
  for (const std::string& name : names) {
    std::string_view digits = name;
    if (names.size() > 1)
      digits = digits.substr(place.before, name.size() - place.before - place.after);
    std::int64_t number = 0;
    if (!is_number(digits) || !parse_number(digits, number)) {
      numbers.clear();
      break;
    }
    numbers.push_back(number);
  }
  for (std::size_t k = numbers.size(); k < names.size(); ++k)
    numbers.push_back(static_cast<std::int64_t>(k));
  return numbers;
}

/// "the layers are 0 to 11", or "the layers are 1, 4 and 3 more".
std::string shown_numbers(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (count == 1) return fmt::format("the only layer is {}", numbers.front());
  if (numbers.back() - numbers.front() == count - 1)
    return fmt::format("the layers are {} to {}", numbers.front(), numbers.back());
  constexpr std::size_t kShown = 5;
  const std::size_t shown = std::min(numbers.size(), kShown);
  std::string text =
      fmt::format("the layers are {}", fmt::join(std::span(numbers).first(shown), ", "));
  if (numbers.size() > shown) text += fmt::format(" and {} more", numbers.size() - shown);
  return text;
}

/// An expression for names like this one, its numbers being any; empty for one that a shell or a
/// terminal would take for something else.
std::string expression_for(const std::string& name) {
  std::string expression = "^";
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char c = name[k];
    if (c < ' ' || c > '~' || c == '\'') return {};
    if (is_digit(c)) {
      if (k == 0 || !is_digit(name[k - 1])) expression += "[0-9]+";
      continue;
    }
    if (std::string_view("^$\\.*+?()[]{}|").find(c) != std::string_view::npos) expression += '\\';
    expression += c;
  }
  return expression + '$';
}

}  // namespace

LayerChoice::LayerChoice(const std::string& text) : text_(text) {
  if (text.empty()) return;
  if (!is_number_list(text)) {
    pattern_.emplace(text);
    return;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::string_view range = trimmed(part);
    const std::size_t hyphen = std::min(range.find('-'), range.size());
    Range parsed{};
    const bool first = parse_number(trimmed(range.substr(0, hyphen)), parsed.first);
    parsed.last = parsed.first;
    const bool last =
        hyphen == range.size() || parse_number(trimmed(range.substr(hyphen + 1)), parsed.last);
    if (!first || !last || parsed.last < parsed.first || parsed.last < 0)
      throw UsageError(fmt::format("{}: {} is neither a number nor a range such as 4-7",
                                   option_mark("layers"), quoted_text(part)));
    ranges_.push_back(parsed);
  }
}

std::vector<std::size_t> LayerChoice::places(const std::vector<std::string>& names) const {
  std::vector<std::size_t> chosen;
  if (!by_number()) {
    for (std::size_t k = 0; k < names.size(); ++k)
      if (!pattern_ || pattern_->matches(names[k])) chosen.push_back(k);
    if (chosen.empty() && pattern_)
      throw InputError(fmt::format("{}: no layer's name matches {}; the names are {}",
                                   option_mark("layers"), quoted_text(text_),
                                   names_to_choose_from(names)));
    return chosen;
  }
  const std::vector<std::int64_t> numbers = numbers_of(names);
  for (const Range& range : ranges_)
    for (const std::int64_t end : {range.first, range.last})
      if (std::find(numbers.begin(), numbers.end(), end) == numbers.end())
        throw InputError(fmt::format("{}: there is no layer {}: {}", option_mark("layers"), end,
                                     shown_numbers(numbers)));
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
          return range.first <= numbers[k] && numbers[k] <= range.last;
        }))
      chosen.push_back(k);
  return chosen;
}

std::string names_to_choose_from(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), kShown); ++k)
    text += (k == 0 ? "" : ", ") + quoted_text(names[k]);
  if (names.empty()) return "none";
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

std::string layers_for(const std::vector<std::string>& names,
                       const std::vector<std::string>& others) {
  constexpr std::size_t kLongest = 60;
  if (std::all_of(names.begin(), names.end(), [](const auto& name) { return is_number(name); })) {
    std::string numbers = fmt::format("{}", fmt::join(names, ","));
    if (numbers.size() <= kLongest) return numbers;
  }
  std::string expression = expression_for(names.front());
  if (expression.empty() || expression.size() > kLongest) return {};
  const NamePattern pattern(expression);
  const auto matches = [&](const std::string& name) { return pattern.matches(name); };
  const bool fits = std::all_of(names.begin(), names.end(), matches) &&
                    std::none_of(others.begin(), others.end(), matches);
  return fits ? expression : std::string();
}

std::string layers_advice(const std::vector<std::string>& names,
                          const std::vector<std::string>& others, const char* what) {
  const std::string choice = layers_for(names, others);
  return fmt::format("These arrays {}: {}. Select them with {}={}", what,
                     names_to_choose_from(names), option_mark("layers"),
                     choice.empty() ? std::string("REGEX") : fmt::format("'{}'", choice));
}

}  // namespace synergraph
