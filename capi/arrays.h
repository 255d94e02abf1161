#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "capi/synergraph.h"
#include "synergraph/report/agreement_report.h"
#include "synergraph/report/analyze_report.h"
#include "synergraph/report/compare_report.h"
#include "synergraph/report/graph_report.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/report/reproduce_report.h"

namespace synergraph::capi {

/// An array of a result.
struct NamedArray {
  std::string name;
  std::string axes;  ///< their names, with blanks between
  std::vector<std::int64_t> shape;
  std::vector<double> numbers;  ///< one of the two lists is empty
  std::vector<std::int64_t> counts;

  /// As the interface shows it, valid while this lives where it is.
  sg_array view() const;
};

/// Arrays of one system: curves, matrices.
struct SystemArrays {
  std::vector<std::string> head_names;
  std::vector<std::string> node_names;
  std::vector<NamedArray> arrays;
  std::string document = {};  ///< instead of the names
  std::string table = {};
  Table shown = {};  ///< instead of `table`: one that fits the width
  Table rows = {};   ///< for sg_result_csv()
};
/// The names of heads and nodes, or the document; there is nothing else to read but the arrays.
std::string json_report(const SystemArrays& system);
std::string format_report(const SystemArrays& system, std::size_t columns);
Table csv_table(const SystemArrays& system);

/// Every number of a report: see sg_result_array().
std::vector<NamedArray> arrays_of(const AnalyzeReport& report);
std::vector<NamedArray> arrays_of(const GraphReport& report);
std::vector<NamedArray> arrays_of(const HeadsReport& report);
inline std::vector<NamedArray> arrays_of(SystemArrays& system) {
  return std::move(system.arrays);
}
std::vector<NamedArray> arrays_of(const AgreementReport& report);
std::vector<NamedArray> arrays_of(const CompareReport& report);
/// A study has none: its numbers are in its document.
inline std::vector<NamedArray> arrays_of(const ReproduceReport& /*report*/) {
  return {};
}

}  // namespace synergraph::capi
