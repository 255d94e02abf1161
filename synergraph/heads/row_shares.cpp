#include "synergraph/heads/row_shares.h"

#include <algorithm>
#include <numeric>

#include "synergraph/core/array_math.h"

namespace synergraph {

Matrix weights_by_row(const RowShares* shares, std::span<const int> heads,
                      std::span<const double> weights) {
  if (shares == nullptr) return {};
  const int nodes = shares->heads.cols();
  Matrix rows(static_cast<int>(heads.size()), nodes);
  std::vector<double> sums(static_cast<std::size_t>(nodes), 0.0);
  for (std::size_t k = 0; k < heads.size(); ++k)
    for (int i = 0; i < nodes; ++i)
      sums[static_cast<std::size_t>(i)] += rows(static_cast<int>(k), i) =
          weights[k] * shares->heads(heads[k], i);
  const double own = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (int i = 0; i < nodes; ++i) {
    const double sum = sums[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < heads.size(); ++k) {
      double& weight = rows(static_cast<int>(k), i);
      weight = sum > 0.0 ? weight / sum : weights[k] / own;
    }
  }
  return rows;
}

Matrix weights_by_row(const RowShares* shares, std::span<const double> weights) {
  std::vector<int> all(weights.size());
  std::iota(all.begin(), all.end(), 0);
  return weights_by_row(shares, all, weights);
}

std::vector<double> mean_over_rows(const Matrix& weights) {
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(weights.rows()));
  for (int h = 0; h < weights.rows(); ++h)
    means.push_back(total(weights.row(h), weights.cols()) / weights.cols());
  return means;
}

Matrix scaled_rows(ConstMatrixView lower, const double* weights) {
  Matrix scaled(lower.rows, lower.cols);
  for (int i = 0; i < lower.rows; ++i)
    std::transform(lower.row(i), lower.row(i) + i + 1, scaled.row(i),
                   [&](double entry) { return weights[i] * entry; });
  return scaled;
}

}  // namespace synergraph
