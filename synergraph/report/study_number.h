#pragma once

#include <limits>
#include <string>
#include <vector>

#include "synergraph/report/study_table.h"
#include "synergraph/study/findings.h"

namespace synergraph {

/// One number of a study's table, in the paper's unit. Unknown: NaN.
struct StudyNumber {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double mean = kUnknown;
  double sample_std = kUnknown;  ///< over samples; of several seeds, the root of their mean square
  double seed_std = kUnknown;    ///< over seeds, n - 1
  double low = kUnknown;  ///< 95 % interval of the mean: Student's over seeds if there are several,
  double high = kUnknown;  ///< else normal over samples
  std::size_t seeds = 1;
  std::size_t samples = 1;
};

/// Where a number stands.
struct NumberPlace {
  const std::string& task;
  int heads = 0;
  int layer = 0;
  Convention convention = Convention::kExact;
};

/// A quantity of the models of one task and head count, one a seed.
StudyNumber number_of(const Findings& findings, const std::vector<const CellResult*>& results,
                      const NumberPlace& place, const Quantity& quantity);

/// "3.8344 ± 0.1391": fixed decimals, or scientific where that would leave less than two digits of
/// the mean. An unknown spread is left out.
std::string with_spread(double mean, double spread, int decimals);

/// "0.560 [0.512, 0.608]", likewise.
std::string with_interval(const StudyNumber& number, int decimals);

/// "56 % [51, 61]".
std::string with_interval(const Share& share);

/// What a row of StudyTable::data is about.
struct DataPlace {
  std::string task;
  int heads = 0;
  std::string layer;
  std::string quantity;
};

/// Adds a number to the rows for programs, divided by its unit.
void add_study_data(StudyTable& table, const DataPlace& place, std::string_view source,
                    std::string_view convention, const StudyNumber& number, double unit = 1.0);

}  // namespace synergraph
