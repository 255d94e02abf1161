#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "synergraph/cluster/work_status.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"

namespace synergraph::cli {
namespace {

constexpr const char* kStatusAbout =
    "How far a shared study or analysis has come, and who works on it";

constexpr const char* kStatusFooter =
    R"(DIR is the --out of reproduce or the --shard-dir of analyze or heads. It may be looked at from any
machine at any time; nothing is locked.

Exit status 1: something has failed, or DIR cannot be read.

Example
  synergraph status out)";

void run_status(const std::string& directory) {
  std::size_t failed = 0;
  for (const WorkStatus& work : work_status(directory)) {
    print(printable_lines(format_status(work)));
    failed += work.failures.size();
  }
  if (failed > 0) throw InputError(fmt::format("{}: {} failed", directory, failed));
}

}  // namespace

void add_status_command(CLI::App& app) {
  const auto directory = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("status", kStatusAbout);
  command.footer(kStatusFooter);
  command.add_option("DIR", *directory, "directory that the workers share")
      ->required()
      ->type_name("DIR");
  command.callback([directory] { run_status(*directory); });
}

}  // namespace synergraph::cli
