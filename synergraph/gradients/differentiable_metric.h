#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/gradients/attention_rows.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A gradient with respect to combined attention D that is never formed: the derivative towards
/// D(i, k), k <= i, is sum_s left(i, s) right(k, s) for the first left.rows nodes, 0 for later
/// ones.
struct LowRankGradient {
  ConstMatrixView left;
  ConstMatrixView right;
  /// The derivatives towards D(i, i), where the products would cancel; empty: the products.
  std::span<const double> diagonal = {};

  int nodes() const { return left.rows; }
  int rank() const { return left.cols; }
};

/// The sinks of a metric: the last token, or several positions, each the last token of a shorter
/// graph; negative positions count from the end. A metric of several sinks is the mean over these
/// graphs.
struct Sinks {
  std::vector<int> positions = {};  ///< empty: the last token, or all tokens
  bool all = false;

  /// The positions, rising. InputError where one of them is not a token.
  std::vector<int> of(int nodes) const;
};

/// Numbers of attention with their derivatives (theory: "Gradients").
class DifferentiableMetric {
 public:
  virtual ~DifferentiableMetric() = default;
  DifferentiableMetric() = default;
  DifferentiableMetric(const DifferentiableMetric&) = delete;
  DifferentiableMetric& operator=(const DifferentiableMetric&) = delete;

  const std::vector<double>& values() const { return values_; }

  /// Takes the gradient of one layer; the views live during the call.
  using Take = std::function<void(int layer, const LowRankGradient& gradient)>;

  /// Passes the gradient of sum_k upstream[k] values()[k] to `take`, as a sum of terms. `layers`
  /// are what the values were computed from: one layer, but for stack fidelity. InputError where
  /// a value with an upstream other than 0 is infinite.
  virtual void pull_back(std::span<const CombinedRows> layers, std::span<const double> upstream,
                         const Take& take) const = 0;

 protected:
  std::vector<double> values_;
};

}  // namespace synergraph
#pragma GCC visibility pop
