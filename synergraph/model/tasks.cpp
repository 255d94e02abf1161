#include "synergraph/model/tasks.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

void copy_targets(const std::int32_t* input, int length, std::int32_t* target) {
  std::copy(input, input + length, target);
}

void cycle_targets(const std::int32_t* input, int length, std::int32_t* target) {
  for (int i = 0; i < length; ++i) target[i] = input[i == 0 ? length - 1 : i - 1];
}

void zero_targets(const std::int32_t* /*input*/, int length, std::int32_t* target) {
  std::fill(target, target + length, 0);
}

}  // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = {
      {"copy", "answer each token with itself", copy_targets},
      {"cycle", "answer each token with the one before it, the first with the last", cycle_targets},
      {"zero", "answer every token with 0", zero_targets},
  };
  return all;
}

const Task& find_task(std::string_view name) {
  std::string names;
  for (const Task& task : tasks()) {
    if (task.name == name) return task;
    names += (names.empty() ? "" : ", ") + task.name;
  }
  throw UsageError(fmt::format("unknown task {}: expected one of {}", quoted_text(name), names));
}

Sequences targets(const Task& task, const Sequences& inputs) {
  Sequences answers{inputs.count, inputs.length, std::vector<std::int32_t>(inputs.tokens.size())};
  for (int s = 0; s < inputs.count; ++s) {
    const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(s) * inputs.length;
    task.targets(inputs.row(s), inputs.length, answers.tokens.data() + start);
  }
  return answers;
}

Sequences random_sequences(std::uint64_t seed, int count, int length, int vocabulary) {
  if (count < 1 || length < 1 || vocabulary < 1)
    throw UsageError("sequences need a count, a length and a vocabulary of at least 1");
  Sequences sequences{count, length, {}};
  sequences.tokens.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(length));
  for (int s = 0; s < count; ++s) {
    RandomSequence draws(seed, Purpose::kData, static_cast<std::uint32_t>(s));
    for (int i = 0; i < length; ++i)
      sequences.tokens.push_back(
          static_cast<std::int32_t>(draws.below(static_cast<std::uint64_t>(vocabulary))));
  }
  return sequences;
}

}  // namespace synergraph
