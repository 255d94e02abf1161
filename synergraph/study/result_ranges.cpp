#include "synergraph/study/result_ranges.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

/// By which sums may miss a range: relative, or absolute near 0.
constexpr double kRounding = 1e-9;

void require(bool possible, std::string_view what, double value) {
  if (!possible) throw InputError(fmt::format("{} is {}", what, value));
}

bool at_most(double value, double most) {
  return value <= most + kRounding * std::fmax(1.0, std::abs(most));
}

bool is_in(double value, double least, double most) {
  return at_most(value, most) && at_most(-value, -least);
}

/// The largest finite value of a quantity.
double most_of(const Quantity& quantity, const Cell& cell) {
  if (quantity.is_share()) return 1.0;
  const bool truncated = quantity.kind == Quantity::kTruncatedHittingMean ||
                         quantity.kind == Quantity::kTruncatedHittingMax;
  return truncated ? static_cast<double>(cell.measure.cutoff) : std::numeric_limits<double>::max();
}

void check_counts(const std::string& key, const Summary& summary, bool finite_only,
                  const Cell& cell) {
  const auto samples = static_cast<std::size_t>(cell.measure.samples);
  if (summary.samples != samples)
    throw InputError(fmt::format("{} of {} samples, not {}", key, summary.samples, samples));
  if (summary.never > samples || summary.undefined > samples - summary.never ||
      (finite_only && summary.never > 0))
    throw InputError(fmt::format("{} is infinite in {} and undefined in {} of {} samples", key,
                                 summary.never, summary.undefined, samples));
}

}  // namespace

void check_loss(double loss) {
  require(loss >= 0.0 || std::isnan(loss), "the loss", loss);
}

void check_accuracy(double accuracy) {
  require(accuracy >= 0.0 && accuracy <= 1.0, "the accuracy", accuracy);
}

void check_summary(const Quantity& quantity, const Summary& summary, const Cell& cell) {
  const std::string key = key_of(quantity);
  const double most = most_of(quantity, cell);
  const bool bounded = most < std::numeric_limits<double>::max();
  check_counts(key, summary, bounded, cell);
  const std::size_t defined = summary.samples - summary.undefined;
  const std::size_t finite = defined - summary.never;
  const std::array rising = {summary.min, summary.quantile_10, summary.median, summary.quantile_90,
                             summary.max};
  if (defined == 0) {
    for (const double value : rising) require(std::isnan(value), key, value);
    require(std::isnan(summary.mean), key, summary.mean);
    require(std::isnan(summary.std), key, summary.std);
    return;
  }
  for (std::size_t k = 0; k < rising.size(); ++k) {
    const bool infinite = std::isinf(rising[k]) && rising[k] > 0.0 && summary.never > 0;
    require(infinite || is_in(rising[k], 0.0, most), key, rising[k]);
    if (k > 0) require(at_most(rising[k - 1], rising[k]), key, rising[k - 1]);
  }
  require(std::isinf(summary.max) == (summary.never > 0), key, summary.max);
  require(std::isinf(summary.min) == (finite == 0), key, summary.min);
  if (finite == 0) {
    require(std::isinf(summary.mean), key, summary.mean);
    require(std::isnan(summary.std), key, summary.std);
    return;
  }
  require(std::isfinite(summary.mean) && is_in(summary.mean, summary.min, summary.max), key,
          summary.mean);
  // Values that are not negative: of n of them none exceeds n times the mean, and the deviation is
  // largest where all but one are 0.
  const auto count = static_cast<double>(finite);
  if (summary.never == 0) require(at_most(summary.max, count * summary.mean), key, summary.max);
  require(std::isfinite(summary.std) && summary.std >= 0.0 &&
              at_most(summary.std, summary.mean * std::sqrt(count - 1.0)),
          key, summary.std);
}

void check_layer(const LayerSummary& layer, const Cell& cell) {
  const std::int64_t samples = cell.measure.samples;
  if (layer.with_synergy < 0 || layer.with_synergy > samples || layer.synergy_undecided < 0 ||
      layer.synergy_undecided > samples - layer.with_synergy)
    throw InputError(fmt::format("{} samples with synergy and {} undecided, of {}",
                                 layer.with_synergy, layer.synergy_undecided, samples));
  require(std::isnan(layer.rank_correlation) || is_in(layer.rank_correlation, -1.0, 1.0),
          "the rank correlation", layer.rank_correlation);
}

void check_subset_number(SubsetNumber which, double value, const Cell& cell) {
  using enum SubsetNumber;
  const int heads = cell.train.model.heads;
  bool possible = std::isfinite(value);
  if (which >= kBestSize) {
    const int most = which >= kRedundantPairs ? heads * (heads - 1) / 2 : heads;
    possible = value >= 0.0 && value <= most && value == std::floor(value);
  } else if (which == kLargestShare) {
    possible = !std::isinf(value);
  } else if (which == kBound) {  // which may be loose
    possible = possible && at_most(-value, 0.0);
  } else {
    possible = possible && is_in(value, 0.0, 1.0);
  }
  require(possible, name_of(which), value);
}

}  // namespace synergraph
