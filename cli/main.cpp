
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <string>

#include "cli/output.h"
#include "cli/program.h"
#include "cli/stop_signals.h"
#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/io/system_error.h"

namespace {

constexpr int kBadData = 1;
constexpr int kBadUsage = 2;

/// One line on stderr, broken on a terminal alone, whatever bytes a file put into the message.
int fail(const std::string& message, int status) {
  synergraph::cli::print_error("synergraph: " +
                               synergraph::spelled(message, synergraph::OptionSpelling::kProgram));
  return status;
}

/// The exit status of a command that has done what it was asked for.
int run(int argc, char** argv) {
  CLI::App app{"How fast and how faithfully attention moves information to the last token."};
  synergraph::cli::add_commands(app);
  std::vector<std::string> arguments =
      synergraph::cli::understood(app, std::vector<std::string>(argv + 1, argv + argc));
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    synergraph::cli::print(app.help());
  } catch (const CLI::CallForVersion& version) {
    synergraph::cli::print(std::string(version.what()) + '\n');
  } catch (const CLI::RuntimeError& answer) {
    return answer.get_exit_code();
  } catch (const CLI::ParseError& error) {
    throw synergraph::UsageError(error.what());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  synergraph::cli::reserve_standard_streams();
  synergraph::cli::leave_nothing_on_signals();
  (void)std::signal(SIGXFSZ, SIG_IGN);  // a file over the limit is an error of the write
  try {
    const int status = argc > 0 ? run(argc, argv) : 0;
    synergraph::cli::finish_output();
    return status;
  } catch (const synergraph::UsageError& error) {
    return fail(error.what(), kBadUsage);
  } catch (const synergraph::Error& error) {
    return fail(error.what(), kBadData);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.path1().string() + ": " + synergraph::reason_text(error.code().value()),
                kBadData);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kBadData);
  } catch (const std::exception& error) {
    return fail(error.what(), kBadData);
  }
}
