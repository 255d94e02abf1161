#include "synergraph/report/study_number.h"

#include <fmt/core.h>

#include <cmath>

#include "synergraph/study/published.h"

namespace synergraph {
namespace {

/// The numbers of a cell, all in the style that suits their size.
class Style {
 public:
  Style(double size, int decimals)
      : decimals_(decimals),
        scientific_(size != 0.0 && std::abs(size) < std::pow(10.0, 1 - decimals)) {}

  std::string operator()(double value) const {
    return scientific_ ? fmt::format("{:.2e}", value) : fmt::format("{:.{}f}", value, decimals_);
  }

 private:
  int decimals_;
  bool scientific_;
};

}  // namespace

StudyNumber number_of(const Findings& findings, const std::vector<const CellResult*>& results,
                      const NumberPlace& place, const Quantity& quantity) {
  const double unit = published_unit(quantity);
  StudyNumber number;
  number.seeds = results.size();
  double squares = 0.0;
  for (const CellResult* result : results) {
    const Summary& summary =
        result->layers(place.convention)[static_cast<std::size_t>(place.layer)][quantity];
    squares += summary.std * summary.std;
    number.samples = summary.samples;
  }
  if (number.samples > 1)
    number.sample_std = unit * std::sqrt(squares / static_cast<double>(results.size()));
  const SeedSummary* seeds =
      find_summary(findings, place.task, place.heads, place.layer, place.convention, quantity);
  if (seeds == nullptr) return number;
  number.mean = unit * seeds->mean.estimate;
  number.seed_std = unit * seeds->std;
  number.low = unit * seeds->mean.low;
  number.high = unit * seeds->mean.high;
  if (results.size() == 1 && number.samples > 1) {
    const Interval interval = sample_interval(number.mean, number.sample_std, number.samples);
    number.low = interval.low;
    number.high = interval.high;
  }
  return number;
}

std::string with_spread(double mean, double spread, int decimals) {
  if (std::isnan(mean)) return "-";
  const Style text(mean, decimals);
  return std::isnan(spread) ? text(mean) : text(mean) + " ± " + text(spread);
}

std::string with_interval(const StudyNumber& number, int decimals) {
  if (std::isnan(number.mean)) return "-";
  const Style text(number.mean, decimals);
  if (std::isnan(number.low)) return text(number.mean);
  return fmt::format("{} [{}, {}]", text(number.mean), text(number.low), text(number.high));
}

std::string with_interval(const Share& share) {
  const Interval interval = share_interval(share);
  return fmt::format("{:.0f} % [{:.0f}, {:.0f}]", 100.0 * interval.estimate, 100.0 * interval.low,
                     100.0 * interval.high);
}

void add_study_data(StudyTable& table, const DataPlace& place, std::string_view source,
                    std::string_view convention, const StudyNumber& number, double unit) {
  std::vector<std::string>& row = table.data.rows.emplace_back(
      std::vector<std::string>{place.task, fmt::format("{}", place.heads), place.layer,
                               place.quantity, std::string(source), std::string(convention)});
  for (const double value :
       {number.mean, number.sample_std, number.seed_std, number.low, number.high})
    row.push_back(exact(value / unit));
  row.push_back(fmt::format("{}", number.seeds));
  row.push_back(fmt::format("{}", number.samples));
}

}  // namespace synergraph
