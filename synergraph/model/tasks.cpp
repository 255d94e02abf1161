#include "synergraph/model/tasks.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

using Input = std::span<const std::int32_t>;
using Drawn = std::span<std::int32_t>;

std::int32_t below(RandomSequence& draws, int count) {
  return static_cast<std::int32_t>(draws.below(static_cast<std::uint64_t>(count)));
}

void draw_tokens(RandomSequence& draws, int vocabulary, Drawn input) {
  for (std::int32_t& token : input) token = below(draws, vocabulary);
}

void copy_targets(Input input, std::int32_t* target) {
  std::copy(input.begin(), input.end(), target);
}

void cycle_targets(Input input, std::int32_t* target) {
  std::rotate_copy(input.begin(), input.end() - 1, input.end(), target);
}

void zero_targets(Input input, std::int32_t* target) {
  std::fill_n(target, input.size(), 0);
}

// Recall: pairs of a key and a value, as many as fill half of the sequence, then keys again. Keys
// are in the lower half of the vocabulary, each in one pair; values are in the upper half.

std::size_t pairs_in(std::size_t length) {
  return length / 4;
}

int recall_vocabulary(int length) {
  return 2 * std::max(2, length / 4);
}

void draw_recall(RandomSequence& draws, int vocabulary, Drawn input) {
  const int keys = vocabulary / 2;
  const std::size_t pairs = pairs_in(input.size());
  std::unordered_set<std::int32_t> used;
  for (std::size_t k = 0; k < pairs; ++k) {
    do {
      input[2 * k] = below(draws, keys);
    } while (!used.insert(input[2 * k]).second);
    input[2 * k + 1] = keys + below(draws, vocabulary - keys);
  }
  for (std::int32_t& query : input.subspan(2 * pairs))
    query = input[2 * static_cast<std::size_t>(below(draws, static_cast<int>(pairs)))];
}

void recall_targets(Input input, std::int32_t* target) {
  const std::size_t pairs = pairs_in(input.size());
  std::unordered_map<std::int32_t, std::int32_t> values;
  for (std::size_t k = 0; k < pairs; ++k) values.emplace(input[2 * k], input[2 * k + 1]);
  std::fill_n(target, input.size(), kIgnored);
  for (std::size_t i = 2 * pairs; i < input.size(); ++i)
    if (const auto found = values.find(input[i]); found != values.end()) target[i] = found->second;
}

// Delayed copy: the first half of a sequence, the separator, and the first half again without its
// last token. The separator is the last token of the vocabulary.

int delayed_vocabulary(int /*length*/) {
  return 3;
}

void draw_delayed(RandomSequence& draws, int vocabulary, Drawn input) {
  const std::size_t half = input.size() / 2;
  draw_tokens(draws, vocabulary - 1, input.first(half));
  input[half] = vocabulary - 1;
  std::copy_n(input.begin(), half - 1, input.begin() + static_cast<std::ptrdiff_t>(half) + 1);
}

void delayed_targets(Input input, std::int32_t* target) {
  const std::size_t half = input.size() / 2;
  std::fill_n(target, input.size(), kIgnored);
  std::copy_n(input.begin(), half, target + half);
}

// Running maxima. The tokens of a sequence are uniform below a bound, and the bound is uniform
// between 1 and the vocabulary: a maximum cannot be guessed from the position.

void draw_bounded(RandomSequence& draws, int vocabulary, Drawn input) {
  draw_tokens(draws, 1 + below(draws, vocabulary), input);
}

void maximum_targets(Input input, std::int32_t* target) {
  std::int32_t largest = input[0];
  for (std::size_t i = 0; i < input.size(); ++i) target[i] = largest = std::max(largest, input[i]);
}

void second_maximum_targets(Input input, std::int32_t* target) {
  std::int32_t largest = input[0];
  std::int32_t second = kIgnored;
  target[0] = kIgnored;
  for (std::size_t i = 1; i < input.size(); ++i) {
    second = std::max(second, std::min(largest, input[i]));
    largest = std::max(largest, input[i]);
    target[i] = second;
  }
}

// Parity and majority of the bits so far; the bit of a token is 1 where the token is odd.

int two_tokens(int /*length*/) {
  return 2;
}

void draw_bits(RandomSequence& draws, int /*vocabulary*/, Drawn input) {
  draw_tokens(draws, 2, input);
}

void parity_targets(Input input, std::int32_t* target) {
  std::int32_t parity = 0;
  for (std::size_t i = 0; i < input.size(); ++i) target[i] = parity ^= input[i] & 1;
}

void majority_targets(Input input, std::int32_t* target) {
  std::int64_t ones = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    ones += input[i] & 1;
    const std::int64_t zeros = static_cast<std::int64_t>(i) + 1 - ones;
    target[i] = ones == zeros ? kIgnored : static_cast<std::int32_t>(ones > zeros);
  }
}

}  // namespace

const std::vector<Task>& tasks() {
  static const std::vector<Task> all = {
      {"copy", "answer each token with itself", copy_targets},
      {"cycle", "answer each token with the one before it, the first with the last", cycle_targets},
      {"zero", "answer every token with 0", zero_targets},
      {"recall", "answer a key with the value that stood beside it", recall_targets, draw_recall, 8,
       recall_vocabulary},
      {"delayed-copy", "repeat the first half of the sequence after a separator", delayed_targets,
       draw_delayed, 4, delayed_vocabulary, 2},
      {"maximum", "answer with the largest token so far", maximum_targets, draw_bounded, 2,
       two_tokens},
      {"second-maximum", "answer with the second largest token so far", second_maximum_targets,
       draw_bounded, 3, two_tokens},
      {"parity", "answer with the parity of the bits so far", parity_targets, draw_bits, 2,
       two_tokens},
      {"majority", "answer with the more frequent bit so far", majority_targets, draw_bits, 3,
       two_tokens},
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

void require_sizes(const Task& task, int length, int vocabulary) {
  if (length < task.least_length)
    throw UsageError(
        fmt::format("task {} needs a length of at least {}, not {}: choose a larger length",
                    task.name, task.least_length, length));
  if (length % task.length_multiple != 0)
    throw UsageError(fmt::format("task {} needs a length that is a multiple of {}, not {}",
                                 task.name, task.length_multiple, length));
  const int least = task.least_vocabulary == nullptr ? 1 : task.least_vocabulary(length);
  if (vocabulary < least)
    throw UsageError(
        fmt::format("task {} at length {} needs a vocabulary of at least {}, not {}: choose a "
                    "larger vocabulary{}",
                    task.name, length, least, vocabulary,
                    task.least_vocabulary != nullptr && task.least_vocabulary(length + 64) > least
                        ? " or a smaller length"
                        : ""));
}

std::int64_t counted(std::span<const std::int32_t> targets) {
  return std::ssize(targets) - std::count(targets.begin(), targets.end(), kIgnored);
}

Sequences targets(const Task& task, const Sequences& inputs) {
  Sequences answers{inputs.count, inputs.length, std::vector<std::int32_t>(inputs.tokens.size())};
  const auto length = static_cast<std::size_t>(inputs.length);
  for (int s = 0; s < inputs.count; ++s)
    task.targets({inputs.row(s), length},
                 answers.tokens.data() + static_cast<std::ptrdiff_t>(s) * inputs.length);
  if (counted(answers.tokens) == 0)
    throw UsageError(fmt::format(
        "task {} has no answer at any position of these {} sequences: draw its own with --samples",
        task.name, inputs.count));
  return answers;
}

Sequences random_inputs(const Task& task, std::uint64_t seed, int count, int length,
                        int vocabulary) {
  if (count < 1 || length < 1 || vocabulary < 1)
    throw UsageError("sequences need a count, a length and a vocabulary of at least 1");
  require_sizes(task, length, vocabulary);
  const auto draw = task.draw == nullptr ? draw_tokens : task.draw;
  const auto size = static_cast<std::size_t>(length);
  Sequences sequences{count, length,
                      std::vector<std::int32_t>(static_cast<std::size_t>(count) * size)};
  for (int s = 0; s < count; ++s) {
    RandomSequence draws(seed, Purpose::kData, static_cast<std::uint32_t>(s));
    draw(draws, vocabulary,
         Drawn(sequences.tokens).subspan(static_cast<std::size_t>(s) * size, size));
  }
  return sequences;
}

Sequences random_sequences(std::uint64_t seed, int count, int length, int vocabulary) {
  return random_inputs({}, seed, count, length, vocabulary);
}

}  // namespace synergraph
