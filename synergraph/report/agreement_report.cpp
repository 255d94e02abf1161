#include "synergraph/report/agreement_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// The p-value that a test must be able to reach.
constexpr double kLevel = 0.05;

std::string p_text(const TestResult& test) {
  if (std::isnan(test.p_value)) return "-";
  constexpr double kLeast = 0.001;
  return test.p_value < kLeast ? human(test.p_value, 2) : fixed(test.p_value, 3);
}

std::string rho_text(const TestResult& test) {
  return std::isnan(test.effect) ? "-" : fixed(test.effect, 2);
}

ordered_json json_correlation(const TestResult& test) {
  return {{"rho", json_number(test.effect)},
          {"p", json_number(test.p_value)},
          {"smallest_p", json_number(test.smallest_p)}};
}

/// Why correlations of single layers, or all of them, decide nothing.
std::string caution(const AgreementReport& report) {
  const auto [least, most] =
      std::minmax_element(report.layer_heads.begin(), report.layer_heads.end());
  constexpr std::size_t kEnough = 5;  // 2 / 5! is the first below kLevel
  std::string text;
  if (*least < kEnough)
    text += fmt::format(
        "too few heads: with {}{} in a layer, no correlation of one layer reaches p < {}\n",
        *most < kEnough ? "" : "as few as ", counted(static_cast<std::int64_t>(*least), "head"),
        kLevel);
  for (const Agreement& one : report.agreements)
    if (one.pooled.smallest_p >= kLevel)
      return text + fmt::format("too few heads in all layers together, too: {}\n", one.heads);
  return text;
}

}  // namespace

Agreement agreement(std::string name, const NumbersOfHeads& reference,
                    const NumbersOfHeads& numbers, const TestOptions& options) {
  if (numbers.size() != reference.size())
    throw InputError(
        fmt::format("{}: {} layers, expected {}", name, numbers.size(), reference.size()));
  Agreement result{std::move(name), {}, {}, 0};
  for (std::size_t l = 0; l < numbers.size(); ++l) {
    if (numbers[l].size() != reference[l].size())
      throw InputError(fmt::format("{}: layer {} has {} heads, expected {}", result.name, l,
                                   numbers[l].size(), reference[l].size()));
    result.layers.push_back(spearman(reference[l], numbers[l], options));
    if (!std::isnan(result.layers.back().effect)) result.heads += numbers[l].size();
  }
  result.pooled = spearman_within(reference, numbers, options);
  return result;
}

std::string format_report(const AgreementReport& report, std::size_t columns) {
  std::string text = wrapped(
      fmt::format("Spearman's rank correlation of {} with each number, ranked within layers; p by "
                  "permutations within layers, not corrected for the number of tests\n",
                  report.reference) +
          caution(report),
      columns, 2);
  Table all{{"number", "rho", "p", "heads"}, {}};
  Table each{{"layer", "heads"}, {}};
  for (const Agreement& one : report.agreements) {
    all.rows.push_back(
        {one.name, rho_text(one.pooled), p_text(one.pooled), fmt::format("{}", one.heads)});
    each.header.push_back(one.name);
    each.header.push_back("p");
  }
  for (std::size_t l = 0; l < report.layer_names.size(); ++l) {
    std::vector<std::string>& row = each.rows.emplace_back(
        std::vector<std::string>{report.layer_names[l], fmt::format("{}", report.layer_heads[l])});
    for (const Agreement& one : report.agreements) {
      row.push_back(rho_text(one.layers[l]));
      row.push_back(p_text(one.layers[l]));
    }
  }
  return text + '\n' + format_text(all, columns) + '\n' + format_text(each, columns);
}

Table csv_table(const AgreementReport& report) {
  Table table{{"number", "layer", "heads", "rho", "p", "smallest_p"}, {}};
  const auto add = [&](const std::string& name, const std::string& layer, std::size_t heads,
                       const TestResult& test) {
    table.rows.push_back({name, layer, fmt::format("{}", heads), exact(test.effect),
                          exact(test.p_value), exact(test.smallest_p)});
  };
  for (const Agreement& one : report.agreements) {
    add(one.name, "", one.heads, one.pooled);
    for (std::size_t l = 0; l < one.layers.size(); ++l)
      add(one.name, report.layer_names[l], report.layer_heads[l], one.layers[l]);
  }
  return table;
}

std::string json_report(const AgreementReport& report) {
  ordered_json numbers = ordered_json::array();
  for (const Agreement& one : report.agreements) {
    ordered_json layers = ordered_json::array();
    for (std::size_t l = 0; l < one.layers.size(); ++l) {
      layers.push_back(json_correlation(one.layers[l]));
      layers.back()["layer"] = report.layer_names[l];
      layers.back()["heads"] = report.layer_heads[l];
    }
    numbers.push_back({{"name", one.name},
                       {"pooled", json_correlation(one.pooled)},
                       {"heads", one.heads},
                       {"layers", std::move(layers)}});
  }
  return json_text(document_of(kAgreementDocument,
                               {{"reference", report.reference}, {"numbers", std::move(numbers)}}));
}

}  // namespace synergraph
