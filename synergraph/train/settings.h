#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/setting.h"
#include "synergraph/train/fleet.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a training run is: two runs with equal settings end in the same bytes. The defaults are the
/// paper's, with the task to choose.
struct TrainSettings {
  ModelConfig model;
  std::string task = "copy";  ///< a task's name, or "data" for the user's own pairs
  std::string data;           ///< the fingerprint of the user's own pairs
  int sequences = 5000;       ///< training sequences
  int batch = 50;             ///< sequences a step; an epoch's last batch may be smaller
  int epochs = 200;
  std::uint64_t seed = 0;  ///< of data, initialisation, order and dropout
  double dropout = 0.1;
  AdamOptions adam;
  std::vector<std::string> promote = {};  ///< see parse_promotion()

  int steps_per_epoch() const { return (sequences + batch - 1) / batch; }
  std::uint64_t steps() const {
    return static_cast<std::uint64_t>(epochs) * static_cast<std::uint64_t>(steps_per_epoch());
  }
};

/// The help of the setting "task": the tasks and what they are.
std::string_view task_help();

/// See Setting. Sizes and rates have further limits: see validate().
template <class Visit>
void visit_model_and_rates(TrainSettings& settings, Visit&& visit) {
  constexpr const char* kModel = "Model";
  constexpr const char* kTraining = "Training";
  const NumberRange<int> size;
  const NumberRange<double> any;
  ModelConfig& model = settings.model;
  AdamOptions& adam = settings.adam;
  visit(Setting{"layers", kModel, "number of layers"}, model.layers, size);
  visit(Setting{"width", kModel, "features per token"}, model.width, size);
  visit(Setting{"hidden", kModel, "hidden units of each MLP"}, model.hidden, size);
  visit(Setting{"vocabulary", kModel, "number of different tokens"}, model.vocabulary, size);
  visit(Setting{"length", kModel, "tokens per sequence"}, model.length, size);
  visit(Setting{"batch", kTraining, "sequences per step"}, settings.batch, size);
  visit(Setting{"dropout", kTraining, "dropout rate of attention probabilities and after each MLP"},
        settings.dropout, any);
  visit(Setting{"learning_rate", kTraining, "learning rate of Adam"}, adam.learning_rate, any);
  visit(Setting{"beta1", kTraining, "Adam's decay rate of the mean gradient"}, adam.beta1, any);
  visit(Setting{"beta2", kTraining, "Adam's decay rate of the mean squared gradient"}, adam.beta2,
        any);
  visit(Setting{"epsilon", kTraining,
                "number that Adam adds to the root of the mean squared gradient"},
        adam.epsilon, any);
}

inline constexpr Setting kEpochsSetting{"epochs", "Training", "passes over the training sequences"};
inline constexpr Setting kSequencesSetting{"sequences", "Training", "number of training sequences"};

/// See Setting. All of a run; the metadata of a checkpoint have the same keys.
template <class Visit>
void visit_settings(TrainSettings& settings, Visit&& visit) {
  visit(Setting{"heads", "Model", "attention heads per layer; must divide the width"},
        settings.model.heads, NumberRange<int>{});
  visit(kEpochsSetting, settings.epochs, NumberRange<int>{});
  visit(kSequencesSetting, settings.sequences, NumberRange<int>{});
  visit(Setting{"seed", "Training", "seed of data, initialisation, order and dropout"},
        settings.seed, NumberRange<std::uint64_t>{});
  visit_model_and_rates(settings, visit);
  visit(Setting{.key = "promote",
                .group = "Training",
                .help = "metric of attention to promote and its strength, such as fidelity=0.1 or "
                        "speed=0.05, once for each metric (fidelity, speed, entropy); a negative "
                        "strength discourages the metric",
                .value = "NAME=STRENGTH",
                .commas = false},
        settings.promote);
  visit(Setting{.key = "task", .group = "Data", .help = task_help(), .excludes = "data"},
        settings.task);
  visit(Setting{.key = "data",
                .group = "Data",
                .help = "fingerprint of the user's own pairs",
                .faces = 0},
        settings.data);
}

/// What its model has in common with others that can be trained in one fleet.
FleetSettings fleet_settings(const TrainSettings& settings);

/// Throws UsageError, naming the setting at fault, when there is no such run.
void validate(const TrainSettings& settings);

/// The settings by name, as checkpoints carry them in their metadata. Numbers read back exactly.
std::map<std::string, std::string> to_metadata(const TrainSettings& settings);
/// The reverse; InputError, beginning with `where`, when an entry is missing or malformed.
TrainSettings from_metadata(const std::map<std::string, std::string>& metadata,
                            const std::string& where);

/// Gives every setting of a run that is resumed its stored value, unless it was given anew.
void inherit(TrainSettings& settings, TrainSettings stored,
             const std::function<bool(std::string_view key)>& given);

/// The first setting that keeps a run from being continued under other settings, as "heads 4, not
/// 8"; empty when there is none. The number of epochs may differ.
std::string difference(const TrainSettings& stored, const TrainSettings& wanted);

}  // namespace synergraph
#pragma GCC visibility pop
