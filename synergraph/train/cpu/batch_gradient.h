#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "synergraph/model/tasks.h"
#include "synergraph/train/cpu/group_sums.h"
#include "synergraph/train/cpu/sequence_backward.h"
#include "synergraph/train/state.h"

namespace synergraph {

/// Loss and gradient of a batch, its sequences spread over threads. The sequences form a fixed
/// number of groups; a group is summed in order, and the groups are summed in order, so that the
/// result does not depend on the number of threads. A thread works on a group of its own as long as
/// there is one, then helps with what is left of another's.
class BatchGradient {
 public:
  BatchGradient(const ModelConfig& config, int threads, const Promotion& promotion = {});

  /// Loss of the batch, its sum divided by `positions`; 0: by the number of targets that count. The
  /// gradient that stays here is that of the loss less what is promoted.
  StepResult compute(const float* parameters, const Sequences& inputs, const Sequences& targets,
                     const Dropout& dropout, double positions = 0.0);
  /// The gradient of the last batch, in the order of the parameters.
  const float* gradient() const { return sums_.values(); }

  const ParameterLayout& layout() const { return layout_; }
  int threads() const { return threads_; }

 private:
  /// Gets ready for a batch of `count` sequences.
  void prepare(int count);
  /// Zero where a group's first sequence does not replace what is there.
  void clear(const GradientSum& sum) const;
  /// The sequence that this worker is to do next.
  int claim(int worker);

  ModelConfig config_;
  ParameterLayout layout_;
  int threads_;
  Promotion promotion_;
  int groups_ = 0;                       ///< of the last batch
  int group_size_ = 0;                   ///< sequences of a group, the last perhaps fewer
  AlignedVector<float> transposed_;      ///< the weights, transposed
  std::optional<EmbeddingTable> table_;  ///< of the last batch, if it pays
  GroupSums sums_;
  std::vector<std::unique_ptr<SequenceBackward>> workers_;  ///< one a thread, made when needed
  std::vector<SequenceLoss> losses_;                        ///< one a sequence
  std::vector<PromotedSums> promoted_;                      ///< one a sequence
  std::vector<Turn::Progress> progress_;                    ///< one a sequence
  std::mutex claims_mutex_;                                 ///< guards the three below
  std::vector<int> next_;      ///< of each group, the first sequence that nobody has claimed
  std::vector<int> group_of_;  ///< of each worker, the group it is in; -1 before the first
  int started_ = 0;            ///< groups that somebody works on
};

}  // namespace synergraph
