#include "synergraph/report/design_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "synergraph/analysis/sparse_graph_file.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/families_report.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

double best_head(const FoundDesign& design) {
  return *std::max_element(design.head_fidelity.begin(), design.head_fidelity.end());
}

}  // namespace

Table designs_table(const DesignOutcome& outcome) {
  Table table{
      {"start", "front", "edges", "T_avg", "T_mix", "fidelity", "F", "best head F", "certified"},
      {}};
  for (const FoundDesign& design : outcome.designs) {
    const FamilyGraph& numbers = design.numbers;
    const auto steps = [](double value) {
      return std::isinf(value) ? std::string("never") : human(value);
    };
    table.rows.push_back({design.start, design.in_front ? "*" : "",
                          fmt::format("{}", numbers.edges), steps(numbers.averaged_mixing_time),
                          steps(numbers.mixing_time), human(numbers.minimax_fidelity),
                          human(numbers.normalised_fidelity),
                          human(best_head(design) * static_cast<double>(numbers.nodes)),
                          design.certified ? "yes" : "no"});
  }
  return table;
}

std::string designs_summary(const DesignSettings& settings, const DesignOutcome& outcome) {
  const FoundDesign& best = outcome.designs.front();
  std::string text =
      fmt::format("{} on {}, at most {} edges, averaged mixing time at most {}. {} of {} each{}.\n",
                  counted(settings.heads, "head"), counted(settings.size, "node"), outcome.edges,
                  outcome.averaged_mixing, counted(outcome.searches, "start"),
                  counted(outcome.steps, "move"), outcome.finished ? "" : "; more were asked for");
  text += fmt::format("The most faithful design has {} edges and F {}", best.numbers.edges,
                      human(best.numbers.normalised_fidelity));
  if (settings.heads > 1)
    text += best_head(best) > 0.0
                ? fmt::format(", {} times that of its best head", human(best.synergy()))
                : "; each of its heads alone has F 0";
  return text + ".\n\n";
}

std::string json_report(const DesignSettings& settings, const DesignOutcome& outcome) {
  ordered_json echo = ordered_json::object();
  echo["size"] = settings.size;
  echo["heads"] = settings.heads;
  echo["edges"] = outcome.edges;
  echo["averaged_mixing"] = outcome.averaged_mixing;
  echo["mixing"] = settings.mixing ? ordered_json(*settings.mixing) : ordered_json(nullptr);
  echo["eps"] = settings.eps;
  echo["starts"] = settings.starts;
  echo["levels"] = settings.levels;
  echo["seed"] = settings.seed;
  ordered_json designs = ordered_json::array();
  for (const FoundDesign& design : outcome.designs) {
    ordered_json numbers = ordered_json::object();
    for (const FamilyColumn& column : family_columns())
      numbers[column.key] = json_number(design.numbers.*column.value);
    ordered_json heads = ordered_json::array();
    for (int h = 0; h < design.edges.heads(); ++h)
      heads.push_back(
          {{"edges", design.edges.count(h)},
           {"minimax_fidelity", json_number(design.head_fidelity[static_cast<std::size_t>(h)])}});
    designs.push_back({{"start", design.start},
                       {"edge_limit", design.edge_limit},
                       {"averaged_mixing_limit", design.averaged_limit},
                       {"front", design.in_front},
                       {"certified", design.certified},
                       {"edges", design.numbers.edges},
                       {"numbers", std::move(numbers)},
                       {"heads", std::move(heads)},
                       {"synergy", json_number(design.synergy())}});
  }
  return json_text(document_of(kDesignDocument, {{"settings", std::move(echo)},
                                                 {"searches", outcome.searches},
                                                 {"steps", outcome.steps},
                                                 {"finished", outcome.finished},
                                                 {"designs", std::move(designs)}}));
}

void write_designs(const std::string& directory, const DesignOutcome& outcome) {
  make_directory(directory);
  int number = 0;
  for (const FoundDesign& design : outcome.designs) {
    if (!design.in_front) continue;
    const std::string name = fmt::format("{}/design-{}", directory, number++);
    std::vector<GraphHead> heads;
    for (int h = 0; h < design.edges.heads(); ++h) {
      const SparseGraph graph = design.edges.graph(h);
      write_sparse_graph(fmt::format("{}-head-{}.npz", name, h), graph);
      heads.push_back({fmt::format("head {}", h), 1.0, graph.dense()});
    }
    write_file(name + ".txt", format_graph_text(multi_head_graph(std::move(heads))));
  }
}

void draw_design(const std::string& path, const DesignOutcome& outcome,
                 const FigureOptions& options) {
  const FoundDesign& best = outcome.designs.front();
  std::vector<GalleryGraph> heads;
  heads.reserve(static_cast<std::size_t>(best.edges.heads()));
  for (int h = 0; h < best.edges.heads(); ++h)
    heads.push_back({fmt::format("head {}", h), best.edges.graph(h)});
  draw_gallery(path, heads, options);
}

}  // namespace synergraph
