#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace synergraph {

/// A number for a JSON document. JSON has neither infinity nor NaN: both are null
/// (docs/formats.md).
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace synergraph
