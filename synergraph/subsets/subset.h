#pragma once

#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// A set of heads: bit h says that head h is in.
using Subset = std::uint32_t;

/// Tables hold a value for every subset of at most so many heads.
inline constexpr int kMaxExactHeads = 20;

/// All of `heads` heads.
constexpr Subset all_heads(int heads) {
  return (Subset{1} << heads) - 1;
}

/// The heads in a subset, rising.
std::vector<int> heads_in(Subset subset);

/// The number of heads H of a table of values, entry S being the value of subset S (theory:
/// "Subsets of heads"). InputError unless it has 2^H entries, 1 <= H <= kMaxExactHeads, all finite.
int heads_of_table(std::span<const double> values);

}  // namespace synergraph
#pragma GCC visibility pop
