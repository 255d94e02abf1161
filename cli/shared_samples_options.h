#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/output_paths.h"
#include "synergraph/analysis/shared_samples.h"
#include "synergraph/cluster/worker_place.h"
#include "synergraph/cluster/worker_settings.h"
#include "synergraph/core/execution.h"

namespace synergraph::cli {

/// The settings of a list.
template <class Settings>
std::vector<Setting> described_settings(Settings& settings) {
  std::vector<Setting> list;
  visit_settings(settings, [&](const Setting& setting, auto&&...) { list.push_back(setting); });
  return list;
}

/// Unless somebody says how many threads, those of one worker among the machine's.
void share_threads(Execution& execution, const WorkerPlace& place);

/// A worker among several that share the samples of one analysis.
class SharedSamplesArguments {
 public:
  /// `all`: the settings of the command.
  SharedSamplesArguments(const CLI::App& command, const SharedSamplesSettings& settings,
                         std::vector<Setting> all);

  bool wanted() const { return !settings_.shard_dir.empty(); }
  /// Of this worker, among those on its machine.
  int local_rank() const { return wanted() ? place().local_rank : 0; }
  /// UsageError for options that need a directory.
  void check() const;

  /// How samples are shared, for these files to read and to write, by workers that run models on
  /// such a device. All options of the command that are given count as settings, if they change
  /// numbers.
  SharedSamples resolve(const std::vector<NamedPath>& inputs,
                        const std::vector<std::string>& outputs, const std::string& device) const;

  /// Works on the samples until it is stopped, with the worker's part of the threads, and says what
  /// has come of it.
  void run(Execution& execution, const std::function<SharedEnd()>& work) const;

 private:
  WorkerPlace place() const { return parse_shard(settings_.shard); }
  /// "--eps=0.1": the options that were given and have this effect.
  std::string given(SettingEffect effect) const;

  const CLI::App& command_;
  const SharedSamplesSettings& settings_;
  std::vector<Setting> all_;
};

}  // namespace synergraph::cli
