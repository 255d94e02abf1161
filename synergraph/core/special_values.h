#pragma once

#include <limits>

namespace synergraph {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A value that is not known or not defined.
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace synergraph
