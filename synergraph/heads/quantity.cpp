#include "synergraph/heads/quantity.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

constexpr std::string_view kEps = "EPS";

/// The text with another in the place of a word, where it stands.
std::string filled(std::string text, std::string_view word, const std::string& with) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), with);
}

std::string filled(std::string_view text, const Quantity& quantity) {
  return filled(std::string(text), kEps, fmt::format("{}", quantity.eps));
}

template <class Wanted>
std::vector<Quantity> quantities(const std::vector<double>& eps, const Wanted& wanted) {
  std::vector<Quantity> list;
  for (std::size_t k = 0; kQuantityRows[k].summarised; ++k) {
    const Quantity quantity(static_cast<Quantity::Kind>(k));
    if (!wanted(quantity)) continue;
    if (quantity.kind == Quantity::kMixingTime)
      for (const double value : eps) list.push_back(Quantity::mixing_time(value));
    else
      list.push_back(quantity);
  }
  return list;
}

}  // namespace

std::string key_of(const Quantity& quantity) {
  return filled(quantity.row().key, quantity);
}

std::optional<Quantity> parse_quantity(std::string_view key) {
  constexpr std::string_view kMixing = kQuantityRows[Quantity::kMixingTime].key;
  constexpr std::string_view kBeforeEps = kMixing.substr(0, kMixing.size() - kEps.size());
  if (double eps = 0.0;
      key.starts_with(kBeforeEps) && parse_number(key.substr(kBeforeEps.size()), eps))
    return Quantity::mixing_time(eps);
  for (std::size_t k = 0; kQuantityRows[k].summarised; ++k)
    if (k != Quantity::kMixingTime && key == kQuantityRows[k].key)
      return static_cast<Quantity::Kind>(k);
  return std::nullopt;
}

std::string heading_of(const Quantity& quantity, std::int64_t cutoff) {
  return filled(filled(quantity.row().heading, quantity), "CUTOFF", fmt::format("{}", cutoff));
}

std::vector<Quantity> system_quantities(const std::vector<double>& eps) {
  return quantities(eps, [](const Quantity& quantity) { return quantity.of_system(); });
}

std::vector<Quantity> layer_quantities(const std::vector<double>& eps) {
  return quantities(eps, [](const Quantity&) { return true; });
}

std::vector<Quantity> comparing_quantities(bool head_walks) {
  return quantities({}, [&](const Quantity& quantity) {
    return !quantity.of_system() && (head_walks || !quantity.row().of_walk);
  });
}

double value_of(const Quantity& quantity, const Metrics& metrics, const std::vector<double>& eps) {
  const QuantityRow& row = quantity.row();
  if (!quantity.of_system() || (row.of_walk && std::isnan(metrics.forward_probability)))
    return kNan;
  if (row.of_system != nullptr) return row.of_system(metrics);
  if (row.in_system != nullptr) return metrics.*row.in_system;
  const auto found = std::find(eps.begin(), eps.end(), quantity.eps);
  return found == eps.end() ? kNan
                            : metrics.walk.mixing[static_cast<std::size_t>(found - eps.begin())];
}

double value_of(const Quantity& quantity, const HeadsMetrics& metrics,
                const std::vector<double>& eps) {
  if (quantity.of_system()) return value_of(quantity, metrics.combined, eps);
  const QuantityRow& row = quantity.row();
  return row.in_layer != nullptr ? metrics.*row.in_layer : row.of_layer(metrics);
}

}  // namespace synergraph
