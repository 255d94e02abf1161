#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "synergraph/train/cpu/sequence_backward.h"
#include "synergraph/train/step.h"

namespace synergraph {

/// Loss and gradient of a batch, its sequences spread over threads. The sequences form a fixed
/// number of groups; a group is summed in order by one thread, and the groups are summed in order,
/// so that the result does not depend on the number of threads.
class BatchGradient {
 public:
  BatchGradient(const ModelConfig& config, int threads);

  /// Loss of the batch; the groups' gradients stay here until sum_groups.
  StepResult compute(const float* parameters, const Sequences& inputs, const Sequences& targets,
                     const Dropout& dropout);
  /// Entries [first, first + count) of the batch's gradient.
  void sum_groups(std::size_t first, std::size_t count, float* gradient) const;

  const ParameterLayout& layout() const { return layout_; }
  int threads() const { return threads_; }

 private:
  void run_group(int group, int worker, const float* parameters, const Sequences& inputs,
                 const Sequences& targets, const Dropout& dropout);

  ModelConfig config_;
  ParameterLayout layout_;
  int threads_;
  int groups_ = 0;                               ///< of the last batch
  int group_size_ = 0;                           ///< sequences of a group, the last perhaps fewer
  AlignedVector<float> transposed_;              ///< the weights, transposed
  std::vector<AlignedVector<float>> gradients_;  ///< one a group
  std::vector<std::unique_ptr<SequenceBackward>> workers_;  ///< one a thread, made when needed
  std::vector<SequenceLoss> losses_;                        ///< one a sequence
};

}  // namespace synergraph
