#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cli/attention_input.h"
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/setting_option.h"
#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/input_file.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/compare_figure.h"
#include "synergraph/report/compare_input.h"
#include "synergraph/report/compare_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kCompareAbout =
    "Compare two results by layer and head: checkpoints, prompts, before and after fine-tuning";

constexpr const char* kCompareFooter =
    R"(Differences are B - A. A and B are documents of analyze --json, tables of samples of analyze
--per-sample, or files that analyze reads. Tables of samples and measured files have the numbers of
every sample, so sample k of A is paired with sample k of B. Both must be the same text: use
--pairing none if they are not. Documents hold means only and are compared without pairs.

Options of the groups Input and Measurement are for files that are measured, and hold for both.

Examples
  synergraph compare before.csv after.csv
  synergraph compare epoch1.safetensors epoch9.safetensors --task copy --samples 200
  synergraph compare short.json long.json --quantities minimax_fidelity --figure change.pdf
  synergraph compare base.npy tuned.npy --per-head --json change.json)";

/// The text of a result. Nothing for a file that has to be measured.
std::optional<std::string> result_in(const std::string& path) {
  if (path == kStandardInput)
    throw UsageError("compare reads files only; save standard input to a file first");
  InputFile file(path);
  constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  if (!file.is_regular()) return file.read(kMostBytes);  // a pipe can be read only once
  std::string beginning(64, '\0');
  const ssize_t got = pread(file.descriptor(), beginning.data(), beginning.size(), 0);
  beginning.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const bool named_so = path.ends_with(".json") || path.ends_with(".csv");
  return named_so || begins_like_result(beginning) ? std::optional(file.read(kMostBytes))
                                                   : std::nullopt;
}

/// UsageError for an option that has no effect, as nothing is measured.
void refuse_measuring_options(const CLI::App& command, CompareCommandSettings& settings) {
  const auto check = [&](const Setting& setting, const auto&...) {
    if (!setting.offered(face::kProgram) || setting.positional || setting.key == "device") return;
    if (command.get_option(option_name(setting.key))->count() > 0)
      throw UsageError(
          fmt::format("{}: both files hold results, so nothing is measured; leave "
                      "this option out",
                      option_name(setting.key)));
  };
  visit_settings(settings.input, check);
  visit_settings(settings.measured, only_for(face::kProgram, check));
}

ComparedSide measured(const std::string& path, CompareCommandSettings& settings,
                      Execution& execution) {
  settings.input.file = path;
  const AttentionArguments arguments(settings.input, settings.measured.edges);
  AnalyzeReport report;
  report.range = arguments.token_range();
  report.edges = settings.measured.edges.kind();
  report.per_head = true;
  report.conventions = settings.measured.metrics.convention.names;
  AnalysisOptions options = analysis_options(settings.measured.metrics, settings.measured.per_head);
  options.execution = execution;
  options.device = settings.input.device;
  const AttentionInput input = arguments.open(report.range);
  report.analysis = analyse(*input.source, input.weights, options);
  return compared_side(report, path);
}

void run_compare(const CLI::App& command, CompareCommandSettings& settings) {
  const std::string& figure = settings.figure.figure;
  const FigureOptions drawing = figure_options(settings.figure, settings.figure.figure_names);
  check_outputs({{"--figure", figure}, {"--csv", settings.csv}, {"--json", settings.json}},
                {{"A", settings.a}, {"B", settings.b}});
  if (!figure.empty()) check_figure(figure);
  const bool shown = !to_standard_output({settings.csv, settings.json});
  const std::optional<std::string> text_a = result_in(settings.a);
  const std::optional<std::string> text_b = result_in(settings.b);
  if (text_a && text_b) refuse_measuring_options(command, settings);
  Execution execution = execution_of(settings.execution);
  CompareReport report;
  report.verbose = settings.verbose;
  run_until_stopped(execution, [&] {
    const auto side = [&](const std::string& path, const std::optional<std::string>& text) {
      return text ? parse_result(*text, path, settings.compared.sinks)
                  : measured(path, settings, execution);
    };
    const ComparedSide a = side(settings.a, text_a);
    const ComparedSide b = side(settings.b, text_b);
    report.comparison = compare(a, b, settings.compared);
  });
  if (!figure.empty()) draw_comparison_figure(figure, report, drawing);
  if (!settings.csv.empty()) write_output(settings.csv, format_csv(csv_table(report)));
  if (!settings.json.empty()) write_output(settings.json, json_report(report));
  if (shown) print(format_report(report, output_columns()));
}

}  // namespace

void add_compare_command(CLI::App& app) {
  add_command<CompareCommandSettings>(app, "compare", kCompareAbout, kCompareFooter, run_compare);
}

}  // namespace synergraph::cli
