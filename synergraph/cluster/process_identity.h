#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace synergraph {

/// A process among all that ever ran on any machine.
struct ProcessIdentity {
  std::string host;
  std::string boot;   ///< of its kernel; empty where the system does not tell
  std::string space;  ///< its numbering of processes: containers have their own
  pid_t process = 0;
  std::uint64_t start = 0;  ///< when it began, in ticks since boot
};

/// This process.
ProcessIdentity this_process();

enum class Life { kAlive, kDead, kUnknown };

/// Whether a process still runs; unknown unless it is one of this machine, and seen from here.
Life life_of(const ProcessIdentity& identity);

}  // namespace synergraph
