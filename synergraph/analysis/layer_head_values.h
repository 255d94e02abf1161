#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synergraph/analysis/head_weights.h"
#include "synergraph/core/execution.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/statistics/estimate.h"
#include "synergraph/subsets/pruning.h"
#include "synergraph/subsets/sampled_game.h"
#include "synergraph/subsets/subset_options.h"
#include "synergraph/weights/best_weights.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct HeadValueOptions {
  MetricsOptions convention = convention_options(Convention::kExact);
  std::vector<HeadValue> values = {HeadValue::kFidelity, HeadValue::kSpeed};
  double keep = 0.95;  ///< of the value of all heads: what the smallest subset keeps
  /// Layers of more heads than this are sampled; at most kMaxExactHeads.
  int exact_heads = kMaxExactHeads;
  SamplingOptions sampling = {};  ///< of those; every sample draws orders of its own
  /// Best weights are sought for so many samples, the first, or as many as the memory holds; 0: not
  /// sought. Likewise the best subsets of layers that are sampled; where this is 0, for 20.
  int weight_samples = 20;
  /// The heads of so many samples, the first, are also measured with permuted rows. 0: of none, and
  /// there are no HeldOutClaims.
  int null_samples = 100;
  BestWeightsOptions weights = {};  ///< how; the convention is the one above
  Execution execution = {};
  /// The device that measures all subsets of heads, see AnalysisOptions::device.
  std::string device = "cpu";
  bool device_optional = false;
  int worker = 0;
};

/// One head among the heads of its layer, over samples (theory: "Subsets of heads").
struct ValueOfHead {
  Estimate shapley;
  Estimate banzhaf;  ///< NaN where heads were sampled
  Estimate alone;    ///< its value as the only head
  Estimate dropped;  ///< what the layer loses without it; negative: it is better without it
};

/// A pair, or three heads, and their Shapley interaction index: positive where they complement each
/// other, negative where they are redundant.
struct Interaction {
  std::vector<int> heads;
  Estimate index;
};

/// Heads and the mean over samples of their value.
struct HeadSet {
  std::vector<int> heads;
  double value = 0.0;
};

/// How a layer's value falls as heads are taken away, by the mean over samples of every subset's
/// value. [k]: k heads are left.
struct Pruning {
  std::vector<HeadSet> best;    ///< the best of every size
  std::vector<bool> certified;  ///< [k]: no k heads are better; otherwise they are the best found
  int samples = 0;              ///< that the means are over
  PruningPath addition;         ///< greedy
  PruningPath removal;          ///< greedy
  PruningPath shapley;          ///< by falling Shapley value
};

/// What stands out among many candidates: chosen on one half of the samples, judged on the other.
struct HeldOutClaim {
  std::vector<int> heads;  ///< a pair, a head, a subset; empty: weights
  /// On the samples that did not choose it, as a share of the value of all heads: the interaction,
  /// or what the value grows by without the head, for the subset, or with the weights.
  double size = 0.0;
  /// Bound of the chance that heads whose rows are permuted do as well: the claim was compared with
  /// PermutedHeads on every sample. Of one claim; correct it for the number of claims.
  double chance = 1.0;
};

/// Claims about one value of a layer, one of each kind; nothing where no candidate was found.
struct HeldOutClaims {
  int samples = 0;  ///< of both halves; weights: that judged them
  std::optional<HeldOutClaim> redundant;
  std::optional<HeldOutClaim> complementary;
  std::optional<HeldOutClaim> better_without;  ///< one head
  std::optional<HeldOutClaim> better_set;      ///< nothing where heads were sampled
  std::optional<HeldOutClaim> other_weights;   ///< where they were sought
};

/// One value in one layer.
struct ValueOfHeads {
  HeadValue value = HeadValue::kFidelity;
  Estimate all;  ///< of all heads together
  std::vector<ValueOfHead> heads;
  std::vector<Interaction> pairs;    ///< all, in lexicographic order
  std::vector<Interaction> triples;  ///< likewise; empty where heads were sampled
  Pruning pruning;
  HeadSet smallest;  ///< the smallest that keeps the wanted share of `all`
  /// Subsets whose mean value is above that of all heads, and the best of them, if there is one. Of
  /// a layer that is sampled, only those of Pruning::best are counted.
  std::uint64_t beating = 0;
  std::optional<HeadSet> better = {};
  /// No value of a subset is further than this above its number: 0 where all are certified.
  double gap = 0.0;
  std::optional<BestWeights> weights = {};  ///< where they were sought
  int weight_samples = 0;                   ///< on so many samples
  /// Nothing where no null was measured: of a single sample, a single head, or unless asked for.
  std::optional<HeldOutClaims> held_out = {};
};

/// What the heads of a layer add, over its samples.
struct LayerHeadValues {
  bool exact = true;                 ///< from all subsets; false: from sampled orders of the heads
  std::int64_t permutations = 0;     ///< those orders, of all samples
  bool precise = true;               ///< the precision that was wanted of them was reached
  std::vector<ValueOfHeads> values;  ///< in the order of the options
};

/// For every layer of a source.
struct HeadValues {
  std::vector<AttentionLayer> layers;
  LayerWeights weights;
  HeadValueOptions options;
  std::vector<LayerHeadValues> layer_values;
  std::string measured_on = {};  ///< that measured all subsets, see Analysis::measured_on
};

}  // namespace synergraph
#pragma GCC visibility pop
