#pragma once

#include <CLI/CLI.hpp>

#include "cli/number_option.h"
#include "synergraph/train/settings.h"

namespace synergraph::cli {

/// Every setting of a training that is one number for a single run and for a whole study alike:
/// visit(option, get, help, group), where get(settings) is a reference to it.
template <class Visit>
void visit_training_settings(const Visit& visit) {
  const char* group = "Model";
  const auto model = [&](const char* name, auto member, const char* help) {
    visit(
        name, [member](auto& settings) -> auto& { return settings.model.*member; }, help, group);
  };
  model("--layers", &ModelConfig::layers, "Layers");
  model("--width", &ModelConfig::width, "Features of a position");
  model("--hidden", &ModelConfig::hidden, "Hidden units of each MLP");
  model("--vocabulary", &ModelConfig::vocabulary, "Tokens are 0 .. V-1");
  model("--length", &ModelConfig::length, "Tokens of a sequence");

  group = "Training";
  const auto training = [&](const char* name, auto member, const char* help) {
    visit(
        name, [member](auto& settings) -> auto& { return settings.*member; }, help, group);
  };
  const auto adam = [&](const char* name, auto member, const char* help) {
    visit(
        name, [member](auto& settings) -> auto& { return settings.adam.*member; }, help, group);
  };
  training("--batch", &TrainSettings::batch, "Sequences a step");
  training("--dropout", &TrainSettings::dropout, "On attention probabilities and after each MLP");
  adam("--learning-rate", &AdamOptions::learning_rate, "Adam's step size");
  adam("--beta1", &AdamOptions::beta1, "Adam's decay of the mean gradient");
  adam("--beta2", &AdamOptions::beta2, "Adam's decay of the mean squared gradient");
  adam("--epsilon", &AdamOptions::epsilon, "Added to the root of the latter");
}

/// Options for all of these.
inline void add_training_settings(CLI::App& command, TrainSettings& settings) {
  visit_training_settings([&](const char* name, auto get, const char* help, const char* group) {
    add_number(command, name, get(settings), help)->group(group);
  });
}

}  // namespace synergraph::cli
