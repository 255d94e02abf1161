// What a page asks of results: their documents, and the arrays of systems. capi/result.cpp and
// capi/arrays.cpp would bring studies and tables along.

#include "capi/result.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "capi/status.h"
#include "synergraph/report/json_text.h"

using synergraph::capi::copied_text;
using synergraph::capi::making;
using synergraph::capi::require;
using synergraph::capi::SystemArrays;

sg_array synergraph::capi::NamedArray::view() const {
  return {name.c_str(), axes.c_str(),  SG_FLOAT64, static_cast<std::int32_t>(shape.size()),
          shape.data(), numbers.data()};
}

sg_result::sg_result(Report measured) : report(std::move(measured)) {
  if (const auto* system = std::get_if<SystemArrays>(&report))
    for (const auto& array : system->arrays) views.push_back(array.view());
}

int sg_result_json(const sg_result* result, char** text) {
  return making(text, [&] {
    require(result, "result");
    if (const auto* layers = std::get_if<synergraph::AnalyzeReport>(&result->report))
      return copied_text(json_report(*layers));
    if (const auto* system = std::get_if<SystemArrays>(&result->report))
      return copied_text(
          synergraph::json_text({{"heads", system->head_names}, {"nodes", system->node_names}}));
    return copied_text(json_report(std::get<synergraph::GraphReport>(result->report)));
  });
}

const sg_array* sg_result_find(const sg_result* result, const char* name) {
  for (const sg_array& array : result->views)
    if (std::string_view(array.name) == name) return &array;
  return nullptr;
}

void sg_result_free(sg_result* result) {
  delete result;
}
