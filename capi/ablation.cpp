#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "capi/call.h"
#include "capi/options.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/game_settings.h"
#include "synergraph/analysis/game_values.h"
#include "synergraph/core/error.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/statistics/estimate.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

AblatedLoss loss_of(const AblationSettings& settings) {
  const std::vector<double>& intact = settings.intact;
  const std::vector<double>& without = settings.without_attention;
  if (intact.empty()) refuse("intact", "a number for every sample");
  if (without.size() != intact.size())
    refuse("without_attention", fmt::format("a list of {} numbers", intact.size()));
  AblatedLoss loss;
  loss.kind = settings.kind;
  loss.name = settings.loss;
  std::vector<double> needed;
  std::transform(without.begin(), without.end(), intact.begin(), std::back_inserter(needed),
                 std::minus<>());
  loss.intact = estimate(intact);
  loss.without_attention = estimate(without);
  loss.needed = estimate(needed);
  return loss;
}

std::vector<AttentionLayer> layers_of(const AblationSettings& settings) {
  if (settings.layers.empty()) refuse("layers", "the names of the layers");
  if (settings.heads.size() != settings.layers.size())
    refuse("heads", fmt::format("{} numbers", settings.layers.size()));
  std::vector<AttentionLayer> layers;
  for (std::size_t l = 0; l < settings.heads.size(); ++l) {
    AttentionLayer& layer = layers.emplace_back();
    layer.name = settings.layers[l];
    layer.samples = static_cast<int>(settings.intact.size());
    layer.heads = settings.heads[l];
    layer.tokens = settings.tokens;
  }
  return layers;
}

}  // namespace

int sg_ablation(const char* options, sg_set_values values, void* user, const sg_call* call,
                sg_result** result) {
  return making(result, [&] {
    if (values == nullptr) throw UsageError("values is NULL");
    const auto settings = take_settings<AblationSettings>(options);
    HeadsReport report;
    report.ablated = loss_of(settings);
    report.verbose = true;
    std::vector<AttentionLayer> layers = layers_of(settings);
    const auto ask = [&](int layer, std::span<const std::vector<int>> sets,
                         std::span<double> into) {
      const auto heads = static_cast<std::size_t>(layers[static_cast<std::size_t>(layer)].heads);
      std::vector<unsigned char> in(sets.size() * heads, 0);
      for (std::size_t k = 0; k < sets.size(); ++k)
        for (const int head : sets[k]) in[k * heads + static_cast<std::size_t>(head)] = 1;
      if (values(layer, static_cast<std::int64_t>(sets.size()), in.data(), into.data(), user) != 0)
        throw Stopped();
    };
    HeadValueOptions how = settings.game.options();
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      how.execution = execution;
      report.head_values = value_games(layers, ask, how);
    });
    return new sg_result(std::move(report));
  });
}
