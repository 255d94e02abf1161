#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// A set of heads: bit h is set if head h is in the set.
using Subset = std::uint32_t;

/// The largest number of heads for which tables hold a value for every subset.
inline constexpr int kMaxExactHeads = 20;

/// The set of all `heads` heads.
constexpr Subset all_heads(int heads) {
  return (Subset{1} << heads) - 1;
}

/// The heads in a subset, in rising order.
std::vector<int> heads_in(Subset subset);

/// All sets of `size` of `heads` heads, in lexicographic order: {0, 1}, {0, 2}, ..., {1, 2}, ...
std::vector<Subset> subsets_of_size(int heads, int size);
/// The positions of {i, j}, i < j, and of {i, j, k}, i < j < k, in the list of subsets_of_size().
constexpr std::size_t pair_index(int heads, int i, int j) {
  return static_cast<std::size_t>(i * (2 * heads - i - 1) / 2 + j - i - 1);
}
constexpr std::size_t triple_index(int heads, int i, int j, int k) {
  const auto triples = [](int n) { return static_cast<std::size_t>(n * (n - 1) * (n - 2) / 6); };
  return triples(heads) - triples(heads - i) + pair_index(heads - i - 1, j - i - 1, k - i - 1);
}

/// Returns the number of heads H of a table of values; entry S is the value of subset S (theory:
/// "Subsets of heads"). Throws InputError unless the table has 2^H entries, 1 <= H <=
/// kMaxExactHeads, and all entries are finite.
int heads_of_table(std::span<const double> values);

}  // namespace synergraph
#pragma GCC visibility pop
