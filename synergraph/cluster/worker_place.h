#pragma once

#include <functional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// Which of several workers this process is: processes that share one work, each a part of it.
struct WorkerPlace {
  int rank = 0;  ///< 0 to size - 1
  int size = 1;
  int local_rank = 0;  ///< likewise among those on this machine
  int local_size = 1;

  bool alone() const { return size == 1; }
  std::string name() const;  ///< "worker 2 of 4": people count from 1
  bool operator==(const WorkerPlace&) const = default;
};

/// The value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;
const char* process_environment(const char* name);

/// "I/N": the I-th of N workers, from 1; "off": alone; "auto": what the environment of srun, of a
/// Slurm array, of both, or of mpirun (Open MPI, MPICH, Intel MPI and others with PMI) says, alone
/// where it says nothing. UsageError for anything else.
WorkerPlace parse_shard(std::string_view text,
                        const Environment& environment = process_environment);

/// What all workers have in common that one launch has started, by srun, by an array or by an
/// mpirun with PMIx; empty where the environment does not tell.
std::string launch_name(const Environment& environment = process_environment);

/// Threads for a worker where nobody says how many: its part of the CPUs that it may run on, unless
/// the launcher has bound it to that part already. `allowed`: those CPUs; `online`: the machine's.
int worker_threads(const WorkerPlace& place, int allowed, int online,
                   const Environment& environment = process_environment);
/// The same on this machine.
int worker_threads(const WorkerPlace& place);

}  // namespace synergraph
#pragma GCC visibility pop
