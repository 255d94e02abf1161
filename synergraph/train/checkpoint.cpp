#include "synergraph/train/checkpoint.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/version.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/sealed_tensors.h"
#include "synergraph/io/tensor_file.h"

namespace synergraph {
namespace {

constexpr const char* kFormat = "synergraph training state 2";
constexpr const char* kUnsealedFormat = "synergraph training state 1";

// A state has the model's tensors and those of both moments; and two tensors of three numbers.
constexpr std::size_t kCopies = 3;
constexpr std::size_t kRunTensors = 2;
constexpr std::size_t kRunNumbers = 3;
// One that promotes metrics has one tensor more, of the sums and counts of this epoch and the last.
constexpr std::size_t kPromotedNumbers = 4 * kPromotedMetrics;

std::string path_in(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

/// Tensors of the model's layout under a prefix.
void add_tensors(const ParameterLayout& layout, const std::string& prefix, const float* values,
                 std::vector<TensorData>& tensors) {
  for (const ParameterInfo& tensor : layout.tensors())
    tensors.push_back(tensor_data(prefix + tensor.name, tensor.shape, values + tensor.offset));
}

void read_tensors(const TensorFile& file, const ParameterLayout& layout, const std::string& prefix,
                  float* values) {
  for (const ParameterInfo& parameter : layout.tensors()) {
    const Tensor& tensor = file.at(prefix + parameter.name);
    if (tensor.shape() != parameter.shape)
      throw InputError(fmt::format("{}: shape {}, expected {}", tensor.where(),
                                   to_string(tensor.shape()), to_string(parameter.shape)));
    tensor.read(0, static_cast<std::int64_t>(parameter.size), values + parameter.offset);
    for (std::size_t k = 0; k < parameter.size; ++k) {
      if (!std::isfinite(values[parameter.offset + k]))
        throw InputError(fmt::format("{}: entry {} is not finite", tensor.where(), k));
    }
  }
}

template <class T, std::size_t kCount>
std::array<T, kCount> read_array(const TensorFile& file, const char* name) {
  const Tensor& tensor = file.at(name);
  if (tensor.shape() != Shape{static_cast<std::int64_t>(kCount)})
    throw InputError(fmt::format("{}: shape {}, expected ({},)", tensor.where(),
                                 to_string(tensor.shape()), kCount));
  std::array<T, kCount> values{};
  tensor.read(0, static_cast<std::int64_t>(kCount), values.data());
  return values;
}

TensorFile open_state(const std::string& directory) {
  TensorFile file = TensorFile::open(state_path(directory), NamedBy::kProgram);
  const auto format = file.metadata().find("format");
  if (format != file.metadata().end() && format->second == kUnsealedFormat)
    throw InputError(
        fmt::format("{}: it has no checksum, since an earlier version wrote it, so it may be "
                    "damaged. Finish the run with that version, or remove {} and train again.",
                    file.path(), directory));
  if (format == file.metadata().end() || format->second != kFormat)
    throw InputError(fmt::format("{}: not a '{}' file", file.path(), kFormat));
  return file;
}

/// Before anything in it is believed.
TensorFile open_sound_state(const std::string& directory) {
  TensorFile file = open_state(directory);
  try {
    check_tensor_seal(file);
  } catch (const FileError&) {
    throw;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}. Restore the file, or remove {} and train again.",
                                 error.what(), directory));
  }
  return file;
}

bool promotes_any(const TrainSettings& settings) {
  return parse_promotion(settings.promote).active();
}

std::array<double, kPromotedNumbers> packed(const RunPosition& position) {
  std::array<double, kPromotedNumbers> numbers{};
  for (std::size_t k = 0; k < kPromotedMetrics; ++k) {
    numbers[k] = position.promoted.sums[k];
    numbers[kPromotedMetrics + k] = static_cast<double>(position.promoted.counts[k]);
    numbers[2 * kPromotedMetrics + k] = position.last_promoted.sums[k];
    numbers[3 * kPromotedMetrics + k] = static_cast<double>(position.last_promoted.counts[k]);
  }
  return numbers;
}

void unpack(const TensorFile& file, RunPosition& position) {
  const auto numbers = read_array<double, kPromotedNumbers>(file, "run.promoted");
  const auto read = [&](std::size_t first, PromotedSums& into) {
    for (std::size_t k = 0; k < kPromotedMetrics; ++k) {
      const double count = numbers[first + kPromotedMetrics + k];
      if (!std::isfinite(numbers[first + k]) || !(count >= 0.0 && count < 0x1p53) ||
          count != std::floor(count))
        throw InputError(fmt::format("{}: tensor 'run.promoted' is out of range", file.path()));
      into.sums[k] = numbers[first + k];
      into.counts[k] = static_cast<std::int64_t>(count);
    }
  };
  read(0, position.promoted);
  read(2 * kPromotedMetrics, position.last_promoted);
}

/// The run's settings. Its tensors must be as many and as large as they say: a few bytes of
/// metadata must not ask for a model that fills the memory.
TrainSettings settings_of(const TensorFile& file) {
  TrainSettings settings = from_metadata(file.metadata(), file.path());
  const auto expect = [&](const char* what, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw InputError(fmt::format("{}: {} {}, expected {} for the model of its metadata",
                                   file.path(), found, what, expected));
  };
  ModelConfig shallow = settings.model;
  shallow.layers = 1;
  const std::size_t one = ParameterLayout(shallow).tensors().size();
  shallow.layers = 2;
  const std::size_t layer = ParameterLayout(shallow).tensors().size() - one;
  const auto more = static_cast<std::size_t>(settings.model.layers - 1);
  const bool promotes = promotes_any(settings);
  expect("tensors", file.tensors().size(),
         kCopies * (one + more * layer) + kRunTensors + (promotes ? 1 : 0));

  std::size_t entries = 0;
  for (const Tensor& tensor : file.tensors())
    entries += static_cast<std::size_t>(tensor.info().elements());
  expect("entries", entries,
         kCopies * ParameterLayout(settings.model).size() + kRunTensors * kRunNumbers +
             (promotes ? kPromotedNumbers : 0));
  return settings;
}

RunPosition read_position(const TensorFile& file, const TrainSettings& settings) {
  const auto counts = read_array<std::int64_t, kRunNumbers>(file, "run.counts");
  const auto sums = read_array<double, kRunNumbers>(file, "run.sums");
  // More epochs may follow than the settings say; the step only has to fit its type. It says how
  // many sequences the epoch has had: only its last step has fewer than a batch.
  const std::int64_t seen = counts[0] % settings.steps_per_epoch() * settings.batch;
  const bool good = counts[0] >= 0 && counts[0] < (std::int64_t{1} << 32U) && counts[2] == seen &&
                    counts[1] >= 0 && counts[1] <= seen * settings.model.length;
  if (!good) throw InputError(fmt::format("{}: tensor 'run.counts' is out of range", file.path()));
  for (const double sum : sums)
    if (!std::isfinite(sum))
      throw InputError(fmt::format("{}: tensor 'run.sums' is not finite", file.path()));
  RunPosition position{static_cast<std::uint64_t>(counts[0]),
                       sums[0],
                       counts[1],
                       counts[2],
                       sums[1],
                       sums[2],
                       {},
                       {}};
  if (promotes_any(settings)) unpack(file, position);
  return position;
}

}  // namespace

std::string model_path(const std::string& directory) {
  return path_in(directory, "model.safetensors");
}
std::string state_path(const std::string& directory) {
  return path_in(directory, "state.safetensors");
}
std::string log_path(const std::string& directory) {
  return path_in(directory, "metrics.jsonl");
}

void write_checkpoint(const std::string& directory, const TrainingRun& run) {
  const TrainingState& state = run.state;
  const RunPosition& position = run.position;
  const ParameterLayout& layout = state.model.layout();
  auto metadata = to_metadata(run.settings);
  metadata["version"] = kVersion;
  metadata["isa"] = instruction_set();
  metadata["step"] = fmt::format("{}", position.step);

  const std::array<std::int64_t, kRunNumbers> counts = {static_cast<std::int64_t>(position.step),
                                                        position.correct, position.sequences};
  const std::array<double, kRunNumbers> sums = {position.loss_sum, position.last_loss,
                                                position.last_accuracy};
  std::vector<TensorData> tensors;
  add_tensors(layout, "model.", state.model.values().data(), tensors);
  add_tensors(layout, "first_moment.", state.first_moment.data(), tensors);
  add_tensors(layout, "second_moment.", state.second_moment.data(), tensors);
  tensors.push_back(tensor_data("run.counts", {3}, counts.data()));
  tensors.push_back(tensor_data("run.sums", {3}, sums.data()));
  const std::array<double, kPromotedNumbers> promoted = packed(position);
  if (promotes_any(run.settings))
    tensors.push_back(tensor_data("run.promoted", {kPromotedNumbers}, promoted.data()));
  metadata["format"] = kFormat;
  write_sealed_safetensors(state_path(directory), tensors, metadata);

  tensors.clear();
  add_tensors(layout, "", state.model.values().data(), tensors);
  metadata["format"] = "pt";  // what readers of safetensors expect of a model
  metadata["loss"] = fmt::format("{}", position.last_loss);
  metadata["accuracy"] = fmt::format("{}", position.last_accuracy);
  write_safetensors(model_path(directory), tensors, metadata, NamedBy::kProgram);
}

TrainSettings read_settings(const std::string& directory) {
  return settings_of(open_sound_state(directory));
}

TrainingRun read_run(const std::string& directory) {
  const TensorFile file = open_sound_state(directory);
  const TrainSettings settings = settings_of(file);
  TrainingRun run{settings, TrainingState(settings.model), read_position(file, settings)};
  const ParameterLayout& layout = run.state.model.layout();
  read_tensors(file, layout, "model.", run.state.model.values().data());
  read_tensors(file, layout, "first_moment.", run.state.first_moment.data());
  read_tensors(file, layout, "second_moment.", run.state.second_moment.data());
  run.state.step = static_cast<std::uint32_t>(run.position.step);
  return run;
}

std::optional<RunSteps> read_steps(const std::string& directory) {
  try {
    if (!has_run(directory)) return std::nullopt;
    const TensorFile file = open_state(directory);
    RunSteps steps{0, from_metadata(file.metadata(), file.path()).steps()};
    const auto step = file.metadata().find("step");
    if (step == file.metadata().end() || !parse_number(std::string_view(step->second), steps.done))
      return std::nullopt;
    return steps;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool has_run(const std::string& directory) {
  return own_file_exists(state_path(directory));
}

}  // namespace synergraph
