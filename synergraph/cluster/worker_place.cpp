#include "synergraph/cluster/worker_place.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

std::optional<int> number_in(const Environment& environment, const char* name) {
  const char* text = environment(name);
  int value = 0;
  if (text == nullptr || !parse_number(std::string_view(text), value) || value < 0)
    return std::nullopt;
  return value;
}

/// What a launcher tells its processes.
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

// mpirun under Slurm leaves Slurm's own variables of its daemons: MPI comes first.
constexpr std::array kLaunchers = {
    Launcher{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
             "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
             "MV2_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
};

WorkerPlace place_of(const Environment& environment, const Launcher& launcher, int rank, int size) {
  return {rank, size, number_in(environment, launcher.local_rank).value_or(0),
          std::max(1, number_in(environment, launcher.local_size).value_or(1))};
}

/// The tasks on the K-th node of a list such as "2(x3),1".
int tasks_on_node(std::string_view list, int node) {
  for (const std::string_view part : split(list, ',')) {
    int tasks = 0;
    int times = 1;
    const std::size_t length = parse_leading_number(part, tasks);
    if (length == 0) return 1;
    if (part.substr(length).starts_with("(x")) parse_leading_number(part.substr(length + 2), times);
    if (node < times) return tasks;
    node -= times;
  }
  return 1;
}

/// Only what srun has started is one of its tasks: a batch script has the variables, too, and runs
/// once.
std::optional<WorkerPlace> slurm_step(const Environment& environment) {
  const auto rank = number_in(environment, "SLURM_PROCID");
  const auto size = number_in(environment, "SLURM_STEP_NUM_TASKS");
  if (!rank || !size || *rank >= *size) return std::nullopt;
  WorkerPlace place{*rank, *size, number_in(environment, "SLURM_LOCALID").value_or(0), 1};
  if (const char* tasks = environment("SLURM_STEP_TASKS_PER_NODE"))
    place.local_size =
        std::max(1, tasks_on_node(tasks, number_in(environment, "SLURM_NODEID").value_or(0)));
  return place;
}

WorkerPlace launched(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_in(environment, launcher.rank);
    const auto size = number_in(environment, launcher.size);
    if (rank && size && *rank < *size) return place_of(environment, launcher, *rank, *size);
  }
  return slurm_step(environment).value_or(WorkerPlace{});
}

/// A task of an array is as many workers as it starts itself.
WorkerPlace in_array(const Environment& environment, WorkerPlace place) {
  const auto task = number_in(environment, "SLURM_ARRAY_TASK_ID");
  const auto count = number_in(environment, "SLURM_ARRAY_TASK_COUNT");
  if (!task || !count || *count < 1) return place;
  const int least = number_in(environment, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const int step = std::max(1, number_in(environment, "SLURM_ARRAY_TASK_STEP").value_or(1));
  // Of an array with gaps two tasks may get one place: they share its work.
  const int index = std::max(0, *task - least) / step % *count;
  place.rank += index * place.size;
  place.size *= *count;
  return place;
}

}  // namespace

std::string WorkerPlace::name() const {
  return fmt::format("worker {} of {}", rank + 1, size);
}

const char* process_environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
}

WorkerPlace parse_shard(std::string_view text, const Environment& environment) {
  if (text == "off") return {};
  if (text == "auto") return in_array(environment, launched(environment));
  const std::size_t slash = text.find('/');
  int number = 0;
  int size = 0;
  if (slash != std::string_view::npos && parse_number(text.substr(0, slash), number) &&
      parse_number(text.substr(slash + 1), size) && number >= 1 && number <= size)
    return {number - 1, size};
  throw UsageError(fmt::format("{}: expected I/N with I from 1 to N, off or auto, got {}",
                               option_mark("shard"), quoted_text(std::string(text))));
}

std::string launch_name(const Environment& environment) {
  const auto text = [&](const char* name) {
    const char* value = environment(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string job = text("PMIX_NAMESPACE"); !job.empty()) return printable(job);
  if (slurm_step(environment)) return printable(text("SLURM_JOB_ID") + '.' + text("SLURM_STEP_ID"));
  return printable(text("SLURM_ARRAY_JOB_ID"));
}

int worker_threads(const WorkerPlace& place, int allowed, int online,
                   const Environment& environment) {
  if (const auto own = number_in(environment, "SLURM_CPUS_PER_TASK"); own && *own > 0)
    return std::min(allowed, *own);
  const int node = number_in(environment, "SLURM_CPUS_ON_NODE").value_or(online);
  return std::max(1, std::min(allowed, node / place.local_size));
}

int worker_threads(const WorkerPlace& place) {
  const int allowed = default_thread_count();
  return worker_threads(place, allowed,
                        std::max(allowed, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))));
}

}  // namespace synergraph
