#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

class RandomSequence;

/// Token sequences of one length, one after another: entry (s, i) is tokens[s * length + i].
struct Sequences {
  int count = 0;
  int length = 0;
  std::vector<std::int32_t> tokens;

  const std::int32_t* row(int s) const {
    return tokens.data() + static_cast<std::ptrdiff_t>(s) * length;
  }
};

/// The target of a position that counts neither for the loss nor for the accuracy.
inline constexpr std::int32_t kIgnored = -1;

/// The number of targets that are not kIgnored.
std::int64_t counted(std::span<const std::int32_t> targets);

/// `count` sequences of uniform tokens in [0, vocabulary). Sequence s depends on (seed, s) alone.
Sequences random_sequences(std::uint64_t seed, int count, int length, int vocabulary);

/// A task: its input sequences, and the answer at every position of an input.
struct Task {
  std::string name;
  std::string description;
  /// Writes the targets of an input, of any tokens; kIgnored where the input does not tell.
  void (*targets)(std::span<const std::int32_t> input, std::int32_t* target);
  /// Draws an input; null: uniform tokens.
  void (*draw)(RandomSequence& draws, int vocabulary, std::span<std::int32_t> input) = nullptr;
  int least_length = 1;
  /// The smallest vocabulary for sequences of a length; null: 1.
  int (*least_vocabulary)(int length) = nullptr;
  int length_multiple = 1;  ///< the length is a multiple of this number
};

/// Every task (docs/training.md defines them). A new task is its functions and an entry in
/// tasks.cpp.
const std::vector<Task>& tasks();

/// The task of that name; UsageError that lists the names otherwise.
const Task& find_task(std::string_view name);

/// UsageError unless the task has sequences of this length and vocabulary.
void require_sizes(const Task& task, int length, int vocabulary);

/// `count` inputs of a task. Sequence s depends on (seed, s) alone. UsageError as require_sizes().
Sequences random_inputs(const Task& task, std::uint64_t seed, int count, int length,
                        int vocabulary);

/// The targets of a task for given inputs; UsageError unless one of them counts.
Sequences targets(const Task& task, const Sequences& inputs);

}  // namespace synergraph
#pragma GCC visibility pop
