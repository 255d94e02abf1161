#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/setting_option.h"
#include "synergraph/core/error.h"
#include "synergraph/report/command_settings.h"
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

void run_verify(VerifySettings& settings) {
  std::vector<NamedPath> checkpoints;
  for (const std::string& path : published_checkpoints(settings.checkpoints))
    checkpoints.push_back({"a checkpoint", path});
  check_outputs({{"--json", settings.json}}, checkpoints);
  VerifyOptions& options = settings.options;
  options.execution = execution_of(settings.execution);
  std::vector<VerifiedModel> models;
  run_until_stopped(options.execution,
                    [&] { models = verify_checkpoints(settings.checkpoints, options); });
  if (!settings.json.empty()) write_output(settings.json, json_report(models, options));
  if (settings.json != "-") print(format_report(models, options, output_columns()));
  int disagreeing = 0;
  for (const VerifiedModel& model : models) disagreeing += model.agrees() ? 0 : 1;
  if (disagreeing > 0)
    throw InputError(
        fmt::format("{} of {} models disagree with the paper", disagreeing, models.size()));
}

}  // namespace

void add_verify_command(CLI::App& app) {
  add_command<VerifySettings>(app, "verify", kVerifyAbout, kVerifyFooter, run_verify);
}

}  // namespace synergraph::cli
