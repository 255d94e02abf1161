
#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/setting_option.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/families_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kFamiliesAbout =
    "Compare families of feedforward graphs: mixing time against fidelity, as the graphs grow";

constexpr const char* kFamiliesFooter =
    R"(A family is a generator without the number of nodes and the seed:
  indegree:K  expander:D  poisson:P:K  fs:K[:RATIO]  fs-original  longformer:WINDOW:GLOBAL
  bigbird:WINDOW:GLOBAL:RANDOM  dilated:WINDOW:STEP  power
K, D and WINDOW may depend on the number of nodes n: log (log2 n, rounded up), 4log, sqrt, 2sqrt.
docs/graphs.md defines the families and the columns.

Examples
  synergraph families --sizes 64,256,1024 --figure families.svg
  synergraph families --families fs:log,fs:2log,fs:4log --sizes 1024,16384 --csv growth.csv)";

void run_families(FamiliesCommandSettings& settings) {
  const FigureOptions figure = figure_options(settings.look);
  check_outputs({{"--csv", settings.csv}, {"--figure", settings.figure}}, {});
  if (!settings.figure.empty()) check_figure(settings.figure);
  Execution execution = execution_of(settings.execution);
  std::vector<FamilyGraph> graphs;
  run_until_stopped(execution, [&] { graphs = measure_families(settings.measured, execution); });
  if (!settings.csv.empty()) write_output(settings.csv, format_csv(csv_table(graphs)));
  if (!settings.figure.empty()) draw_families_figure(settings.figure, graphs, figure);
  if (settings.csv != "-") print(format_text(families_table(graphs), output_columns()));
}

}  // namespace

void add_families_command(CLI::App& app) {
  add_command<FamiliesCommandSettings>(app, "families", kFamiliesAbout, kFamiliesFooter,
                                       run_families);
}

}  // namespace synergraph::cli
