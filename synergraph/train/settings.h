#pragma once

#include <map>
#include <string>
#include <vector>

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

  int steps_per_epoch() const { return (sequences + batch - 1) / batch; }
  std::uint64_t steps() const {
    return static_cast<std::uint64_t>(epochs) * static_cast<std::uint64_t>(steps_per_epoch());
  }
};

/// The one list of all settings: visit(name, get, group, help), where get(settings) is a reference
/// to the setting. The name is that in metadata and, with hyphens, that of an option.
template <class Visit>
void visit_settings(const Visit& visit) {
  const auto model = [&](const char* name, auto member, const char* help) {
    visit(
        name, [member](auto& of) -> auto& { return of.model.*member; }, "Model", help);
  };
  const auto training = [&](const char* name, auto member, const char* help) {
    visit(
        name, [member](auto& of) -> auto& { return of.*member; }, "Training", help);
  };
  const auto adam = [&](const char* name, auto member, const char* help) {
    visit(
        name, [member](auto& of) -> auto& { return of.adam.*member; }, "Training", help);
  };
  model("heads", &ModelConfig::heads, "attention heads per layer; must divide the width");
  training("epochs", &TrainSettings::epochs, "passes over the training sequences");
  training("sequences", &TrainSettings::sequences, "number of training sequences");
  training("seed", &TrainSettings::seed, "seed of data, initialisation, order and dropout");
  model("layers", &ModelConfig::layers, "number of layers");
  model("width", &ModelConfig::width, "features per token");
  model("hidden", &ModelConfig::hidden, "hidden units of each MLP");
  model("vocabulary", &ModelConfig::vocabulary, "number of different tokens");
  model("length", &ModelConfig::length, "tokens per sequence");
  training("batch", &TrainSettings::batch, "sequences per step");
  training("dropout", &TrainSettings::dropout,
           "dropout rate of attention probabilities and after each MLP");
  adam("learning_rate", &AdamOptions::learning_rate, "learning rate of Adam");
  adam("beta1", &AdamOptions::beta1, "Adam's decay rate of the mean gradient");
  adam("beta2", &AdamOptions::beta2, "Adam's decay rate of the mean squared gradient");
  adam("epsilon", &AdamOptions::epsilon,
       "number that Adam adds to the root of the mean squared gradient");
  training("task", &TrainSettings::task, "task to learn");
  training("data", &TrainSettings::data, "fingerprint of the user's own pairs");
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

/// The first setting that keeps a run from being continued under other settings, as "heads 4, not
/// 8"; empty when there is none. The number of epochs may differ.
std::string difference(const TrainSettings& stored, const TrainSettings& wanted);

}  // namespace synergraph
#pragma GCC visibility pop
