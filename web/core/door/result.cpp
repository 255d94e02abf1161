// What a page asks of results: their documents. capi/result.cpp would bring studies and tables
// along.

#include "capi/result.h"

#include "capi/status.h"

using synergraph::capi::copied_text;
using synergraph::capi::making;
using synergraph::capi::require;

sg_result::sg_result(Report measured) : report(std::move(measured)) {}

int sg_result_json(const sg_result* result, char** text) {
  return making(text, [&] {
    require(result, "result");
    if (const auto* layers = std::get_if<synergraph::LayerReport>(&result->report))
      return copied_text(json_report(*layers));
    return copied_text(json_report(std::get<synergraph::HeadsReport>(result->report)));
  });
}

void sg_result_free(sg_result* result) {
  delete result;
}
