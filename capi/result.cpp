#include "capi/result.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "capi/status.h"
#include "synergraph/core/error.h"

using synergraph::capi::copied_text;
using synergraph::capi::guarded;
using synergraph::capi::making;
using synergraph::capi::require;

sg_result::sg_result(Report measured) : report(std::move(measured)) {
  arrays = std::visit([](auto& of) { return synergraph::capi::arrays_of(of); }, report);
  for (const auto& array : arrays) views.push_back(array.view());
}

int sg_result_json(const sg_result* result, char** text) {
  return making(text, [&] {
    require(result, "result");
    return copied_text(std::visit([](const auto& of) { return json_report(of); }, result->report));
  });
}

int sg_result_table(const sg_result* result, int64_t columns, char** text) {
  return making(text, [&] {
    require(result, "result");
    if (columns < 0) throw synergraph::UsageError(fmt::format("{} columns", columns));
    const std::size_t width =
        columns == 0 ? synergraph::kUnlimited : static_cast<std::size_t>(columns);
    return copied_text(std::visit(
        [&](const auto& of) { return synergraph::capi::spelled_here(format_report(of, width)); },
        result->report));
  });
}

int sg_result_csv(const sg_result* result, char** text) {
  return making(text, [&] {
    require(result, "result");
    return copied_text(std::visit(
        [](const auto& of) -> std::string {
          if constexpr (std::is_same_v<std::decay_t<decltype(of)>, synergraph::ReproduceReport>)
            throw synergraph::UsageError("a study has several tables: they are in its directory");
          else
            return format_csv(csv_table(of));
        },
        result->report));
  });
}

const sg_array* sg_result_array(const sg_result* result, size_t index) {
  return result != nullptr && index < result->views.size() ? &result->views[index] : nullptr;
}

const sg_array* sg_result_find(const sg_result* result, const char* name) {
  if (result == nullptr || name == nullptr) return nullptr;
  for (const sg_array& array : result->views)
    if (std::string_view(array.name) == name) return &array;
  return nullptr;
}

void sg_result_free(sg_result* result) {
  delete result;
}
