#pragma once

#include "synergraph/core/execution.h"
#include "synergraph/core/setting.h"

#pragma GCC visibility push(default)
namespace synergraph {

inline constexpr NumberRange<int> kThreadCounts{0, 4096};

struct ThreadSettings {
  int threads = 0;
};

/// See Setting. The C interface takes threads with every call (sg_call).
template <class Visit>
void visit_settings(ThreadSettings& settings, Visit&& visit) {
  visit(Setting{.key = "threads",
                .group = "Execution",
                .help = "number of threads; 0: all CPUs. Results do not depend on it",
                .faces = face::kProgram,
                .effect = SettingEffect::kExecution},
        settings.threads, kThreadCounts);
}

struct ExecutionSettings : ThreadSettings {
  bool quiet = false;
};

/// See Setting.
template <class Visit>
void visit_settings(ExecutionSettings& settings, Visit&& visit) {
  visit_settings(static_cast<ThreadSettings&>(settings), visit);
  visit(Setting{.key = "quiet",
                .group = "Execution",
                .help = "print no progress on stderr",
                .faces = face::kProgram,
                .effect = SettingEffect::kExecution},
        settings.quiet);
}

/// Returns the description of a device's name, for what runs or trains models.
constexpr Setting device_setting(std::string_view group, unsigned faces) {
  return {.key = "device",
          .group = group,
          .help =
              "device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the "
              "second), ..., or auto: a GPU if there is one that can, else the CPU. A GPU "
              "also measures what it can",
          .faces = faces,
          .effect = SettingEffect::kExecution};
}

/// Returns the same for what measures attention. Commands have the device with their input.
constexpr Setting measuring_device_setting(std::string_view group, unsigned faces) {
  return {.key = "device",
          .group = group,
          .help =
              "device that runs models and measures attention: cpu, cuda (the first GPU), "
              "cuda:1 (the second), ..., cuda:all (to measure), or auto: a GPU if there is one "
              "that can and the work is long enough for it, else the CPU (default: cpu; in C "
              "and Python auto)",
          .faces = faces,
          .effect = SettingEffect::kExecution};
}

}  // namespace synergraph
#pragma GCC visibility pop
