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
    Quantity quantity(static_cast<Quantity::Kind>(k));
    if (!wanted(quantity)) continue;
    if (quantity.row().of_eps == nullptr) list.push_back(quantity);
    for (std::size_t e = 0; quantity.row().of_eps != nullptr && e < eps.size(); ++e) {
      quantity.eps = eps[e];
      list.push_back(quantity);
    }
  }
  return list;
}

}  // namespace

std::string key_without_eps(const QuantityRow& row) {
  constexpr std::string_view kEnd = "_EPS";
  std::string_view key = row.key;
  if (key.ends_with(kEnd)) key.remove_suffix(kEnd.size());
  return std::string(key);
}

std::string key_of(const Quantity& quantity) {
  return filled(quantity.row().key, quantity);
}

std::optional<Quantity> parse_quantity(std::string_view key) {
  for (std::size_t k = 0; kQuantityRows[k].summarised; ++k) {
    Quantity quantity(static_cast<Quantity::Kind>(k));
    const std::string_view own = quantity.row().key;
    if (quantity.row().of_eps == nullptr) {
      if (key == own) return quantity;
      continue;
    }
    const std::string_view before = own.substr(0, own.size() - kEps.size());
    if (key.starts_with(before) && parse_number(key.substr(before.size()), quantity.eps))
      return quantity;
  }
  return std::nullopt;
}

std::optional<Quantity> upper_end(const Quantity& quantity) {
  return parse_quantity(std::string(quantity.row().key) + "_upper");
}

std::string heading_of(const Quantity& quantity, std::int64_t cutoff) {
  return filled(filled(quantity.row().heading, quantity), "CUTOFF", fmt::format("{}", cutoff));
}

std::vector<Quantity> system_quantities(const std::vector<double>& eps, bool backward) {
  return quantities(eps, [&](const Quantity& quantity) {
    return quantity.of_system() && (backward || !quantity.row().backward);
  });
}

std::vector<Quantity> layer_quantities(const std::vector<double>& eps, bool backward) {
  return quantities(eps,
                    [&](const Quantity& quantity) { return backward || !quantity.row().backward; });
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
  const std::vector<double>& times = row.of_eps(metrics);
  const auto found =
      static_cast<std::size_t>(std::find(eps.begin(), eps.end(), quantity.eps) - eps.begin());
  return found < times.size() ? times[found] : kNan;
}

double value_of(const Quantity& quantity, const HeadsMetrics& metrics,
                const std::vector<double>& eps) {
  if (quantity.of_system()) return value_of(quantity, metrics.combined, eps);
  const QuantityRow& row = quantity.row();
  return row.in_layer != nullptr ? metrics.*row.in_layer : row.of_layer(metrics);
}

}  // namespace synergraph
