#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/setting_option.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/design_report.h"
#include "synergraph/report/families_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kDesignAbout =
    "Search for sparse graphs, or heads, of high fidelity within limits on edges and mixing time";

constexpr const char* kDesignFooter =
    R"(The search starts from layers and collectors, from families of graphs, and from random edges. It
changes edges one by one and measures every change exactly. docs/graphs.md explains the method.

Examples
  synergraph design --size 256 --indegree 4log --averaged-mixing 15
  synergraph design --size 256 --heads 4 --edges 9000 --seconds 60 --graphs designs --gallery heads.svg
  synergraph design --size 1024 --steps 200000 --state search.state --json front.json)";

void run_design(DesignCommandSettings& settings) {
  const FigureOptions figure = figure_options(settings.look);
  check_outputs({{"--json", settings.json}, {"--gallery", settings.gallery}},
                {{"--state", settings.measured.state}});
  if (!settings.gallery.empty()) {
    check_figure(settings.gallery);
    if (settings.measured.size > kMostGalleryNodes)
      throw UsageError(fmt::format("--gallery: a gallery shows graphs of at most {} nodes, not {}",
                                   kMostGalleryNodes, settings.measured.size));
  }
  const Execution execution = execution_of(settings.execution);
  Execution stopping = execution;
  DesignOutcome outcome;
  run_until_stopped(stopping, [&] { outcome = search_designs(settings.measured, stopping); });
  if (!settings.graphs.empty()) write_designs(settings.graphs, outcome);
  if (!settings.gallery.empty()) draw_design(settings.gallery, outcome, figure);
  if (!settings.json.empty()) write_output(settings.json, json_report(settings.measured, outcome));
  if (settings.json == "-") return;
  print(wrapped(designs_summary(settings.measured, outcome), output_columns(), 0));
  print(format_text(designs_table(outcome), output_columns()));
}

}  // namespace

void add_design_command(CLI::App& app) {
  add_command<DesignCommandSettings>(app, "design", kDesignAbout, kDesignFooter, run_design);
}

}  // namespace synergraph::cli
