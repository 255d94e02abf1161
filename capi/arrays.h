#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capi/synergraph.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/report/importance_report.h"
#include "synergraph/report/layer_report.h"
#include "synergraph/report/study_report.h"

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

/// Every number of a report: see sg_result_array().
std::vector<NamedArray> arrays_of(const LayerReport& report);
std::vector<NamedArray> arrays_of(const HeadsReport& report);
std::vector<NamedArray> arrays_of(const ImportanceReport& report);
/// A study has none: its numbers are in its document.
inline std::vector<NamedArray> arrays_of(const StudyReport& /*report*/) {
  return {};
}

}  // namespace synergraph::capi
