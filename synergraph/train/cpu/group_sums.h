#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "synergraph/train/cpu/sequence_backward.h"

namespace synergraph {

/// The gradients of groups of sequences on their way into one sum, which is in the groups' order
/// whichever is complete first. A complete group is added as soon as those before it are, and its
/// memory serves the next group: with few threads few sums are in memory, and they stay in cache.
class GroupSums {
 public:
  GroupSums(const ModelConfig& config, const ParameterLayout& layout)
      : config_(config), layout_(layout) {}

  /// Forgets what there is. A group's gradient has `table_size` floats for an EmbeddingTable.
  void start(int groups, std::size_t table_size);
  /// Gives a group its memory, with anything in it.
  void open(int group);
  /// The gradient of a group whose opening the caller knows of.
  const GradientSum& operator[](int group) const {
    return buffer_of_[static_cast<std::size_t>(group)]->sum;
  }
  /// Adds a group to the sum, now or when the groups before it are complete.
  void complete(int group);
  /// The sum, once all groups are complete.
  const GradientSum& total() const { return (*this)[0]; }
  /// Its entries in the order of the parameters.
  const float* values() const { return buffer_of_[0]->values.data(); }

 private:
  struct Buffer {
    AlignedVector<float> values;  ///< a gradient of all parameters, then of the table
    GradientSum sum;              ///< a view of these
  };

  ModelConfig config_;
  ParameterLayout layout_;
  std::size_t table_size_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Buffer*> buffer_of_;  ///< of each group; the first group's becomes the sum

  std::mutex mutex_;           ///< guards the buffers' coming and going, and what follows
  std::vector<Buffer*> free_;  ///< buffers that no group uses
  std::vector<char> complete_;
  int added_ = 0;        ///< groups in the sum
  bool adding_ = false;  ///< somebody is about to add all that can be added
};

}  // namespace synergraph
