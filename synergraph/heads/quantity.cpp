#include "synergraph/heads/quantity.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "synergraph/core/parse_number.h"

namespace synergraph {
namespace {

/// A kind: its key, and where its value stands. That of T_mix depends on eps.
struct Row {
  std::string_view key;
  bool time = false;
  double (*of_walk)(const WalkSummary&) = nullptr;
  double (*of_system)(const Metrics&) = nullptr;
  double (*of_layer)(const HeadsMetrics&) = nullptr;
};

using W = WalkSummary;
using M = Metrics;
using H = HeadsMetrics;

/// In the order of Quantity::Kind.
constexpr std::array<Row, Quantity::kEffectiveForwardProbability + 1> kRows = {{
    {.key = "forward_probability", .of_system = [](const M& m) { return m.forward_probability; }},
    {.key = "truncated_hitting_mean",
     .time = true,
     .of_walk = [](const W& w) { return w.truncated.mean; }},
    {.key = "truncated_hitting_max",
     .time = true,
     .of_walk = [](const W& w) { return w.truncated.max; }},
    {.key = "hitting_mean", .time = true, .of_walk = [](const W& w) { return w.hitting.mean; }},
    {.key = "hitting_max", .time = true, .of_walk = [](const W& w) { return w.hitting.max; }},
    {.key = "mixing_time_", .time = true},
    {.key = "minimax_fidelity", .of_system = [](const M& m) { return m.fidelity.minimax; }},
    {.key = "minimax_fidelity_upper",
     .of_system = [](const M& m) { return m.fidelity.minimax_upper; }},
    {.key = "minimax_time",
     .time = true,
     .of_system = [](const M& m) { return m.fidelity.minimax_time; }},
    {.key = "best_head_fidelity",
     .of_layer = [](const H& h) { return h.synergy.best_head_fidelity; }},
    {.key = "synergy", .of_layer = [](const H& h) { return h.synergy.value; }},
    {.key = "mixing_synergy", .of_layer = [](const H& h) { return h.mixing_synergy; }},
    {.key = "cross_head_share", .of_layer = [](const H& h) { return h.cross_head_share; }},
    {.key = "effective_forward_probability",
     .of_layer = [](const H& h) { return h.effective_forward_probability; }},
}};

const Row& row_of(const Quantity& quantity) {
  return kRows[quantity.kind];
}

}  // namespace

bool Quantity::of_system() const {
  return row_of(*this).of_layer == nullptr;
}

bool Quantity::is_time() const {
  return row_of(*this).time;
}

std::string key_of(const Quantity& quantity) {
  std::string key(row_of(quantity).key);
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

std::vector<Quantity> layer_quantities(const std::vector<double>& eps) {
  std::vector<Quantity> quantities;
  for (std::size_t k = 0; k < kRows.size(); ++k) {
    const auto kind = static_cast<Quantity::Kind>(k);
    if (kind == Quantity::kMixingTime)
      std::transform(eps.begin(), eps.end(), std::back_inserter(quantities), Quantity::mixing_time);
    else
      quantities.emplace_back(kind);
  }
  return quantities;
}

std::vector<Quantity> system_quantities(const std::vector<double>& eps) {
  std::vector<Quantity> quantities = layer_quantities(eps);
  std::erase_if(quantities, [](const Quantity& quantity) { return !quantity.of_system(); });
  return quantities;
}

double value_of(const Quantity& quantity, const Metrics& metrics, const std::vector<double>& eps) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Row& row = row_of(quantity);
  if (row.of_system != nullptr) return row.of_system(metrics);
  if (std::isnan(metrics.forward_probability)) return kNan;
  if (row.of_walk != nullptr) return row.of_walk(metrics.walk);
  const auto found = std::find(eps.begin(), eps.end(), quantity.eps);
  return found == eps.end() ? kNan
                            : metrics.walk.mixing[static_cast<std::size_t>(found - eps.begin())];
}

double value_of(const Quantity& quantity, const HeadsMetrics& metrics,
                const std::vector<double>& eps) {
  const Row& row = row_of(quantity);
  return row.of_layer != nullptr ? row.of_layer(metrics)
                                 : value_of(quantity, metrics.combined, eps);
}

}  // namespace synergraph
