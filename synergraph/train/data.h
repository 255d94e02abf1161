#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/model/config.h"
#include "synergraph/model/tasks.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a model is trained on and judged by.
struct TrainingData {
  Sequences inputs;
  Sequences targets;
  /// Judged after every epoch: fresh sequences of a task, or the user's validation pairs; without
  /// these, the first kJudged of the training pairs.
  Sequences judged_inputs;
  Sequences judged_targets;
  bool held_out = true;  ///< the judged sequences are not trained on
};

/// Sequences that a model is judged by, unless the user gives them.
inline constexpr int kJudged = 100;

/// `count` sequences of a task from `seed`, and kJudged more.
TrainingData task_data(const Task& task, std::uint64_t seed, int count, const ModelConfig& config);

/// The user's own pairs; without `judged` inputs and targets the first kJudged of them are judged.
/// InputError when inputs and targets have different shapes.
struct Pairs {
  Sequences inputs;
  Sequences targets;
};
TrainingData pair_data(Pairs training, std::optional<Pairs> judged = std::nullopt);

/// How many targets of a sequence count, on average. A step's loss is the sum of the
/// cross-entropies of its sequences, divided by this mean of all training sequences and the number
/// of sequences: the mean over all targets that count, wherever they are.
double counted_per_sequence(const Sequences& targets);

/// Two files with one tensor of integers each, (sequences, length). A target may be kIgnored.
struct PairFiles {
  std::string inputs;
  std::string targets;
};

/// The user's own pairs, likewise.
TrainingData file_data(const PairFiles& training,
                       const std::optional<PairFiles>& validation = std::nullopt);

/// One such file; no token is below `least`.
Sequences read_sequences(const std::string& path, std::int32_t least = 0);

/// A number that changes when the training pairs do: 16 hexadecimal digits.
std::string fingerprint(const TrainingData& data);

/// The order in which an epoch (from 0) takes `count` sequences: a uniform permutation.
std::vector<std::int32_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, int count);

/// Those of `all` that `rows` names, in this order.
void gather(const Sequences& all, std::span<const std::int32_t> rows, Sequences& chosen);

}  // namespace synergraph
#pragma GCC visibility pop
