#pragma once

#include <functional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// The rank of this process among several workers that share one task.
struct WorkerPlace {
  int rank = 0;  ///< 0 to size - 1
  int size = 1;
  int local_rank = 0;  ///< rank among the workers on this machine
  int local_size = 1;

  bool alone() const { return size == 1; }
  std::string name() const;  ///< "worker 2 of 4": people count from 1
  bool operator==(const WorkerPlace&) const = default;
};

/// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;
const char* process_environment(const char* name);

/// Parses a shard: "I/N" is the I-th of N workers, from 1, and "off" is a single worker. "auto"
/// reads the environment of srun, of a Slurm array, of both, or of mpirun. mpirun may be Open MPI,
/// MPICH, Intel MPI or another launcher with PMI. Without such an environment, "auto" means a
/// single worker. Throws UsageError for any other text.
WorkerPlace parse_shard(std::string_view text,
                        const Environment& environment = process_environment);

/// A name that all workers of one launch share; srun, an array or an mpirun with PMIx starts a
/// launch. Empty if the environment does not name the launch.
std::string launch_name(const Environment& environment = process_environment);

/// The default number of threads of a worker: its part of the CPUs that the worker may use. If the
/// launcher has already bound the worker to its part, the worker uses that whole part. `allowed` is
/// the number of CPUs that the worker may use; `online` is the number in the machine.
int worker_threads(const WorkerPlace& place, int allowed, int online,
                   const Environment& environment = process_environment);
/// The default number of threads on this machine.
int worker_threads(const WorkerPlace& place);

}  // namespace synergraph
#pragma GCC visibility pop
