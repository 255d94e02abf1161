#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/model/config.h"
#include "synergraph/model/tasks.h"

namespace synergraph {

/// What a model is trained on and judged by.
struct TrainingData {
  Sequences inputs;
  Sequences targets;
  /// Judged after every epoch: fresh sequences of a task, or the first of the user's own.
  Sequences held_out_inputs;
  Sequences held_out_targets;
};

/// Sequences in held_out_inputs.
inline constexpr int kHeldOut = 100;

/// `count` sequences of a task from `seed`, and kHeldOut more.
TrainingData task_data(const Task& task, std::uint64_t seed, int count, const ModelConfig& config);

/// The user's own pairs, from two files with one tensor of integers each, (sequences, length).
/// InputError when they have different shapes.
TrainingData file_data(const std::string& inputs_path, const std::string& targets_path);

/// One such file.
Sequences read_sequences(const std::string& path);

/// A number that changes when the training pairs do: 16 hexadecimal digits.
std::string fingerprint(const TrainingData& data);

/// The order in which an epoch (from 0) takes `count` sequences: a uniform permutation.
std::vector<std::int32_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, int count);

/// The rows order[first] .. order[first + count - 1] of `all`.
void gather(const Sequences& all, const std::vector<std::int32_t>& order, int first, int count,
            Sequences& rows);

}  // namespace synergraph
