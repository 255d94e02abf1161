#include "synergraph/cluster/process_identity.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "synergraph/core/parse_number.h"

namespace synergraph {
namespace {

struct ProcessState {
  char state = '?';         ///< as ps(1) has it; '?' where it cannot be seen
  std::uint64_t start = 0;  ///< in ticks since boot
};

/// From /proc/PID/stat: "PID (NAME) STATE ...", the start being the 22nd field.
ProcessState state_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(text.substr(name_end + 1));
  ProcessState state;
  fields >> state.state;
  constexpr int kAfterState = 19;  // the start
  std::string field;
  for (int k = 0; k < kAfterState; ++k) fields >> field;
  parse_number(field, state.start);
  return state;
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

ProcessIdentity this_process() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  (void)gethostname(host.data(), host.size() - 1);
  std::error_code unknown;
  return {host.data(), first_line("/proc/sys/kernel/random/boot_id"),
          std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string(), getpid(),
          state_of(getpid()).start};
}

Life life_of(const ProcessIdentity& identity) {
  const ProcessIdentity here = this_process();
  if (here.boot.empty() || here.space.empty() || identity.host != here.host ||
      identity.boot != here.boot || identity.space != here.space)
    return Life::kUnknown;
  if (kill(identity.process, 0) != 0 && errno == ESRCH) return Life::kDead;
  const ProcessState now = state_of(identity.process);
  if (now.state == 'Z' || now.state == 'X') return Life::kDead;  // killed, and nobody has noticed
  return now.start != 0 && now.start != identity.start ? Life::kDead : Life::kAlive;
}

}  // namespace synergraph
