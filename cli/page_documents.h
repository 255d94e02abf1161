#pragma once

#include <string>

#include "cli/attention_input.h"
#include "synergraph/heads/metrics_settings.h"
#include "synergraph/report/input_report.h"

namespace synergraph::cli {

// Documents of other commands on the same input: a page shows them beside its own.

/// Of `analyze --per-head`. `about`: the input, as the command's own report has it.
std::string layers_document(const AttentionInput& input, const InputReport& about,
                            const MetricsSettings& metrics, const Execution& execution);

/// Of `heads`, with its defaults and by the first of the conventions.
std::string heads_document(const AttentionInput& input, const InputReport& about,
                           const MetricsSettings& metrics, const Execution& execution);

}  // namespace synergraph::cli
