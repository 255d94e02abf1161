#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/number_option.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "synergraph/core/error.h"
#include "synergraph/report/verify_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kVerifyAbout = "Compare the authors' checkpoints with the paper's tables";

constexpr const char* kVerifyFooter =
    R"(DIR holds the authors' models, named as in their repository: 4_heads_copy.pt, 16_heads_cycle.pt, ...
Whichever are there are measured on random sequences by the convention of the published tables, and
beside it by the exact one. Nothing in a file is executed.

Exit status 0: every published cell of these models agrees; 1: at least one does not, or a file
cannot be read. A cell agrees when the difference of the means, less the rounding of the published
one, is at most 4 standard errors of that difference.

Examples
  synergraph verify --checkpoints models
  synergraph verify --checkpoints models --samples 5000 --json verify.json)";

struct VerifyArguments {
  std::string directory;
  VerifyOptions options;
  std::string json;
};

void run_verify(VerifyArguments& arguments) {
  std::vector<NamedPath> checkpoints;
  for (const std::string& path : published_checkpoints(arguments.directory))
    checkpoints.push_back({"a checkpoint", path});
  check_outputs({{"--json", arguments.json}}, checkpoints);
  std::vector<VerifiedModel> models;
  run_until_stopped(arguments.options.execution,
                    [&] { models = verify_checkpoints(arguments.directory, arguments.options); });
  if (!arguments.json.empty()) write_output(arguments.json, json_report(models, arguments.options));
  if (arguments.json != "-") print(format_report(models, arguments.options, output_columns()));
  int disagreeing = 0;
  for (const VerifiedModel& model : models) disagreeing += model.agrees() ? 0 : 1;
  if (disagreeing > 0)
    throw InputError(
        fmt::format("{} of {} models disagree with the paper", disagreeing, models.size()));
}

}  // namespace

void add_verify_command(CLI::App& app) {
  const auto arguments = std::make_shared<VerifyArguments>();
  VerifyOptions& options = arguments->options;
  CLI::App& command = *app.add_subcommand("verify", kVerifyAbout);
  command.footer(kVerifyFooter);
  command.add_option("--checkpoints", arguments->directory, "directory of the authors' models")
      ->required()
      ->type_name("DIR");
  add_number(command, "--samples", options.samples, "number of random sequences to measure on",
             {2, 10000000});
  add_number(command, "--seed", options.seed, "seed of the random sequences");
  command
      .add_option("--json", arguments->json,
                  "write everything as JSON; - for standard output instead of the tables")
      ->type_name("FILE");
  add_execution_options(command, options.execution);
  command.callback([arguments] { run_verify(*arguments); });
}

}  // namespace synergraph::cli
