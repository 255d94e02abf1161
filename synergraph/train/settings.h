#pragma once

#include <map>
#include <string>
#include <vector>

#include "synergraph/train/fleet.h"

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
