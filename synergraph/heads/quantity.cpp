#include "synergraph/heads/quantity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

/// What values can be. All are at least 0.
enum class Range {
  kShare,  ///< at most 1
  kTime,   ///< or infinite: never
  kRatio,  ///< or infinite: of something to nothing
};

/// A kind: its key, its range, and where its value stands. That of T_mix depends on eps.
struct Row {
  std::string_view key;
  Range range = Range::kRatio;
  double (*of_system)(const Metrics&) = nullptr;
  double (*of_layer)(const HeadsMetrics&) = nullptr;
};

using M = Metrics;
using H = HeadsMetrics;

/// In the order of Quantity::Kind.
constexpr std::array<Row, Quantity::kEffectiveForwardProbability + 1> kRows = {{
    {"forward_probability", Range::kShare, [](const M& m) { return m.forward_probability; }},
    {"truncated_hitting_mean", Range::kTime, [](const M& m) { return m.walk.truncated.mean; }},
    {"truncated_hitting_max", Range::kTime, [](const M& m) { return m.walk.truncated.max; }},
    {"hitting_mean", Range::kTime, [](const M& m) { return m.walk.hitting.mean; }},
    {"hitting_max", Range::kTime, [](const M& m) { return m.walk.hitting.max; }},
    {"mixing_time_", Range::kTime},
    {"minimax_fidelity", Range::kShare, [](const M& m) { return m.fidelity.minimax; }},
    {"minimax_fidelity_upper", Range::kShare, [](const M& m) { return m.fidelity.minimax_upper; }},
    {"minimax_time", Range::kTime, [](const M& m) { return m.fidelity.minimax_time; }},
    {"best_head_fidelity", Range::kShare, nullptr,
     [](const H& h) { return h.synergy.best_head_fidelity; }},
    {"synergy", Range::kRatio, nullptr, [](const H& h) { return h.synergy.value; }},
    {"mixing_synergy", Range::kRatio, nullptr, [](const H& h) { return h.mixing_synergy; }},
    {"cross_head_share", Range::kShare, nullptr, [](const H& h) { return h.cross_head_share; }},
    {"effective_forward_probability", Range::kShare, nullptr,
     [](const H& h) { return h.effective_forward_probability; }},
}};

/// The quantities up to a kind.
std::vector<Quantity> quantities(Quantity::Kind last, const std::vector<double>& eps) {
  std::vector<Quantity> list;
  for (int k = 0; k <= last; ++k)
    if (k == Quantity::kMixingTime)
      for (const double value : eps) list.push_back(Quantity::mixing_time(value));
    else
      list.emplace_back(static_cast<Quantity::Kind>(k));
  return list;
}

}  // namespace

bool Quantity::is_time() const {
  return kRows[kind].range == Range::kTime;
}

bool Quantity::is_share() const {
  return kRows[kind].range == Range::kShare;
}

std::string key_of(const Quantity& quantity) {
  std::string key(kRows[quantity.kind].key);
  if (quantity.kind == Quantity::kMixingTime) key += fmt::format("{}", quantity.eps);
  return key;
}

std::optional<Quantity> parse_quantity(std::string_view key) {
  for (std::size_t k = 0; k < kRows.size(); ++k) {
    Quantity quantity(static_cast<Quantity::Kind>(k));
    const std::string_view known = kRows[k].key;
    if (quantity.kind == Quantity::kMixingTime
            ? key.starts_with(known) && parse_number(key.substr(known.size()), quantity.eps)
            : key == known)
      return quantity;
  }
  return std::nullopt;
}

std::vector<Quantity> system_quantities(const std::vector<double>& eps) {
  return quantities(Quantity::kMinimaxTime, eps);
}

std::vector<Quantity> layer_quantities(const std::vector<double>& eps) {
  return quantities(Quantity::kEffectiveForwardProbability, eps);
}

double value_of(const Quantity& quantity, const Metrics& metrics, const std::vector<double>& eps) {
  const bool of_walk = quantity.kind <= Quantity::kMixingTime;
  if (!quantity.of_system() || (of_walk && std::isnan(metrics.forward_probability))) return kNan;
  if (const Row& row = kRows[quantity.kind]; row.of_system != nullptr)
    return row.of_system(metrics);
  const auto found = std::find(eps.begin(), eps.end(), quantity.eps);
  return found == eps.end() ? kNan
                            : metrics.walk.mixing[static_cast<std::size_t>(found - eps.begin())];
}

double value_of(const Quantity& quantity, const HeadsMetrics& metrics,
                const std::vector<double>& eps) {
  return quantity.of_system() ? value_of(quantity, metrics.combined, eps)
                              : kRows[quantity.kind].of_layer(metrics);
}

}  // namespace synergraph
