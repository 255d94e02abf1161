#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "capi/options.h"
#include "synergraph/train/make_fleet.h"
#include "synergraph/train/settings.h"

namespace synergraph::capi {

/// Which of the settings that data can decide were given.
struct Given {
  bool sequences = false;
  bool length = false;
  bool batch = false;
};

/// Every setting of a training that is a number, by its name, but for those in `without`.
Given take_settings(Options& options, TrainSettings& settings,
                    std::initializer_list<std::string_view> without);

/// "device" and "precision".
struct DeviceChoice {
  std::string name{kAutomatic};
  Precision precision = Precision::kTf32;

  /// See choose_device().
  Device choose(std::span<const FleetSettings> shapes, int sequences) const {
    return choose_device(name, precision, shapes, 0, sequences);
  }
};
DeviceChoice take_device(Options& options);

/// "checkpoint_every", in seconds.
double take_checkpoint_interval(Options& options);

}  // namespace synergraph::capi
