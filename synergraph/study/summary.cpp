#include "synergraph/study/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace synergraph {

Summary summarise(std::vector<double> values) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Summary summary;
  summary.samples = values.size();
  values.erase(
      std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); }),
      values.end());
  summary.undefined = summary.samples - values.size();
  std::sort(values.begin(), values.end());
  const auto finite_end =
      std::find_if(values.begin(), values.end(), [](double value) { return std::isinf(value); });
  summary.never = static_cast<std::size_t>(values.end() - finite_end);
  if (values.empty()) {
    summary.mean = summary.std = summary.min = summary.median = summary.max = kNan;
    return summary;
  }
  summary.min = values.front();
  summary.max = values.back();
  const std::size_t middle = values.size() / 2;
  summary.median = values[middle];
  // Two infinite values in the middle have an infinite median; one of them would make it NaN - NaN.
  if (values.size() % 2 == 0)
    summary.median = std::isinf(values[middle])
                         ? values[middle]
                         : values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
  const auto count = static_cast<double>(finite_end - values.begin());
  if (count == 0.0) {
    summary.mean = values.front();
    summary.std = kNan;
    return summary;
  }
  double sum = 0.0;
  for (auto value = values.begin(); value != finite_end; ++value) sum += *value;
  summary.mean = sum / count;
  double squares = 0.0;
  for (auto value = values.begin(); value != finite_end; ++value)
    squares += (*value - summary.mean) * (*value - summary.mean);
  summary.std = std::sqrt(squares / count);
  return summary;
}

}  // namespace synergraph
