#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace synergraph {

/// Identifies a process among all processes that ever ran on any machine.
struct ProcessIdentity {
  std::string host;
  std::string boot;   ///< boot identifier of the kernel; empty where the system does not provide it
  std::string space;  ///< process namespace: containers number their processes separately
  pid_t process = 0;
  std::uint64_t start = 0;  ///< start time, in ticks since boot
};

/// This process.
ProcessIdentity this_process();

enum class Life { kAlive, kDead, kUnknown };

/// Returns whether a process still runs. The answer is unknown unless the process is on this
/// machine and visible from here.
Life life_of(const ProcessIdentity& identity);

}  // namespace synergraph
