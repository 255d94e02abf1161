#pragma once

#include <string>

#include "synergraph/core/setting.h"

namespace synergraph {

/// What a worker among several is told.
struct WorkerSettings {
  std::string shard = "auto";
  bool leave = false;
  double claim_timeout = 60.0;
};

inline constexpr const char* kWorkersGroup = "Workers";

/// See Setting.
template <class Visit>
void visit_settings(WorkerSettings& settings, Visit&& visit) {
  const auto described = [](std::string_view key, std::string_view help, std::string_view value) {
    return Setting{.key = key,
                   .group = kWorkersGroup,
                   .help = help,
                   .value = value,
                   .faces = face::kProgram,
                   .effect = SettingEffect::kExecution};
  };
  visit(described("shard",
                  "place of this worker, the I-th of N; auto: as srun, a Slurm array or mpirun "
                  "says; off: no sharing",
                  "I/N|auto|off"),
        settings.shard);
  visit(described("leave", "exit when no work is left to take, without waiting for other workers",
                  ""),
        settings.leave);
  visit(described("claim_timeout",
                  "seconds of silence after which other workers take this worker's work over", ""),
        settings.claim_timeout, NumberRange<double>{1.0, 1e6});
}

/// A worker among several that share the samples of one analysis.
struct SharedSamplesSettings : WorkerSettings {
  std::string shard_dir;
};

/// See Setting.
template <class Visit>
void visit_settings(SharedSamplesSettings& settings, Visit&& visit) {
  visit(Setting{.key = "shard_dir",
                .group = kWorkersGroup,
                .help = "directory through which several workers, started with the same command, "
                        "share the samples; the last one writes the outputs. Results of the same "
                        "options and the same FILE are reused. A FILE above 16 MiB is the same "
                        "if its size, its times and sampled blocks are",
                .value = "DIR",
                .faces = face::kProgram,
                .effect = SettingEffect::kExecution},
        settings.shard_dir);
  visit_settings(static_cast<WorkerSettings&>(settings), visit);
}

}  // namespace synergraph
