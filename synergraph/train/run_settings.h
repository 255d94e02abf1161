#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/execution_settings.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/trainer.h"

namespace synergraph {

inline constexpr const char* kRunGroup = "Run";
inline constexpr Setting kOutSetting{
    .key = "out",
    .group = kRunGroup,
    .help = "directory of the run or study; created if it is missing",
    .value = "DIR",
    .faces = face::kProgram,
    .required = true};

/// The device that trains.
struct DeviceSettings {
  std::string device{kAutomatic};
  Precision precision = Precision::kTf32;

  /// For models of these shapes, each with so many sequences; see choose_device().
  Device choose(std::span<const FleetSettings> shapes, int sequences) const {
    return choose_device(device, precision, shapes, 0, sequences);
  }
};

/// See Setting.
template <class Visit>
void visit_settings(DeviceSettings& settings, Visit&& visit) {
  visit(device_setting(kRunGroup, face::kAll), settings.device);
  visit(Setting{.key = "precision",
                .group = kRunGroup,
                .help = "precision of products on a GPU: tf32 (operands of eleven bits), or "
                        "float32 at about half the speed. The CPU computes in float32"},
        settings.precision);
}

/// Seconds between checkpoints.
template <class Visit>
void visit_checkpoint_interval(double& interval, Visit& visit) {
  visit(Setting{.key = "checkpoint_every",
                .group = kRunGroup,
                .help = "seconds between the checkpoints of a training; there is also one at the "
                        "end and when it is stopped"},
        interval, NumberRange<double>{0.0});
}

/// A training run, and how it is carried out.
struct RunSettings : DeviceSettings {
  TrainSettings train;
  PairFiles pairs;
  std::vector<std::string> validation;  ///< inputs and targets, or nothing
  std::string out;
  bool resume = false;
  double checkpoint_every = 60.0;
  int track = 0;
  ExecutionSettings execution;

  /// All but the device and the execution.
  TrainOptions options() const;

  /// Gives what is not given the value that it has in the run in `out`, which is there.
  void resume_run(const std::function<bool(std::string_view key)>& given);

  /// What pairs of one's own say of the settings. UsageError where settings that are given say
  /// something else.
  void fit(const TrainingData& data, const std::function<bool(std::string_view key)>& given);
};

/// See Setting. The C interface and Python take pairs as arrays and the directory as an argument.
template <class Visit>
void visit_settings(RunSettings& settings, Visit&& visit) {
  constexpr const char* kData = "Data";
  constexpr unsigned kHere = face::kProgram;
  visit_settings(settings.train, visit);
  visit(Setting{.key = "data",
                .group = kData,
                .help = "file with your own input sequences",
                .value = "FILE",
                .faces = kHere,
                .needs = "targets"},
        settings.pairs.inputs);
  visit(Setting{.key = "targets",
                .group = kData,
                .help = "file with the targets of your own pairs, of the same shape as the inputs",
                .value = "FILE",
                .faces = kHere,
                .needs = "data"},
        settings.pairs.targets);
  visit(Setting{.key = "validation",
                .group = kData,
                .help = "inputs and targets to evaluate the model on, not used for training "
                        "(default: the first 100 training pairs)",
                .value = "FILE FILE",
                .faces = kHere,
                .count = 2,
                .needs = "data"},
        settings.validation);
  visit(kOutSetting, settings.out);
  visit(Setting{.key = "resume",
                .group = kRunGroup,
                .help = "continue the run in the directory, or start one if there is none; "
                        "settings that are not given are those of the run"},
        settings.resume);
  visit_checkpoint_interval(settings.checkpoint_every, visit);
  visit(Setting{.key = "track",
                .group = kRunGroup,
                .help = "measure mixing time and fidelity of every layer every N epochs, and log "
                        "them; 0: never"},
        settings.track, NumberRange<int>{});
  visit_settings(static_cast<DeviceSettings&>(settings), visit);
  visit_settings(settings.execution, visit);
}

}  // namespace synergraph
