#include "cli/metrics_options.h"

#include <fmt/core.h>

#include "cli/number_option.h"
#include "cli/setting_option.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"

namespace synergraph::cli {

void MetricsArguments::add_to(CLI::App& command, bool allow_both) {
  settings.convention.several = allow_both;
  visit_settings(settings, SettingOptions{command});
  add_number(command, "--threads", execution.threads, kThreadsHelp, kThreadCounts)
      ->group("Measurement");
}

std::vector<double> parse_numbers(const std::string& list, const std::string& what) {
  std::vector<double> values;
  for (const std::string_view part : split(list, ',')) {
    double value = 0.0;
    if (!parse_number(part, value))
      throw UsageError(fmt::format("{}: {} is not a number", what, quoted_text(part)));
    values.push_back(value);
  }
  return values;
}

}  // namespace synergraph::cli
