#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "synergraph/cluster/work_status.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/train/checkpoint.h"

namespace synergraph::cli {
namespace {

constexpr const char* kStatusAbout =
    "How far a shared study or analysis has come, and who works on it";

constexpr const char* kStatusFooter =
    R"(DIR is the --out of reproduce or the --shard-dir of analyze or heads. It may be looked at from any
machine at any time; nothing is locked.

Exit status 0: all is done, or may still be; 1: something has failed or is damaged, or DIR cannot be
read. With --finished: 3 where not all is done yet, for scripts that wait.

Examples
  synergraph status out
  while synergraph status --finished out; [ $? -eq 3 ]; do sleep 60; done)";

constexpr int kUnfinished = 3;

/// Of a cell, by its last checkpoint.
double share_trained(const std::string& directory) {
  const std::optional<RunSteps> steps = read_steps(directory);
  if (!steps || steps->total == 0) return 0.0;
  return static_cast<double>(steps->done) / static_cast<double>(steps->total);
}

void run_status(const std::string& directory, bool finished) {
  std::size_t failed = 0;
  std::size_t damaged = 0;
  bool all = true;
  for (const WorkStatus& work : work_status(directory, share_trained)) {
    print(printable_lines(format_status(work, output_columns())));
    failed += work.failures.size();
    damaged += work.damaged.size();
    all = all && work.finished();
  }
  if (failed > 0) throw InputError(fmt::format("{}: {} failed", directory, failed));
  if (damaged > 0) throw InputError(fmt::format("{}: {} damaged", directory, damaged));
  if (finished && !all) throw CLI::RuntimeError(kUnfinished);
}

}  // namespace

void add_status_command(CLI::App& app) {
  add_command<StatusSettings>(
      app, "status", kStatusAbout, kStatusFooter,
      [](StatusSettings& settings) { run_status(settings.directory, settings.finished); });
}

}  // namespace synergraph::cli
