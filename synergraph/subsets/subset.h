#pragma once

#include <cstddef>
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

/// All sets of `size` of `heads` heads, in lexicographic order: {0, 1}, {0, 2}, ..., {1, 2}, ...
std::vector<Subset> subsets_of_size(int heads, int size);
/// The places there of {i, j}, i < j, and of {i, j, k}, i < j < k.
constexpr std::size_t pair_index(int heads, int i, int j) {
  return static_cast<std::size_t>(i * (2 * heads - i - 1) / 2 + j - i - 1);
}
constexpr std::size_t triple_index(int heads, int i, int j, int k) {
  const auto triples = [](int n) { return static_cast<std::size_t>(n * (n - 1) * (n - 2) / 6); };
  return triples(heads) - triples(heads - i) + pair_index(heads - i - 1, j - i - 1, k - i - 1);
}

/// The number of heads H of a table of values, entry S being the value of subset S (theory:
/// "Subsets of heads"). InputError unless it has 2^H entries, 1 <= H <= kMaxExactHeads, all finite.
int heads_of_table(std::span<const double> values);

}  // namespace synergraph
#pragma GCC visibility pop
