#include "synergraph/study/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/model/load_model.h"

namespace synergraph {
namespace {

std::vector<VerifiedLayer> compare_layers(const std::string& task, int heads,
                                          const ModelMeasurement& measurement) {
  std::vector<VerifiedLayer> layers;
  for (const LayerSummary& ours : measurement.published) {
    const auto layer = static_cast<int>(layers.size());
    const auto compared = [&](const Quantity& quantity) {
      const Summary& summary = ours[quantity];
      const double unit = published_unit(quantity);
      return compare(*published_value(quantity, task, heads, layer), published_rounding(quantity),
                     unit * summary.mean, unit * summary.std, summary.samples);
    };
    const auto interval = [&](const Quantity& quantity) {
      const Summary& summary = ours[quantity];
      const double unit = published_unit(quantity);
      return sample_interval(unit * summary.mean, unit * summary.std, summary.samples);
    };
    layers.push_back(
        {compared(Quantity::kTruncatedHittingMean), compared(Quantity::kMinimaxFidelity),
         published_comparison(task, heads, layer), interval(Quantity::kBestHeadFidelity),
         interval(Quantity::kMinimaxFidelity), ours.synergy_share()});
  }
  return layers;
}

/// The checkpoint of a task and head count in a directory; empty if there is none.
std::string checkpoint_path(const std::string& directory, std::string_view task, int heads) {
  std::error_code none;  // a link that leads nowhere is there, too: who opens it says so
  for (const FormatRow& format : file_formats())
    for (const std::string_view ending : format.endings) {
      std::string path = fmt::format("{}/{}_heads_{}{}", directory, heads, task, ending);
      if (std::filesystem::exists(std::filesystem::symlink_status(path, none))) return path;
    }
  return {};
}

void require_published_shape(const ModelConfig& config, int heads, const std::string& path) {
  if (config.layers != kPublishedLayers || config.heads != heads)
    throw InputError(fmt::format("{}: {} layers of {} heads; the paper's model has {} of {}", path,
                                 config.layers, config.heads, kPublishedLayers, heads));
}

}  // namespace

ComparedValue compare(const PublishedValue& published, double rounding, double mean, double std,
                      std::size_t samples) {
  ComparedValue value{.published = published, .mean = mean, .std = std};
  value.difference = mean - published.mean;
  // Standard deviations are over the sequences at hand (population), hence n - 1 for the mean's.
  const double published_variance = published.std * published.std / (kPublishedSamples - 1);
  const double our_variance =
      std * std / static_cast<double>(std::max<std::size_t>(1, samples - 1));
  value.standard_error = std::sqrt(published_variance + our_variance);
  const double beyond = std::abs(value.difference) - rounding;
  if (!(beyond <= 0.0))  // also where ours does not exist
    value.deviation = value.standard_error > 0.0 && std::isfinite(beyond)
                          ? beyond / value.standard_error
                          : std::numeric_limits<double>::infinity();
  value.agrees = value.deviation <= kAgreement;
  return value;
}

bool VerifiedModel::agrees() const {
  return std::all_of(layers.begin(), layers.end(), [](const VerifiedLayer& layer) {
    return layer.mixing_time.agrees && layer.fidelity.agrees;
  });
}

std::vector<std::string> published_checkpoints(const std::string& directory) {
  std::vector<std::string> paths;
  for (const std::string_view task : kPublishedTasks)
    for (const int heads : kPublishedHeads)
      if (std::string path = checkpoint_path(directory, task, heads); !path.empty())
        paths.push_back(std::move(path));
  return paths;
}

std::vector<VerifiedModel> verify_checkpoints(const std::string& directory,
                                              const VerifyOptions& options) {
  if (std::error_code none; !std::filesystem::is_directory(directory, none))
    throw InputError(fmt::format("{}: not a directory", directory));
  std::vector<VerifiedModel> models;
  for (const std::string_view task : kPublishedTasks)
    for (const int heads : kPublishedHeads) {
      const std::string path = checkpoint_path(directory, task, heads);
      if (path.empty()) continue;
      const Model model = load_model(TensorFile::open(path), heads);
      require_published_shape(model.config(), heads, path);
      const Sequences sequences = random_sequences(
          options.seed, options.samples, model.config().length, model.config().vocabulary);
      VerifiedModel verified;
      verified.path = path;
      verified.task = task;
      verified.heads = heads;
      verified.measurement =
          measure_model(model, find_task(task), sequences, options.measure, options.execution);
      verified.layers = compare_layers(verified.task, heads, verified.measurement);
      models.push_back(std::move(verified));
    }
  if (models.empty())
    throw InputError(fmt::format(
        "{}: no checkpoint of the paper's models, such as 4_heads_copy.pt, is there", directory));
  return models;
}

}  // namespace synergraph
