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
  put_into(group, add_number(command, "--threads", execution.threads, "Threads (0: all CPUs)",
                             kThreadCounts));
  put_into(group, command.add_flag_callback(
                      "--quiet", [&execution] { execution.progress.stream = nullptr; },
                      "No progress on stderr"));
}

void add_device_option(CLI::App& command, std::string& device, const std::string& group) {
  device = "auto";
  put_into(group, command
                      .add_option("--device", device,
                                  "What trains: cpu, cuda (a GPU), or auto: a GPU if there is one "
                                  "that can train such models, else the CPU")
                      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
                      ->capture_default_str());
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
