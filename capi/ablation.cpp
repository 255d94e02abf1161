#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
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

struct Losses {
  AblatedLoss loss;
  std::size_t samples = 0;
};

/// A number for every sample.
std::vector<double> take_samples(Options& given, const char* key) {
  constexpr double kMost = std::numeric_limits<double>::max();
  auto losses = given.take_numbers(key, -kMost, kMost);
  if (!losses) refuse(key, "a number for every sample");
  return std::move(*losses);
}

Losses take_losses(Options& given) {
  AblatedLoss loss;
  loss.kind = given.take_name<Ablation>("kind").value_or(loss.kind);
  loss.name = given.take_text("loss").value_or("loss");
  const std::vector<double> intact = take_samples(given, "intact");
  const std::vector<double> without = take_samples(given, "without_attention");
  if (without.size() != intact.size())
    refuse("without_attention", fmt::format("a list of {} numbers", intact.size()));
  std::vector<double> needed;
  std::transform(without.begin(), without.end(), intact.begin(), std::back_inserter(needed),
                 std::minus<>());
  loss.intact = estimate(intact);
  loss.without_attention = estimate(without);
  loss.needed = estimate(needed);
  return {std::move(loss), intact.size()};
}

std::vector<AttentionLayer> take_layers(Options& given, std::size_t samples) {
  constexpr std::int64_t kMostHeads = 1 << 16;
  const auto names = given.take_texts("layers");
  if (!names) refuse("layers", "the names of the layers");
  const std::vector<std::int64_t> heads = given.take_counts("heads", 1, kMostHeads);
  if (heads.size() != names->size()) refuse("heads", fmt::format("{} numbers", names->size()));
  const auto tokens = given.take_count("tokens", 0, INT32_MAX).value_or(0);
  std::vector<AttentionLayer> layers;
  for (std::size_t l = 0; l < heads.size(); ++l) {
    AttentionLayer& layer = layers.emplace_back();
    layer.name = (*names)[l];
    layer.samples = static_cast<int>(samples);
    layer.heads = static_cast<int>(heads[l]);
    layer.tokens = static_cast<int>(tokens);
  }
  return layers;
}

}  // namespace

int sg_ablation(const char* options, sg_set_values values, void* user, const sg_call* call,
                sg_result** result) {
  return making(result, [&] {
    if (values == nullptr) throw UsageError("values is NULL");
    Options given(options);
    GameSettings settings;
    visit_settings(settings, TakeSettings{given});
    HeadsReport report;
    const Losses losses = take_losses(given);
    report.ablated = losses.loss;
    report.verbose = true;
    std::vector<AttentionLayer> layers = take_layers(given, losses.samples);
    given.finish();
    const auto ask = [&](int layer, std::span<const std::vector<int>> sets,
                         std::span<double> into) {
      const auto heads = static_cast<std::size_t>(layers[static_cast<std::size_t>(layer)].heads);
      std::vector<unsigned char> in(sets.size() * heads, 0);
      for (std::size_t k = 0; k < sets.size(); ++k)
        for (const int head : sets[k]) in[k * heads + static_cast<std::size_t>(head)] = 1;
      if (values(layer, static_cast<std::int64_t>(sets.size()), in.data(), into.data(), user) != 0)
        throw Stopped();
    };
    HeadValueOptions how = settings.options();
    run_call(call, WorkingMemory().bytes(), [&](const Execution& execution) {
      how.execution = execution;
      report.head_values = value_games(layers, ask, how);
    });
    return new sg_result(std::move(report));
  });
}
