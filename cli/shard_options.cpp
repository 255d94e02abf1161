#include "cli/shard_options.h"

#include <fmt/core.h>

#include "cli/number_option.h"

namespace synergraph::cli {

void ShardArguments::add_to(CLI::App& command, const std::string& group) {
  command
      .add_option(
          "--shard", shard,
          "place of this worker, the I-th of N; auto: as srun, a Slurm array or mpirun says; off: "
          "no sharing")
      ->type_name("I/N|auto|off")
      ->capture_default_str()
      ->group(group);
  command
      .add_flag("--leave", leave,
                "exit when no work is left to take, without waiting for other workers")
      ->group(group);
  add_number(command, "--claim-timeout", timeout,
             "seconds of silence after which other workers take this worker's work over",
             {1.0, 1e6})
      ->group(group);
}

void share_threads(Execution& execution, const WorkerPlace& place) {
  if (place.alone()) return;
  if (execution.threads == 0) execution.threads = worker_threads(place);
  execution.progress.prefix = fmt::format("{}/{}: ", place.rank + 1, place.size);
}

}  // namespace synergraph::cli
