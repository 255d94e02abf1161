#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// A number with so many decimals; never "-0.00".
std::string fixed(double value, int decimals);

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

}  // namespace synergraph
#pragma GCC visibility pop
