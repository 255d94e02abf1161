#include "synergraph/report/reproduce_report.h"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "synergraph/core/setting.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/graph_figure.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/page.h"
#include "synergraph/report/statements.h"
#include "synergraph/report/study_figure.h"
#include "synergraph/report/study_sections.h"
#include "synergraph/report/study_tables.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

ordered_json json_layers(const std::vector<LayerSummary>& layers) {
  ordered_json json = ordered_json::array();
  for (const LayerSummary& layer : layers) json.push_back(json_layer(layer));
  return json;
}

ordered_json json_subsets(const std::vector<LayerSubsets>& layers) {
  ordered_json json = ordered_json::array();
  for (const LayerSubsets& layer : layers) {
    ordered_json& entry = json.emplace_back();
    for (const auto& [value, value_name] : kNamesOf<HeadValue>)
      for (const auto& [number, name] : kNamesOf<SubsetNumber>)
        entry[std::string(value_name)][std::string(name)] = json_number(layer[value][number]);
  }
  return json;
}

ordered_json json_seeds(const SeedNumber& seeds) {
  ordered_json values = ordered_json::array();
  for (const double value : seeds.values) values.push_back(json_number(value));
  return {{"values", std::move(values)}, {"mean", json_interval(seeds.mean)}};
}

ordered_json json_share(const Share& share) {
  return {{"count", share.successes}, {"of", share.trials}};
}

ordered_json json_subsets(const SubsetSummary& s) {
  ordered_json json = {{"task", s.task}, {"heads", s.heads}};
  json["layer"] =
      s.layer == SubsetSummary::kAllLayers ? ordered_json(nullptr) : ordered_json(s.layer + 1);
  json["value"] = name_of(s.value);
  json["samples"] = s.samples;
  for (const auto& [number, name] : kNamesOf<SubsetNumber>)
    json[std::string(name)] = json_seeds(s.numbers.at(number));
  json["learned_share"] = json_seeds(s.learned_share);
  json["equal_share"] = json_seeds(s.equal_share);
  json["proven_share"] = json_seeds(s.proven_share);
  json["synergy"] = json_share(s.synergy);
  json["fewer_synergy"] = json_share(s.fewer_synergy);
  json["better"] = json_share(s.better);
  return json;
}

ordered_json json_test(const TestResult& test) {
  return {{"statistic", json_number(test.statistic)},
          {"effect", json_number(test.effect)},
          {"p", json_number(test.p_value)},
          {"smallest_p", json_number(test.smallest_p)},
          {"method", test.method == PValueMethod::kExact ? "exact" : "permutations"}};
}

ordered_json json_findings(const Findings& findings, const std::vector<CellResult>& results) {
  ordered_json summaries = ordered_json::array();
  for (const SeedSummary& s : findings.summaries) {
    ordered_json values = ordered_json::array();
    for (const double value : s.values) values.push_back(json_number(value));
    summaries.push_back({{"task", s.task},
                         {"heads", s.heads},
                         {"layer", s.layer + 1},
                         {"convention", name_of(s.convention)},
                         {"quantity", key_of(s.quantity)},
                         {"values", std::move(values)},
                         {"mean", json_interval(s.mean)},
                         {"std", json_number(s.std)}});
  }
  ordered_json trends = ordered_json::array();
  for (const Trend& t : findings.trends)
    trends.push_back({{"task", t.task},
                      {"layer", t.layer + 1},
                      {"convention", name_of(t.convention)},
                      {"claim", name_of(t.claim)},
                      {"test", json_test(t.test)},
                      {"corrected_p", json_number(t.adjusted_p)}});
  ordered_json synergy = ordered_json::array();
  for (const SynergyShare& s : findings.synergy)
    synergy.push_back({{"task", s.task},
                       {"heads", s.heads},
                       {"layer", s.layer + 1},
                       {"convention", name_of(s.convention)},
                       {"samples", json_interval(share_interval(s.samples))},
                       {"seeds", json_interval(share_interval(s.seeds))},
                       {"seed_count", s.seeds.trials}});
  ordered_json correlations = ordered_json::array();
  for (const SpeedFidelity& s : findings.speed_fidelity)
    correlations.push_back({{"task", s.task},
                            {"convention", name_of(s.convention)},
                            {"points", s.points},
                            {"test", json_test(s.test)},
                            {"within_models", json_number(s.within_cells)}});
  ordered_json subsets = ordered_json::array();
  for (const SubsetSummary& s : findings.subsets) subsets.push_back(json_subsets(s));
  return {{"seeds", findings.seeds},           {"statements", statements(findings, results)},
          {"summaries", std::move(summaries)}, {"trends", std::move(trends)},
          {"synergy", std::move(synergy)},     {"speed_fidelity", std::move(correlations)},
          {"subsets", std::move(subsets)}};
}

/// The devices that took part, in alphabetical order: the same whoever worked on which cell.
ordered_json json_devices(const std::vector<CellResult>& results) {
  std::set<std::string> trained;
  std::set<std::string> ran;
  for (const CellResult& result : results) {
    trained.insert(result.trained_on.begin(), result.trained_on.end());
    if (!result.run_on.empty()) ran.insert(result.run_on);
  }
  return {{"training", trained}, {"forward_pass", ran}};
}

/// Draws a figure in the three formats; the SVG is for the page.
template <class Draw>
ReportFigure draw_all(const std::string& stem, const std::string& caption, const Draw& draw) {
  for (const char* ending : {"pdf", "png", "svg"}) draw(fmt::format("{}.{}", stem, ending));
  return {caption, read_regular_file(stem + ".svg")};
}

void draw_example(const std::string& path) {
  const MultiHeadGraph graph = worked_example(2);
  const std::vector<double> equal(graph.heads.size(), 1.0);
  draw_diffusion_figure(
      path, heads_of_graph(graph), normalised_weights(equal, equal.size()),
      {.steps = 20, .node_names = graph.node_names, .figure = {.named_by = NamedBy::kProgram}});
}

std::vector<ReportFigure> draw_figures(const ReproduceReport& report, const std::string& directory,
                                       FigureOptions options) {
  make_directory(directory, NamedBy::kProgram);
  options.named_by = NamedBy::kProgram;
  const auto study = [&](Convention convention) {
    return [&report, &options, convention](const std::string& path) {
      draw_study_figure(path, report.results, convention, options);
    };
  };
  return {draw_all(directory + "/published",
                   "Mixing time and fidelity by the published convention. Open marks: the paper's "
                   "values.",
                   study(Convention::kPublished)),
          draw_all(directory + "/exact",
                   "The same models by the exact convention: normalised columns, certified "
                   "fidelity over the sources.",
                   study(Convention::kExact)),
          draw_all(directory + "/diffusion",
                   "The paper's second worked example: signal of each node at the sink, and the "
                   "minimax fidelity so far (dashed).",
                   draw_example)};
}

ordered_json json_of(const ReproduceReport& report) {
  ordered_json cells = ordered_json::array();
  for (const CellResult& result : report.results)
    cells.push_back({{"task", result.cell.train.task},
                     {"heads", result.cell.train.model.heads},
                     {"seed", result.cell.train.seed},
                     {"accuracy", result.accuracy},
                     {"loss", json_number(result.loss)},
                     {"learned", has_learned(result)},
                     {"control", json_control(result.control)},
                     {"exact", json_layers(result.exact)},
                     {"published", json_layers(result.published)},
                     {"subsets", json_subsets(result.subsets)}});
  ordered_json training = ordered_json::object();
  for (const auto& [name, value] : common_training(report.grid)) training[name] = value;
  const MeasureSettings& measure = report.grid.measure;
  return document_of(kStudyDocument,
                     {{"devices", json_devices(report.results)},
                      {"results_version", kResultsVersion},
                      {"settings",
                       {{"tasks", report.grid.tasks},
                        {"heads", report.grid.heads},
                        {"seeds", report.grid.seeds},
                        {"training", std::move(training)},
                        {"samples", measure.samples},
                        {"eps", measure.eps},
                        {"cutoff", measure.cutoff},
                        {"horizon", measure.horizon},
                        {"subset_samples", measure.subset_samples}}},
                      {"cells", std::move(cells)},
                      {"findings", json_findings(report.findings, report.results)}});
}

/// The interactive page of a study. Single models are left out where they need too much memory.
Page page_of(const ReproduceReport& report, ordered_json json, std::vector<ReportFigure> figures) {
  Page page{"reproduce", "The paper's tables, again", json.dump()};
  if (page.document.size() > kPageBytes) {
    page.left_out = fmt::format("the page has no single models: they are in results.json ({} MiB)",
                                page.document.size() >> 20U);
    json["cells"] = ordered_json::array();
    page.document = json.dump();
  }
  page.report = study_sections(report.grid, report.results, report.findings);
  page.figures = std::move(figures);
  for (const std::string& task : report.grid.tasks)
    for (const int heads : report.grid.heads) page.published.push_back({task, heads});
  return page;
}

}  // namespace

std::string json_report(const ReproduceReport& report) {
  return json_of(report).dump(1) + '\n';
}

void check_study_figures(const GridSettings& grid, const StudyFigures& figures) {
  check_study_figure(grid.tasks.size(), figures.options);
  require_gnuplot("reproduce (or give " + option_mark("no_figures") + ")");
}

void write_study(const ReproduceReport& report, const std::string& directory,
                 const StudyFigures& figures) {
  const std::filesystem::path root(user_directory(directory));
  const auto write = [](const std::string& path, const std::string& text) {
    write_file(path, text, NamedBy::kProgram);
  };
  make_directory((root / "tables").string(), NamedBy::kProgram);
  ordered_json json = json_of(report);
  write((root / "results.json").string(), json.dump(1) + '\n');
  for (const StudyTable& table : study_tables(report.results, report.findings)) {
    const std::string stem = (root / "tables" / table.name).string();
    write(stem + ".md", markdown(table));
    write(stem + ".csv", format_csv(table.data));
    write(stem + ".tex", latex(table));
  }
  std::vector<ReportFigure> drawn;
  if (figures.draw) drawn = draw_figures(report, (root / "figures").string(), figures.options);
  write_page((root / "report.html").string(), page_of(report, std::move(json), std::move(drawn)),
             NamedBy::kProgram);
}

}  // namespace synergraph
