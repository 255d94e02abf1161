#include "synergraph/subsets/game.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

/// Calls pair(a, b) for all subsets a without a head and b = a with it, head after head.
template <class Pair>
void for_each_head(std::span<double> values, const Pair& pair) {
  const int heads = heads_of_table(values);
  for (int head = 0; head < heads; ++head) {
    const std::size_t half = std::size_t{1} << head;
    for (double* block = values.data(); block != values.data() + values.size(); block += 2 * half)
#pragma omp simd
      for (std::size_t t = 0; t < half; ++t) pair(block[t], block[half + t]);
  }
}

/// The dividend of one head or of two.
double dividend(std::span<const double> values, Subset set) {
  const Subset first = set & (~set + 1);
  const Subset second = set ^ first;
  const double alone = values[first] - values[0];
  return second == 0 ? alone : (values[set] - values[second]) - alone;
}

/// Folds the heads `left` - 1 .. 0 one after the other: a head is in A, and the table becomes the
/// difference of its halves; or it is not, and the halves are added, those with it as sets of one
/// head more. table[s * 2^left + T] is the sum of d_A v(S + T) over sets S of s of the heads folded
/// so far, T of the others. Needs the same memory again behind the table.
template <class Visitor>
void fold(double* table, int left, std::size_t sizes, Subset set, int order, const Visitor& visit) {
  for (; left > 0; --left, ++sizes) {
    const std::size_t half = std::size_t{1} << (left - 1);
    if (std::popcount(set) < order) {
      double* differences = table + 2 * half * sizes;
      for (std::size_t s = 0; s < sizes; ++s) {
        const double* without = table + 2 * half * s;
        double* to = differences + half * s;
#pragma omp simd
        for (std::size_t t = 0; t < half; ++t) to[t] = without[half + t] - without[t];
      }
      fold(differences, left - 1, sizes, set | Subset{1} << (left - 1), order, visit);
    }
    // In place: what is read lies at or behind what is written.
    for (std::size_t s = 1; s < sizes; ++s) {
      const double* with = table + half * (2 * s - 1);
      double* to = table + half * s;
#pragma omp simd
      for (std::size_t t = 0; t < half; ++t) to[t] = with[t] + with[half + t];
    }
    if (sizes > 1) std::copy_n(table + half * (2 * sizes - 1), half, table + half * sizes);
  }
  visit(set, std::span<const double>(table, sizes));
}

/// Calls visit(A, sums) for every set A of at most `order` heads: sums[s] is the sum of d_A v(S)
/// over all S of s heads that are not in A. Weights come after that, for all indices at once.
template <class Visitor>
void fold_table(std::span<const double> values, int order, const Visitor& visit) {
  // Differences do not see a constant. With many heads most values are near that of all, and what
  // is left without it has more digits.
  ScratchVector<double> tables(2 * values.size());
  for (std::size_t subset = 0; subset < values.size(); ++subset)
    tables[subset] = values[subset] - values.back();
  fold(tables.data(), heads_of_table(values), 1, 0, order, visit);
}

/// 1 / C(n, k) for k = 0 .. n.
std::vector<double> inverse_binomials(int n) {
  std::vector<double> inverse;
  double binomial = 1.0;
  for (int k = 0; k <= n; ++k) {
    inverse.push_back(1.0 / binomial);
    binomial = std::round(binomial * (n - k) / (k + 1));
  }
  return inverse;
}

double weighted_sum(std::span<const double> sums, const std::vector<double>& weights) {
  double result = 0.0;
  for (std::size_t s = 0; s < sums.size(); ++s) result += weights[s] * sums[s];
  return result;
}

std::size_t place_of(Subset set, int heads) {
  const std::vector<int> in = heads_in(set);
  if (in.size() == 1) return static_cast<std::size_t>(in[0]);
  return in.size() == 2 ? pair_index(heads, in[0], in[1])
                        : triple_index(heads, in[0], in[1], in[2]);
}

/// The indices of all sets of one size.
struct OrderIndices {
  std::vector<double> shapley, taylor, banzhaf;
};

/// Those of the sizes 1 to `order`.
std::vector<OrderIndices> fold_indices(std::span<const double> values, int order) {
  if (order < 1 || order > kMaxInteractionOrder)
    throw InputError(
        fmt::format("interactions of order {}: expected 1 to {}", order, kMaxInteractionOrder));
  const int heads = heads_of_table(values);
  std::vector<OrderIndices> orders;
  std::vector<std::vector<double>> weights;
  for (int size = 1; size <= order; ++size) {
    const std::vector<double> zeros(subsets_of_size(heads, size).size());
    orders.push_back({zeros, zeros, zeros});
    weights.push_back(inverse_binomials(heads - size));
  }
  fold_table(values, order, [&](Subset set, std::span<const double> sums) {
    if (set == 0) return;
    const int size = std::popcount(set);
    const auto at_order = static_cast<std::size_t>(size - 1);
    const std::size_t place = place_of(set, heads);
    OrderIndices& indices = orders[at_order];
    indices.shapley[place] = weighted_sum(sums, weights[at_order]) / (heads - size + 1);
    indices.taylor[place] = weighted_sum(sums, weights[0]) * size / heads;
    indices.banzhaf[place] =
        std::ldexp(std::accumulate(sums.begin(), sums.end(), 0.0), size - heads);
  });
  return orders;
}

}  // namespace

void moebius_transform(std::span<double> values) {
  for_each_head(values, [](const double& without, double& with) { with -= without; });
}

void inverse_moebius_transform(std::span<double> dividends) {
  for_each_head(dividends, [](const double& without, double& with) { with += without; });
}

GameIndices game_indices(std::span<const double> values, int order) {
  std::vector<OrderIndices> found = fold_indices(values, order);
  found.resize(kMaxInteractionOrder);
  return {.shapley = std::move(found[0].shapley),
          .banzhaf = std::move(found[0].banzhaf),
          .pairs = std::move(found[1].shapley),
          .triples = std::move(found[2].shapley)};
}

std::vector<double> shapley_values(std::span<const double> values) {
  return game_indices(values, 1).shapley;
}

std::vector<double> banzhaf_values(std::span<const double> values) {
  return game_indices(values, 1).banzhaf;
}

std::vector<double> shapley_interactions(std::span<const double> values, int order) {
  return fold_indices(values, order).back().shapley;
}

std::vector<double> shapley_taylor_interactions(std::span<const double> values, int order) {
  const std::vector<double> top = fold_indices(values, order).back().taylor;
  std::vector<double> indices;
  for (int size = 1; size < order; ++size)
    for (const Subset set : subsets_of_size(heads_of_table(values), size))
      indices.push_back(dividend(values, set));
  indices.insert(indices.end(), top.begin(), top.end());
  return indices;
}

}  // namespace synergraph
