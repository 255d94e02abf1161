#include "synergraph/train/promotion.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

std::string known_names() {
  std::string names;
  for (const std::string& name : all_names<PromotedMetric>())
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

Promotion parse_promotion(const std::vector<std::string>& texts) {
  Promotion promotion;
  std::array<bool, kPromotedMetrics> seen = {};
  for (const std::string& text : texts) {
    const std::string mark = option_mark("promote");
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos)
      throw UsageError(fmt::format("{}: expected NAME=STRENGTH, such as fidelity=0.1, got {}", mark,
                                   quoted_text(text)));
    const std::string name = text.substr(0, sign);
    const auto metric = parse_name<PromotedMetric>(name);
    if (!metric)
      throw UsageError(fmt::format("{}: unknown metric {}, expected one of {}", mark,
                                   quoted_text(name), known_names()));
    const auto at = static_cast<std::size_t>(*metric);
    if (seen[at])
      throw UsageError(fmt::format("{}: {} is given twice; give one strength", mark, name));
    seen[at] = true;
    double& strength = promotion.strengths[at];
    const bool good = parse_number(std::string_view(text).substr(sign + 1), strength);
    if (!good || !(std::abs(strength) <= kLargestStrength))
      throw UsageError(fmt::format(
          "{}: the strength of {} is {}, expected a number from {:g} to "
          "{:g}",
          mark, name, quoted_text(text.substr(sign + 1)), -kLargestStrength, kLargestStrength));
    if (strength == 0.0) strength = 0.0;  // not -0
  }
  return promotion;
}

std::vector<std::string> texts_of(const Promotion& promotion) {
  std::vector<std::string> texts;
  for (const auto& [metric, name] : kNamesOf<PromotedMetric>)
    if (promotion[metric] != 0.0) texts.push_back(fmt::format("{}={}", name, promotion[metric]));
  return texts;
}

void PromotedSums::add(const PromotedSums& other) {
  for (std::size_t k = 0; k < kPromotedMetrics; ++k) {
    sums[k] += other.sums[k];
    counts[k] += other.counts[k];
  }
}

double PromotedSums::mean(PromotedMetric metric) const {
  const auto at = static_cast<std::size_t>(metric);
  if (counts[at] == 0) return std::numeric_limits<double>::quiet_NaN();
  return sums[at] / static_cast<double>(counts[at]);
}

}  // namespace synergraph
