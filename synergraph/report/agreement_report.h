#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "synergraph/report/table.h"
#include "synergraph/statistics/rank_tests.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Numbers of the heads of every layer: [layer][head]. NaN where a head has none.
using NumbersOfHeads = std::vector<std::vector<double>>;

/// Whether one number orders the heads of a layer as another one does.
struct Agreement {
  std::string name;
  std::vector<TestResult> layers;  ///< Spearman's rank correlation over the heads of each layer
  TestResult pooled;               ///< over the heads of all layers, ranked within their layers
  std::size_t heads = 0;           ///< heads behind `pooled`
};

/// Rank correlations of several numbers with one number, the reference.
struct AgreementReport {
  std::string reference;
  std::vector<std::string> layer_names;
  std::vector<std::size_t> layer_heads;
  std::vector<Agreement> agreements;
};

/// Correlates numbers with the reference. InputError where they have other heads.
Agreement agreement(std::string name, const NumbersOfHeads& reference,
                    const NumbersOfHeads& numbers, const TestOptions& options = {});

/// A row a number with the correlation pooled within layers, then a row a layer.
std::string format_report(const AgreementReport& report, std::size_t columns = kUnlimited);
/// One row a number and layer, and one for all layers, whose cell "layer" is empty.
Table csv_table(const AgreementReport& report);
std::string json_report(const AgreementReport& report);

}  // namespace synergraph
#pragma GCC visibility pop
