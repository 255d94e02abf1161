#include "cli/shard_options.h"

#include <fmt/core.h>

#include "cli/number_option.h"

namespace synergraph::cli {

void ShardArguments::add_to(CLI::App& command, const std::string& group) {
  command
      .add_option("--shard", shard,
                  "The I-th of N workers that share the work; auto: what srun, a Slurm array or "
                  "mpirun says; off: do all of it")
      ->type_name("I/N|auto|off")
      ->capture_default_str()
      ->group(group);
  command
      .add_flag("--leave", leave,
                "Leave when there is nothing left to take, and do not wait for other workers")
      ->group(group);
  add_number(command, "--claim-timeout", timeout,
             "Seconds of silence after which other machines take this worker for dead", {1.0, 1e6})
      ->group(group);
}

void share_threads(Execution& execution, const WorkerPlace& place) {
  if (place.alone()) return;
  if (execution.threads == 0) execution.threads = worker_threads(place);
  execution.progress.prefix = fmt::format("{}/{}: ", place.rank + 1, place.size);
}

}  // namespace synergraph::cli
