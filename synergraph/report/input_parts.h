#pragma once

#include <string>
#include <vector>

#include "synergraph/heads/synergy.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/input_report.h"

namespace synergraph {

/// What the tables of a report are about, a few lines: layers, samples, heads, tokens, and where
/// they come from.
std::string input_text(const InputReport& input, const std::vector<AttentionLayer>& layers);

/// How a convention measures, in a line.
std::string convention_text(Convention convention, const MetricsOptions& options);

/// The beginning of a document, up to what was measured. `source` is "attention",
/// "graph" or, where there is one, "model".
nlohmann::ordered_json json_document(const DocumentId& id, const InputReport& input,
                                     const std::vector<AttentionLayer>& layers,
                                     const char* source = "attention");

}  // namespace synergraph
