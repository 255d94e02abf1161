#include <fmt/core.h>

#include "cli/commands.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/output.h"
#include "cli/output_paths.h"
#include "cli/setting_option.h"
#include "synergraph/analysis/sparse_graph_file.h"
#include "synergraph/core/error.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/families_report.h"

namespace synergraph::cli {
namespace {

constexpr const char* kFamiliesAbout =
    "Compare families of feedforward graphs: mixing time against fidelity, as the graphs grow";

constexpr const char* kFamiliesFooter =
    R"(A family is a generator without the number of nodes and the seed:
  indegree:K  expander:D  poisson:P:K  fs:K[:RATIO]  fs-sparse:K[:RATIO]  fs-original
  longformer:WINDOW:GLOBAL  bigbird:WINDOW:GLOBAL:RANDOM  dilated:WINDOW:STEP  power
K, D and WINDOW may depend on the number of nodes n: log (log2 n, rounded up), 4log, sqrt, 2sqrt.
docs/graphs.md defines the families and the columns.

A FILE is a sparse graph: a matrix that scipy.sparse.save_npz wrote (csr or csc; row i, column j is
the edge j -> i), or text with "from to" or "from to weight" on each line.

Examples
  synergraph families --sizes 64,256,1024 --figure families.svg
  synergraph families --families fs:log,fs:2log,fs:4log --sizes 1024,16384 --csv growth.csv
  synergraph families --families fs:4log,power --sizes 256,1024 --latex families.tex
  synergraph families --families fs:4log --sizes 4096 --graphs 1 --save fs.npz
  synergraph families fs.npz)";

/// One graph of each family at the first size.
std::vector<GalleryGraph> gallery_of(const FamilySettings& settings) {
  const std::int64_t nodes = settings.nodes.front();
  if (nodes > kMostGalleryNodes)
    throw UsageError(
        fmt::format("--gallery: the first of --sizes is {}; a gallery shows graphs of "
                    "at most {} nodes",
                    nodes, kMostGalleryNodes));
  std::vector<GalleryGraph> graphs;
  for (const std::string& family : settings.families)
    graphs.push_back({family, family_graph(family, nodes, 1)});
  return graphs;
}

void run_families(FamiliesCommandSettings& settings) {
  const FigureOptions figure = figure_options(settings.look);
  std::vector<NamedPath> inputs;
  for (const std::string& file : settings.measured.files) inputs.push_back({"FILE", file});
  check_outputs({{"--save", settings.save},
                 {"--csv", settings.csv},
                 {"--json", settings.json},
                 {"--latex", settings.latex},
                 {"--figure", settings.figure},
                 {"--growth", settings.growth},
                 {"--gallery", settings.gallery}},
                inputs);
  if (!settings.save.empty() && count_families(settings.measured) != 1)
    throw UsageError(
        "--save: the graphs are more than one. Give one family, one size and --graphs 1");
  const bool printed = to_standard_output({settings.csv, settings.json, settings.latex});
  for (const std::string& path : {settings.figure, settings.growth, settings.gallery})
    if (!path.empty()) check_figure(path);
  std::vector<GalleryGraph> gallery;
  if (!settings.gallery.empty()) gallery = gallery_of(settings.measured);
  Execution execution = execution_of(settings.execution);
  std::vector<FamilyGraph> graphs;
  run_until_stopped(execution, [&] {
    graphs = measure_families(settings.measured, execution, [&](const SparseGraph& graph) {
      if (!settings.save.empty()) write_sparse_graph(settings.save, graph);
    });
  });
  if (!settings.csv.empty()) write_output(settings.csv, format_csv(csv_table(graphs)));
  if (!settings.figure.empty()) draw_families_figure(settings.figure, graphs, figure);
  if (!settings.growth.empty()) draw_growth_figure(settings.growth, graphs, figure);
  if (!settings.gallery.empty()) draw_gallery(settings.gallery, gallery, figure);
  if (!settings.json.empty()) write_output(settings.json, json_report(settings.measured, graphs));
  if (!settings.latex.empty()) write_output(settings.latex, latex_table(graphs));
  if (!printed) print(format_text(families_table(graphs), output_columns()));
}

}  // namespace

void add_families_command(CLI::App& app) {
  add_command<FamiliesCommandSettings>(app, "families", kFamiliesAbout, kFamiliesFooter,
                                       run_families);
}

}  // namespace synergraph::cli
