#include "synergraph/core/token_choice.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

constexpr const char* kExpected =
    "expected tokens such as 5, -2, 0,3,9, 0-7, ::4 or 2:10; negative numbers count from the end";
constexpr std::int64_t kMostTokens = 1000000000;

/// A number that is in the range of tokens; nothing for any other text.
std::optional<std::int64_t> token_of(std::string_view text) {
  std::int64_t token = 0;
  const bool good = parse_number(text, token) && token >= -kMostTokens && token <= kMostTokens;
  return good ? std::optional(token) : std::nullopt;
}

}  // namespace

TokenChoice::TokenChoice(std::string_view text, std::string_view option) : text_(text) {
  const auto refuse = [&] {
    throw UsageError(fmt::format("{}: {}; {}", option, quoted_text(text), kExpected));
  };
  for (const std::string_view part : split(text, ',')) {
    Part& chosen = parts_.emplace_back();
    const std::vector<std::string_view> ends = split(part, ':');
    if (ends.size() > 3) refuse();
    if (ends.size() > 1) {
      const auto read = [&](std::size_t k, std::optional<std::int64_t>& into) {
        if (k < ends.size() && !ends[k].empty() && !(into = token_of(ends[k]))) refuse();
      };
      std::optional<std::int64_t> step;
      read(0, chosen.begin);
      read(1, chosen.end);
      read(2, step);
      chosen.step = step.value_or(1);
      if (chosen.step < 1) refuse();
      continue;
    }
    chosen.named = true;
    const std::size_t hyphen = part.find('-', 1);
    chosen.begin = token_of(part.substr(0, hyphen));
    if (!chosen.begin) refuse();
    if (hyphen == part.npos) continue;
    const auto last = token_of(part.substr(hyphen + 1));
    if (!last || *last < 0 || *chosen.begin < 0 || *last < *chosen.begin) refuse();
    chosen.end = *last + 1;
  }
}

std::string TokenChoice::described() const {
  return (single() ? "token " : "tokens ") + text_;
}

std::optional<std::int64_t> TokenChoice::single() const {
  if (parts_.size() != 1 || !parts_.front().named || parts_.front().end) return std::nullopt;
  return parts_.front().begin;
}

std::vector<int> TokenChoice::places(int tokens, std::string_view option) const {
  std::vector<int> chosen;
  const auto from_start = [&](std::int64_t token) { return token < 0 ? token + tokens : token; };
  const auto require = [&](std::int64_t token) {
    if (from_start(token) < 0 || from_start(token) >= tokens)
      throw InputError(tokens == 0
                           ? fmt::format("{}: token {} is not there: no token is", option, token)
                           : fmt::format("{}: token {} is not there; the tokens are 0 to {}",
                                         option, token, tokens - 1));
    return from_start(token);
  };
  for (const Part& part : parts_) {
    std::int64_t begin = 0;
    std::int64_t end = tokens;
    if (part.named) {
      begin = require(*part.begin);
      end = part.end ? require(*part.end - 1) + 1 : begin + 1;
    } else {
      begin = std::max<std::int64_t>(0, from_start(part.begin.value_or(0)));
      end = std::min<std::int64_t>(tokens, part.end ? from_start(*part.end) : tokens);
    }
    for (std::int64_t token = begin; token < end; token += part.step)
      chosen.push_back(static_cast<int>(token));
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  if (chosen.empty())
    throw InputError(
        fmt::format("{}: {} chooses none of {} tokens", option, quoted_text(text_), tokens));
  return chosen;
}

}  // namespace synergraph
