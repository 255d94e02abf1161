#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/core/float_type.h"
#include "synergraph/gradients/differentiable_metric.h"
#include "synergraph/heads/attention_view.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A caller's buffer for the gradient of one system's attention, (heads, nodes, nodes), from the
/// first token of the system on. float32 or float64.
struct DenseGradient {
  void* data = nullptr;  ///< null: not wanted
  FloatType type = FloatType::kFloat64;
  std::ptrdiff_t head_stride = 0;   ///< bytes from one head to the next
  std::ptrdiff_t query_stride = 0;  ///< keys lie side by side
};

/// Adds low-rank gradients of combined attention to what the attention was combined of. A block of
/// rows at a time: the gradient of combined attention is never in memory as a whole.
class AttentionGradient {
 public:
  /// Adds w_h G to the buffer of head h, if there is one, and collects <G, A_h> for the weights, if
  /// they are wanted. Entries above the diagonal stay as they are.
  AttentionGradient(const CombinedRows& attention, const DenseGradient& dense, bool weights);
  void add(const LowRankGradient& gradient);

  /// The gradient of the weights as they were given, before their division by their sum.
  std::vector<double> weights() const;

 private:
  const CombinedRows& attention_;
  DenseGradient dense_;
  std::vector<double> inner_;  // <G, A_h>; empty: not wanted
};

/// The same for attention made from queries and keys: the softmax's backward pass in tiles, with
/// the factors of the gradient in the role of values and their gradients. Keeps the gradients of
/// queries and keys in double precision, and no matrix of scores.
class QueryKeyGradient {
 public:
  /// `attention` combines `rows`.
  QueryKeyGradient(const CombinedRows& attention, const ScoreRows& rows);
  void add(const LowRankGradient& gradient);

  /// (heads, nodes, width) and (key heads, nodes, width).
  const std::vector<double>& queries() const { return queries_; }
  const std::vector<double>& keys() const { return keys_; }
  std::vector<double> weights() const;

 private:
  const CombinedRows& attention_;
  const ScoreRows& rows_;
  std::vector<double> queries_;
  std::vector<double> keys_;
  std::vector<double> inner_;
};

}  // namespace synergraph
#pragma GCC visibility pop
