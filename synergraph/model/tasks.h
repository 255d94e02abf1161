#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Token sequences of one length, one after another: entry (s, i) is tokens[s * length + i].
struct Sequences {
  int count = 0;
  int length = 0;
  std::vector<std::int32_t> tokens;

  const std::int32_t* row(int s) const {
    return tokens.data() + static_cast<std::ptrdiff_t>(s) * length;
  }
};

/// `count` sequences of uniform tokens in [0, vocabulary). Sequence s depends on (seed, s) alone.
Sequences random_sequences(std::uint64_t seed, int count, int length, int vocabulary);

/// A task: what the model shall answer at every position of an input sequence.
struct Task {
  std::string name;
  std::string description;
  void (*targets)(const std::int32_t* input, int length, std::int32_t* target);
};

/// Every task there is: copy, cycle, zero. A new task is one function and one line in tasks.cpp.
const std::vector<Task>& tasks();

/// The task of that name; UsageError that lists the names otherwise.
const Task& find_task(std::string_view name);

/// The targets of a task for given inputs.
Sequences targets(const Task& task, const Sequences& inputs);

}  // namespace synergraph
#pragma GCC visibility pop
