#include "synergraph/report/compare_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "synergraph/core/terminal.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/report/layer_labels.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownHeads = 10;

/// The cutoff that headings name is not known here.
std::string heading(const Quantity& quantity) {
  std::string text = heading_of(quantity, 0);
  if (text.ends_with(" 0")) text.resize(text.size() - 2);
  return text;
}

std::string corrected_p_text(double p) {
  constexpr double kLeast = 0.001;
  return std::isnan(p) ? "-" : p < kLeast ? human(p, 2) : fmt::format("{:.3f}", p);
}

std::string interval_text(const MeanDifference& of) {
  if (std::isnan(of.low)) return "-";
  return fmt::format("{} to {}", human(of.low, 3), human(of.high, 3));
}

/// "12.5", and how often never.
std::string mean_text(double mean, std::size_t never) {
  std::string text = human(mean);
  if (never > 0) text += fmt::format(" ({} never)", never);
  return text;
}

std::vector<std::string> cells_of(std::vector<std::string> names, const NumberComparison& one) {
  const MeanDifference& of = one.numbers;
  for (std::string& cell : std::vector<std::string>{
           mean_text(of.a, one.never_a), mean_text(of.b, one.never_b), human(of.difference, 3),
           interval_text(of), corrected_p_text(one.corrected)})
    names.push_back(std::move(cell));
  return names;
}

std::vector<std::string> header_of(std::vector<std::string> names, double level) {
  for (const std::string& title :
       {std::string("A"), std::string("B"), std::string("B - A"),
        fmt::format("{:.4g} % interval", 100.0 * level), std::string("p (Holm)")})
    names.push_back(title);
  return names;
}

/// The quantities that the layers have, or their heads.
std::set<Quantity> quantities_of(const Comparison& of, bool heads) {
  std::set<Quantity> found;
  for (const LayerComparison& layer : of.layers) {
    if (!heads)
      for (const auto& [quantity, number] : layer.all) found.insert(quantity);
    for (const NumberComparisons& head : layer.heads)
      if (heads)
        for (const auto& [quantity, number] : head) found.insert(quantity);
  }
  return found;
}

/// The title of a table: what differs, and how often.
std::string title(const Comparison& of, const Quantity& quantity, const char* what,
                  const std::vector<const NumberComparison*>& all, const std::string& more) {
  const auto clear = std::count_if(all.begin(), all.end(),
                                   [&](const NumberComparison* one) { return of.clear(*one); });
  const std::string key = key_of(quantity);
  return fmt::format(
      "{}, {}: {} of {} differ (p < {:.4g}){}\n",
      heading(quantity) == key ? key : fmt::format("{} ({})", heading(quantity), key), what, clear,
      all.size(), 1.0 - of.level, more);
}

/// The layers' names, as short as figures have them: rows have many columns.
LayerLabels labels_of(const Comparison& of) {
  std::vector<AttentionLayer> layers(of.layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) layers[l].name = of.layers[l].name;
  return layer_labels(layers, {});
}

std::string layer_table(const Comparison& of, const LayerLabels& labels, const Quantity& quantity,
                        std::size_t columns) {
  Table table{header_of({"layer"}, of.level), {}};
  std::vector<const NumberComparison*> all;
  for (std::size_t l = 0; l < of.layers.size(); ++l)
    if (const auto found = of.layers[l].all.find(quantity); found != of.layers[l].all.end()) {
      all.push_back(&found->second);
      table.rows.push_back(cells_of({labels.tics[l]}, found->second));
    }
  return wrapped(title(of, quantity, "whole layers", all, ""), columns, 2) +
         format_text(table, columns);
}

struct ShownHead {
  std::size_t layer;
  std::size_t head;
  const NumberComparison* number;
};

std::string head_table(const CompareReport& report, const LayerLabels& labels,
                       const Quantity& quantity, std::size_t columns) {
  const Comparison& of = report.comparison;
  std::vector<ShownHead> shown;
  std::vector<const NumberComparison*> all;
  for (std::size_t l = 0; l < of.layers.size(); ++l)
    for (std::size_t h = 0; h < of.layers[l].heads.size(); ++h)
      if (const auto found = of.layers[l].heads[h].find(quantity);
          found != of.layers[l].heads[h].end()) {
        all.push_back(&found->second);
        if (report.verbose || of.clear(found->second)) shown.push_back({l, h, &found->second});
      }
  if (!report.verbose) {
    std::stable_sort(shown.begin(), shown.end(), [](const ShownHead& one, const ShownHead& other) {
      return std::abs(one.number->numbers.difference) > std::abs(other.number->numbers.difference);
    });
    if (shown.size() > kShownHeads) shown.resize(kShownHeads);
  }
  const std::string more = report.verbose || shown.size() < kShownHeads
                               ? ""
                               : fmt::format("; the {} largest differences", kShownHeads);
  std::string text = wrapped(title(of, quantity, "single heads", all, more), columns, 2);
  if (shown.empty()) return text;
  Table table{header_of({"layer", "head"}, of.level), {}};
  table.key_columns = 2;
  for (const ShownHead& one : shown)
    table.rows.push_back(
        cells_of({labels.tics[one.layer], fmt::format("{}", one.head)}, *one.number));
  return text + format_text(table, columns);
}

/// "50 samples", "49 to 50 samples".
std::string samples_text(const Comparison& of, std::size_t MeanDifference::*count) {
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (const LayerComparison& layer : of.layers)
    for (const auto& [quantity, number] : layer.all) {
      least = std::min(least, number.numbers.*count);
      most = std::max(most, number.numbers.*count);
    }
  if (least >= most) return counted(static_cast<std::int64_t>(most), "sample");
  return fmt::format("{} to {} samples with finite numbers", least, most);
}

ordered_json json_number_comparison(const NumberComparison& one) {
  const MeanDifference& of = one.numbers;
  return {{"a", json_number(of.a)},
          {"b", json_number(of.b)},
          {"difference", json_number(of.difference)},
          {"low", json_number(of.low)},
          {"high", json_number(of.high)},
          {"p", json_number(of.p)},
          {"p_corrected", json_number(one.corrected)},
          {"samples_a", of.count_a},
          {"samples_b", of.count_b},
          {"never_a", one.never_a},
          {"never_b", one.never_b}};
}

ordered_json json_numbers(const NumberComparisons& numbers) {
  ordered_json json = ordered_json::object();
  for (const auto& [quantity, number] : numbers)
    json[key_of(quantity)] = json_number_comparison(number);
  return json;
}

}  // namespace

std::string format_report(const CompareReport& report, std::size_t columns) {
  const Comparison& of = report.comparison;
  const auto line = [&](const char* side, const std::string& name,
                        std::size_t MeanDifference::*count) {
    return fmt::format("{}: {}{}\n", side, name == side ? "" : printable(name) + ", ",
                       samples_text(of, count));
  };
  std::string text = line("A", of.a, &MeanDifference::count_a);
  text += line("B", of.b, &MeanDifference::count_b);
  text += fmt::format("{}: {}; intervals and p by {}\n", of.paired ? "paired" : "not paired",
                      printable(of.why), of.paired ? "Student's t" : "Welch's t");
  text += fmt::format("p after Holm's correction over {} of layers and {} of single heads\n",
                      counted(static_cast<std::int64_t>(of.layer_tests), "test"), of.head_tests);
  const LayerLabels labels = labels_of(of);
  if (labels.axis != "layer") text += labels.axis + '\n';
  for (const std::string& note : of.notes) text += note + '\n';
  if (of.layer_tests == 0)
    text += "no test is possible: there are too few samples, or they do not vary\n";
  text = wrapped(text, columns, 2);
  for (const Quantity& quantity : quantities_of(of, false))
    text += '\n' + layer_table(of, labels, quantity, columns);
  for (const Quantity& quantity : quantities_of(of, true))
    text += '\n' + head_table(report, labels, quantity, columns);
  return text;
}

Table csv_table(const CompareReport& report) {
  Table table{{"layer", "layer_b", "head", "quantity", "a", "b", "difference", "low", "high", "p",
               "p_corrected", "samples_a", "samples_b", "never_a", "never_b"},
              {}};
  for (const LayerComparison& layer : report.comparison.layers) {
    const auto add = [&](const std::string& head, const NumberComparisons& numbers) {
      for (const auto& [quantity, one] : numbers) {
        const MeanDifference& of = one.numbers;
        std::vector<std::string> row = {layer.name, layer.name_b, head, key_of(quantity)};
        for (const double value : {of.a, of.b, of.difference, of.low, of.high, of.p, one.corrected})
          row.push_back(exact(value));
        for (const std::size_t count : {of.count_a, of.count_b, one.never_a, one.never_b})
          row.push_back(fmt::format("{}", count));
        table.rows.push_back(std::move(row));
      }
    };
    for (std::size_t h = 0; h < layer.heads.size(); ++h) add(fmt::format("{}", h), layer.heads[h]);
    add("combined", layer.all);
  }
  return table;
}

std::string json_report(const CompareReport& report) {
  const Comparison& of = report.comparison;
  ordered_json layers = ordered_json::array();
  for (const LayerComparison& layer : of.layers) {
    ordered_json heads = ordered_json::array();
    for (const NumberComparisons& head : layer.heads) heads.push_back(json_numbers(head));
    layers.push_back({{"name", layer.name},
                      {"name_b", layer.name_b},
                      {"combined", json_numbers(layer.all)},
                      {"heads", std::move(heads)}});
  }
  return json_text(document_of(kCompareDocument, {{"a", of.a},
                                                  {"b", of.b},
                                                  {"convention", of.convention},
                                                  {"paired", of.paired},
                                                  {"why", of.why},
                                                  {"notes", of.notes},
                                                  {"level", of.level},
                                                  {"layer_tests", of.layer_tests},
                                                  {"head_tests", of.head_tests},
                                                  {"layers", std::move(layers)}}));
}

}  // namespace synergraph
