#pragma once

#include <optional>
#include <span>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/token_choice.h"
#include "synergraph/heads/measure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How a stack of layers is measured (theory: "Through the layers").
struct StackOptions {
  /// a: the share that passes every layer beside its heads, 0 to 1; not used of layers that measure
  /// it, see RowShares.
  double residual = 0.5;
  bool flow = false;  ///< also the maximum flow of every token, see attention_flow()
  /// Of the sources only these tokens count; empty: all of them. See stack_sources().
  TokenChoice from = {};
  /// The node of token 0: 1 behind a node for missing mass.
  int first_token = 0;
  /// Whose signal is followed through the heads; nothing: that of the weakest source that counts.
  std::optional<int> token = {};
  Execution execution =
      {};  ///< asked before every head whether to stop; nothing else of it is used
};

/// The nodes that count for the fidelity, rising: the chosen tokens without the sink, or the sink
/// where nothing else is chosen. InputError where a token is not there.
std::vector<int> stack_sources(const StackOptions& options, int nodes);

/// Where the followed token's signal passes one layer: shares that sum to 1, NaN where it has none.
struct StackLayerPath {
  std::vector<double> heads;  ///< (1-a) w_lh p_l D_lh s_l / r_j
  double residual = 0.0;      ///< a p_l s_l / r_j
};

/// What layers bring to the sink that are applied once each: R_l = a I + (1-a) sum_h w_lh D_lh.
/// Where weights follow from what heads move, a and w_lh depend on the row.
struct Stack {
  std::vector<double> signal;          ///< r_j = (R_L ... R_1)(sink, j); they sum to 1
  double fidelity = 1.0;               ///< min of r_j over stack_sources(); 1 where n = 1
  int weakest = 0;                     ///< the first source that attains it
  double effective_tokens = 1.0;       ///< exp(-sum_j r_j ln r_j)
  int token = 0;                       ///< the one that is followed
  std::vector<StackLayerPath> layers;  ///< its ways, first layer first
  /// The same of all that reaches the sink, from whichever token: sum_i p_l(i) (1-a(i)) w_lh(i).
  /// Where sources are chosen: of all that reaches the sink from these.
  std::vector<StackLayerPath> shares = {};
  bool measured_residual = false;  ///< a is that of RowShares in some layer
  std::vector<double> flow = {};   ///< of every token to the sink, where it is wanted
};

/// A layer's weights: of its heads, where they are the same in every row; otherwise of rows.
struct StackLayerWeights {
  std::vector<double> heads;     ///< w_lh, convex
  Matrix by_row;                 ///< (heads, nodes); empty: `heads` in every row
  std::vector<double> residual;  ///< a(i)
  std::vector<double> moved;     ///< 1 - a(i)
};

/// Measures layers, first to last: one head in memory at a time, each read twice. Weights, one list
/// a layer, are normalised. Layers may differ in heads. InputError where there is no layer, head or
/// node, nodes or weights do not fit, and for a residual share or a token that cannot be.
Stack measure_stack(std::span<HeadSource* const> layers,
                    std::span<const std::vector<double>> weights, const StackOptions& options = {});

/// The same for layers that can only be visited in order, first to last, and twice: add() each,
/// then follow() each. In between one matrix a layer is kept, all its heads together.
class StackMeasurement {
 public:
  explicit StackMeasurement(StackOptions options = {});

  void add(HeadSource& layer, const std::vector<double>& weights);
  void follow(HeadSource& layer);

  /// The result; Stack::layers and shares have those that were followed.
  Stack take();

 private:
  void finish_adding();

  StackOptions options_;
  std::vector<StackLayerWeights> weights_;
  std::vector<Matrix> combined_;              // D_l, until all are added
  std::vector<std::vector<double>> rows_;     // p_0 .. p_L, then
  std::vector<std::vector<double>> columns_;  // s_l of the layer to be followed next
  Stack stack_;
};

}  // namespace synergraph
#pragma GCC visibility pop
