#pragma once

#include <span>
#include <vector>

#include "synergraph/core/matrix.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What the heads of a system move in each row (theory: "What a head moves").
struct RowShares {
  /// (heads, nodes): w_h(i), head h's share of what all heads move to token i. They sum to 1 over
  /// the heads, or are all 0 where no head moves anything.
  Matrix heads;
  /// a(i): the share of what token i becomes that bypasses the heads; empty: not measured. It is 1
  /// where nothing is moved.
  std::vector<double> residual = {};
  /// 1 - a(i) without cancellation, where far less is moved than stays; empty: from `residual`.
  std::vector<double> moved = {};
};

/// The weights of some heads in every row, (heads, nodes), convex over the heads: w_h(i) times the
/// head's own weight, divided by their sum. In a row in which these heads move nothing their own
/// weights alone count: each of them is the identity there, so that the token keeps what it gets.
/// Empty without shares.
Matrix weights_by_row(const RowShares* shares, std::span<const int> heads,
                      std::span<const double> weights);

/// The same for all heads.
Matrix weights_by_row(const RowShares* shares, std::span<const double> weights);

/// The mean over rows of these weights.
std::vector<double> mean_over_rows(const Matrix& weights);

/// diag(weights) * lower, of a lower triangular matrix.
Matrix scaled_rows(ConstMatrixView lower, const double* weights);

}  // namespace synergraph
#pragma GCC visibility pop
