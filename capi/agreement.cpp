#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/game_settings.h"
#include "synergraph/core/special_values.h"
#include "synergraph/report/agreement_report.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace synergraph::capi {

std::vector<NamedArray> arrays_of(const AgreementReport& report) {
  std::vector<NamedArray> arrays;
  const auto layers = static_cast<std::int64_t>(report.layer_names.size());
  for (const Agreement& one : report.agreements) {
    NamedArray heads{one.name + "/heads", "", {}, {}, {static_cast<std::int64_t>(one.heads)}};
    for (const auto& [name, member] :
         {std::pair("rho", &TestResult::effect), std::pair("p", &TestResult::p_value)}) {
      arrays.push_back({one.name + "/" + name, "", {}, {one.pooled.*member}, {}});
      NamedArray each{one.name + "/layer_" + name, "layer", {layers}, {}, {}};
      for (const TestResult& test : one.layers) each.numbers.push_back(test.*member);
      arrays.push_back(std::move(each));
    }
    arrays.push_back(std::move(heads));
  }
  return arrays;
}

}  // namespace synergraph::capi

namespace {

/// Cuts numbers of all heads into those of each layer.
NumbersOfHeads by_layers(const double* numbers, std::span<const int64_t> heads) {
  NumbersOfHeads layers;
  for (const int64_t count : heads) {
    layers.emplace_back(numbers, numbers + count);
    numbers += count;
  }
  return layers;
}

}  // namespace

int sg_agreement(const char* options, const int64_t* heads, size_t layers, const double* reference,
                 const double* numbers, size_t count, sg_result** result) {
  return making(result, [&] {
    const auto settings = take_settings<AgreementSettings>(options);
    AgreementReport report;
    report.reference = settings.reference;
    TestOptions how;
    if (settings.seed) how.seed = static_cast<std::uint64_t>(*settings.seed);
    require(heads, "heads");
    require(reference, "reference");
    require(numbers, "numbers");
    if (layers == 0 || count == 0) throw InputError("there is nothing to compare");
    if (settings.names.size() != count) refuse("names", fmt::format("{} names", count));
    if (!settings.layers.empty() && settings.layers.size() != layers)
      refuse("layers", fmt::format("{} names", layers));
    const std::span of_layers(heads, layers);
    int64_t all = 0;
    for (const int64_t one : of_layers) {
      if (one < 1) throw InputError(fmt::format("a layer of {} heads", one));
      const std::size_t layer = report.layer_names.size();
      report.layer_names.push_back(settings.layers.empty() ? fmt::format("{}", layer)
                                                           : settings.layers[layer]);
      report.layer_heads.push_back(static_cast<std::size_t>(one));
      all += one;
    }
    const NumbersOfHeads known = by_layers(reference, of_layers);
    for (std::size_t k = 0; k < count; ++k)
      report.agreements.push_back(
          agreement(settings.names[k], known,
                    by_layers(numbers + static_cast<std::size_t>(all) * k, of_layers), how));
    return new sg_result(std::move(report));
  });
}
