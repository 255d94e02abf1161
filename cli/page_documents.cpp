#include "cli/page_documents.h"

#include "synergraph/analysis/analysis_settings.h"
#include "synergraph/analysis/head_values.h"
#include "synergraph/report/analyze_report.h"
#include "synergraph/report/heads_report.h"

namespace synergraph::cli {

std::string layers_document(const AttentionInput& input, const InputReport& about,
                            const MetricsSettings& metrics, const Execution& execution) {
  AnalyzeReport report;
  static_cast<InputReport&>(report) = about;
  report.per_head = true;
  report.conventions = metrics.convention.names;
  AnalysisOptions options = analysis_options(metrics, true);
  options.execution = execution;
  options.execution.memory = kAttentionMemory;
  report.analysis = analyse(*input.source, input.weights, options);
  return json_report(report);
}

std::string heads_document(const AttentionInput& input, const InputReport& about,
                           const MetricsSettings& metrics, const Execution& execution) {
  HeadsReport report;
  static_cast<InputReport&>(report) = about;
  report.convention = metrics.convention.names.front();
  HeadValueOptions options;
  options.convention = metrics.resolve(report.convention, convention_options);
  options.execution = execution;
  options.execution.memory = Execution{}.memory;
  report.head_values = value_heads(*input.source, input.weights, options);
  return json_report(report);
}

}  // namespace synergraph::cli
