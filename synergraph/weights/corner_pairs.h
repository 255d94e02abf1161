#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace synergraph {

/// Functions of shares b_k >= 0, sum 1, of some corners: sum over k, l of b_k b_l f_kl, which lies
/// between the least and the largest f_kl. Pairs k <= l have the order (0, 0), (0, 1), (1, 1),
/// (0, 2), ...; the entry of a pair with k < l is the mean of f_kl and f_lk.
inline std::size_t pair_index(std::size_t k, std::size_t l) {
  return l * (l + 1) / 2 + k;
}
inline std::size_t pair_count(std::size_t corners) {
  return pair_index(0, corners);
}
inline std::pair<std::size_t, std::size_t> pair_at(std::size_t index) {
  std::size_t l = 0;
  while (pair_count(l + 1) <= index) ++l;
  return {index - pair_index(0, l), l};
}

/// sum_k b_k f_k as such a function.
inline std::vector<double> paired(const std::vector<double>& linear) {
  std::vector<double> pairs;
  for (std::size_t l = 0; l < linear.size(); ++l)
    for (std::size_t k = 0; k <= l; ++k) pairs.push_back(0.5 * (linear[k] + linear[l]));
  return pairs;
}

}  // namespace synergraph
