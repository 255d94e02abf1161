#include <fmt/core.h>

#include <functional>
#include <set>
#include <utility>

#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/core/special_values.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/compare_input.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace synergraph::capi {

std::vector<NamedArray> arrays_of(const CompareReport& report) {
  const Comparison& of = report.comparison;
  const auto layers = static_cast<std::int64_t>(of.layers.size());
  std::size_t heads = 0;
  std::set<Quantity> quantities;
  for (const LayerComparison& layer : of.layers) {
    heads = std::max(heads, layer.heads.size());
    for (const auto& [quantity, number] : layer.all) quantities.insert(quantity);
    for (const NumberComparisons& head : layer.heads)
      for (const auto& [quantity, number] : head) quantities.insert(quantity);
  }
  using Number = std::function<double(const NumberComparison&)>;
  const std::pair<const char*, Number> parts[] = {
      {"a", [](const NumberComparison& one) { return one.numbers.a; }},
      {"b", [](const NumberComparison& one) { return one.numbers.b; }},
      {"difference", [](const NumberComparison& one) { return one.numbers.difference; }},
      {"low", [](const NumberComparison& one) { return one.numbers.low; }},
      {"high", [](const NumberComparison& one) { return one.numbers.high; }},
      {"p", [](const NumberComparison& one) { return one.numbers.p; }},
      {"p_corrected", [](const NumberComparison& one) { return one.corrected; }}};
  const auto value = [](const NumberComparisons& numbers, const Quantity& quantity,
                        const Number& number) {
    const auto found = numbers.find(quantity);
    return found == numbers.end() ? kNan : number(found->second);
  };
  std::vector<NamedArray> arrays;
  for (const Quantity& quantity : quantities)
    for (const auto& [part, number] : parts) {
      const std::string name = fmt::format("{}/{}", part, key_of(quantity));
      NamedArray all{name, "layer", {layers}, {}, {}};
      NamedArray each{
          "heads/" + name, "layer head", {layers, static_cast<std::int64_t>(heads)}, {}, {}};
      for (const LayerComparison& layer : of.layers) {
        all.numbers.push_back(value(layer.all, quantity, number));
        for (std::size_t h = 0; h < heads; ++h)
          each.numbers.push_back(h < layer.heads.size() ? value(layer.heads[h], quantity, number)
                                                        : kNan);
      }
      arrays.push_back(std::move(all));
      if (heads > 0 && quantity.of_system()) arrays.push_back(std::move(each));
    }
  return arrays;
}

}  // namespace synergraph::capi

int sg_compare(const char* options, const char* a, const char* b, sg_result** result) {
  return making(result, [&] {
    const auto settings = take_settings<CompareCommandSettings>(options);
    require(a, "a");
    require(b, "b");
    const auto name = [](const std::string& given, const char* standard) {
      return given.empty() ? std::string(standard) : given;
    };
    const ComparisonSettings& how = settings.compared;
    const ComparedSide first = parse_result(a, name(settings.name_a, "A"), how.sinks);
    const ComparedSide second = parse_result(b, name(settings.name_b, "B"), how.sinks);
    return new sg_result(CompareReport{compare(first, second, how), settings.verbose});
  });
}
