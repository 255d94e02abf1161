#pragma once

#include <optional>
#include <string>

#include "synergraph/cluster/worker_settings.h"
#include "synergraph/study/grid_request.h"
#include "synergraph/train/run_settings.h"

namespace synergraph {

/// A study, and how it is carried out: sg_reproduce() and the command reproduce.
struct StudySettings : DeviceSettings {
  GridRequest request;
  std::string out;
  int jobs = 0;
  double checkpoint_every = 60.0;
  bool merge = false;
  ExecutionSettings execution;
  WorkerSettings workers;

  /// All but the device, the worker's place and the execution.
  GridOptions options() const {
    GridOptions options;
    options.directory = out;
    options.jobs = jobs;
    options.checkpoint_interval = checkpoint_every;
    options.merge_only = merge;
    options.wait = !workers.leave;
    options.timeout = workers.claim_timeout;
    return options;
  }
};

/// See Setting.
template <class Visit>
void visit_settings(StudySettings& settings, Visit&& visit) {
  visit_settings(settings.request, visit);
  visit(kOutSetting, settings.out);
  visit(Setting{.key = "jobs",
                .group = kRunGroup,
                .help = "cells to run at the same time; they share the threads. On a GPU: sets of "
                        "up to 64 cells of one shape. 0: one; on a GPU more if they are small"},
        settings.jobs, NumberRange<int>{0, 4096});
  visit_checkpoint_interval(settings.checkpoint_every, visit);
  visit_settings(static_cast<DeviceSettings&>(settings), visit);
  visit_settings(settings.execution, visit);
  visit_settings(settings.workers, visit);
  visit(Setting{.key = "merge",
                .group = kWorkersGroup,
                .help = "only write the tables and figures from results that are already there",
                .faces = face::kProgram},
        settings.merge);
}

}  // namespace synergraph
