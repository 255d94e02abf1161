#include "cli/execution_options.h"

#include "cli/number_option.h"
#include "cli/stop_signals.h"

namespace synergraph::cli {
namespace {

void put_into(const std::string& group, CLI::Option* option) {
  if (!group.empty()) option->group(group);
}

}  // namespace

void add_execution_options(CLI::App& command, Execution& execution, const std::string& group) {
  execution.progress.stream = stderr;
  put_into(group, add_number(command, "--threads", execution.threads, kThreadsHelp, kThreadCounts));
  put_into(group, command.add_flag_callback(
                      "--quiet", [&execution] { execution.progress.stream = nullptr; },
                      "print no progress on stderr"));
}

void DeviceArguments::add_to(CLI::App& command, const std::string& group) {
  put_into(
      group,
      command
          .add_option("--device", name,
                      "device to compute on: cpu, cuda (the first GPU), cuda:1 (the second), ..., "
                      "or auto: a GPU if there is one that can train such models, else "
                      "the CPU")
          ->capture_default_str());
  put_into(
      group,
      command
          .add_option("--precision", precision,
                      "precision of products on a GPU: tf32 (operands of eleven bits), or float32 "
                      "at about half the speed. The CPU computes in float32")
          ->check(CLI::IsMember(all_names<Precision>()))
          ->capture_default_str());
}

Device DeviceArguments::choose(std::span<const FleetSettings> shapes, int sequences) const {
  return choose_device(name, *parse_name<Precision>(precision), shapes, 0, sequences);
}

void run_until_stopped(Execution& execution, const std::function<void()>& body) {
  execution.stop = StopOnSignals::requested;
  try {
    const StopOnSignals signals;
    body();
    return;
  } catch (const Stopped&) {
  }
  StopOnSignals::end_program();
}

}  // namespace synergraph::cli
