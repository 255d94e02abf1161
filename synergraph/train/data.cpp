#include "synergraph/train/data.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/random.h"
#include "synergraph/io/tensor_file.h"

namespace synergraph {
namespace {

Sequences slice(const Sequences& all, int first, int count) {
  const auto length = static_cast<std::ptrdiff_t>(all.length);
  const auto begin = all.tokens.begin() + first * length;
  return {count, all.length, {begin, begin + count * length}};
}

/// InputError, with these names, unless inputs and targets have the same shape.
void require_pairs(const Pairs& pairs, const PairFiles& names) {
  const auto& [inputs, targets] = pairs;
  if (inputs.count != targets.count || inputs.length != targets.length)
    throw InputError(fmt::format("{}: shape ({}, {}), but {} has shape ({}, {})", names.targets,
                                 targets.count, targets.length, names.inputs, inputs.count,
                                 inputs.length));
}

Pairs read_pairs(const PairFiles& files) {
  Pairs pairs{read_sequences(files.inputs), read_sequences(files.targets, kIgnored)};
  require_pairs(pairs, files);
  return pairs;
}

}  // namespace

TrainingData task_data(const Task& task, std::uint64_t seed, int count, const ModelConfig& config) {
  const Sequences all =
      random_inputs(task, seed, count + kJudged, config.length, config.vocabulary);
  TrainingData data;
  data.inputs = slice(all, 0, count);
  data.judged_inputs = slice(all, count, kJudged);
  data.targets = targets(task, data.inputs);
  data.judged_targets = targets(task, data.judged_inputs);
  return data;
}

double counted_per_sequence(const Sequences& targets) {
  return static_cast<double>(counted(targets.tokens)) / targets.count;
}

Sequences read_sequences(const std::string& path, std::int32_t least) {
  const TensorFile file = TensorFile::open(path);
  if (file.tensors().size() != 1)
    throw InputError(
        fmt::format("{}: expected one tensor of tokens, found {}", path, file.tensors().size()));
  const Tensor& tensor = file.tensors().front();
  if (tensor.shape().size() != 2 || tensor.shape()[0] < 1 || tensor.shape()[1] < 1 ||
      tensor.info().elements() > std::numeric_limits<std::int32_t>::max())
    throw InputError(fmt::format("{}: expected tokens of shape (sequences, length), found {}", path,
                                 to_string(tensor.shape())));
  if (!is_integer(tensor.info().dtype))
    throw InputError(
        fmt::format("{}: expected integers, found {}", path, name_of(tensor.info().dtype)));
  Sequences sequences{static_cast<int>(tensor.shape()[0]), static_cast<int>(tensor.shape()[1]), {}};
  for (const std::int64_t token : tensor.values<std::int64_t>()) {
    if (token < least || token > std::numeric_limits<std::int32_t>::max())
      throw InputError(fmt::format(
          "{}: {} is not a token{}", path, token,
          least == kIgnored ? fmt::format("; a target that does not count is {}", kIgnored) : ""));
    sequences.tokens.push_back(static_cast<std::int32_t>(token));
  }
  return sequences;
}

TrainingData pair_data(Pairs training, std::optional<Pairs> judged) {
  require_pairs(training, {"inputs", "targets"});
  TrainingData data;
  data.held_out = judged.has_value();
  if (judged) {
    require_pairs(*judged, {"validation inputs", "validation targets"});
  } else {
    const int count = std::min(kJudged, training.inputs.count);
    judged = {slice(training.inputs, 0, count), slice(training.targets, 0, count)};
  }
  data.inputs = std::move(training.inputs);
  data.targets = std::move(training.targets);
  data.judged_inputs = std::move(judged->inputs);
  data.judged_targets = std::move(judged->targets);
  return data;
}

TrainingData file_data(const PairFiles& training, const std::optional<PairFiles>& validation) {
  return pair_data(read_pairs(training),
                   validation ? std::optional(read_pairs(*validation)) : std::nullopt);
}

std::string fingerprint(const TrainingData& data) {
  Fingerprint fingerprint;
  for (const Sequences* sequences : {&data.inputs, &data.targets}) {
    for (const std::int32_t token : sequences->tokens)
      fingerprint.add(static_cast<std::uint32_t>(token));
    fingerprint.add(static_cast<std::uint32_t>(sequences->length));
  }
  return fingerprint.text();
}

std::vector<std::int32_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, int count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  RandomSequence draws(seed, Purpose::kShuffle, epoch);
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[draws.below(k)]);
  return order;
}

void gather(const Sequences& all, std::span<const std::int32_t> rows, Sequences& chosen) {
  chosen.count = static_cast<int>(rows.size());
  chosen.length = all.length;
  chosen.tokens.resize(rows.size() * static_cast<std::size_t>(all.length));
  auto to = chosen.tokens.begin();
  for (const std::int32_t row : rows) to = std::copy_n(all.row(row), all.length, to);
}

}  // namespace synergraph
