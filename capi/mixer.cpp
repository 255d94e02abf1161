#include <span>
#include <utility>

#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/system.h"
#include "capi/take_settings.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/head_systems.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/subsets/game.h"
#include "synergraph/subsets/pruning.h"
#include "synergraph/subsets/subset_values.h"
#include "synergraph/weights/best_weights.h"

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT
using nlohmann::ordered_json;

namespace {

/// Heads that are in memory.
class HeldHeads : public HeadSource {
 public:
  explicit HeldHeads(const HeadSystems& systems) : systems_(systems) {}
  int heads() const override { return systems_.heads(); }
  int nodes() const override { return systems_.nodes(0); }
  const MirroredMatrix& head(int h) override { return systems_.diffusion(0, h); }
  const Walk* own_walk(int h) override { return systems_.own_walk(0, h); }
  const RowShares* row_shares() override { return systems_.row_shares(0); }

 private:
  const HeadSystems& systems_;
};

}  // namespace

struct sg_mixer {
  SystemRequest request;               // with the first weights
  HeadSystems systems = {};            // one
  std::vector<HeadsMetrics> measured;  // each head's numbers, which weights do not change

  /// The request at these weights, or at the first ones.
  SystemRequest at(const double* weights, std::size_t count) const {
    SystemRequest other = request;
    if (weights != nullptr || count > 0) {
      require(weights, "weights");
      other.weights = normalised_weights({weights, weights + count}, request.head_names.size());
    }
    return other;
  }
};

namespace {

ordered_json json_subsets(HeadValue value, const std::vector<double>& table) {
  const GameIndices indices = game_indices(table, 2);
  ordered_json pairs = ordered_json::array();
  for (const Subset pair : subsets_of_size(heads_of_table(table), 2))
    pairs.push_back({{"heads", heads_in(pair)}, {"interaction", indices.pairs[pairs.size()]}});
  ordered_json best = ordered_json::array();
  for (const SubsetChoice& choice : best_subsets(table))
    best.push_back({{"subset", choice.heads}, {"value", choice.value}});
  return {{"value", name_of(value)},    {"table", table},
          {"shapley", indices.shapley}, {"banzhaf", indices.banzhaf},
          {"pairs", std::move(pairs)},  {"best", std::move(best)}};
}

/// The body of a function that says something of a mixer at some weights, on `memory` bytes.
template <class Made, class Work>
int of_mixer(const sg_mixer* mixer, const double* weights, std::size_t count, const sg_call* call,
             Made** place, const Work& work) {
  return making(place, [&] {
    require(mixer, "mixer");
    const SystemRequest request = mixer->at(weights, count);
    HeldHeads heads(mixer->systems);
    Made* made = nullptr;
    run_call(call, WorkingMemory().bytes(),
             [&](const Execution& execution) { made = work(heads, request, execution); });
    return made;
  });
}

}  // namespace

int sg_mixer_create(sg_attention* attention, int64_t layer, int64_t sample, const char* options,
                    const sg_call* call, sg_mixer** mixer) {
  return making(mixer, [&] {
    require(attention, "attention");
    Options given(options);
    auto made =
        std::make_unique<sg_mixer>(sg_mixer{SystemRequest(*attention, layer, given), {}, {}});
    given.finish();
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      visit_heads(
          *attention, layer, sample, [&](HeadSource& heads) { made->systems.add(heads); },
          made->request.edges);
      HeldHeads heads(made->systems);
      made->measured = {made->request.measure(heads, execution).metrics};
    });
    return made.release();
  });
}

int sg_mixer_measure(const sg_mixer* mixer, const double* weights, size_t count,
                     const sg_call* call, sg_result** result) {
  return of_mixer(mixer, weights, count, call, result,
                  [&](HeadSource& heads, const SystemRequest& request, const Execution& execution) {
                    return new sg_result(request.measure(heads, execution, &mixer->measured));
                  });
}

int sg_mixer_update(const sg_mixer* mixer, const double* weights, size_t count, const sg_call* call,
                    char** text) {
  return of_mixer(
      mixer, weights, count, call, text,
      [&](HeadSource& heads, const SystemRequest& request, const Execution& execution) {
        GraphReport report = request.measure(heads, execution, &mixer->measured);
        report.metrics.heads.clear();
        return copied_text(fmt::format(R"({{"weights":[{}],{})", fmt::join(report.weights, ","),
                                       json_report(report).substr(1)));
      });
}

int sg_mixer_curves(const sg_mixer* mixer, const double* weights, size_t count, const char* options,
                    const sg_call* call, sg_result** result) {
  return of_mixer(mixer, weights, count, call, result,
                  [&](HeadSource& heads, const SystemRequest& request, const Execution& execution) {
                    const auto settings = take_settings<CurveSettings>(options);
                    return new sg_result(curves_of(heads, request, settings, execution));
                  });
}

int sg_mixer_subsets(const sg_mixer* mixer, const double* weights, size_t count,
                     const sg_call* call, char** text) {
  return of_mixer(
      mixer, weights, count, call, text,
      [&](HeadSource& heads, const SystemRequest& request, const Execution& execution) {
        const SubsetValues values = subset_values(
            heads, request.weights, {.convention = request.convention, .execution = execution});
        return copied_text(json_text({{"heads", values.heads},
                                      {"gap", values.fidelity_gap},
                                      {"values",
                                       {json_subsets(HeadValue::kFidelity, values.fidelity),
                                        json_subsets(HeadValue::kSpeed, values.speed)}}}));
      });
}

int sg_mixer_best_weights(const sg_mixer* mixer, const double* weights, size_t count,
                          const char* goal, const sg_call* call, char** text) {
  return of_mixer(mixer, weights, count, call, text,
                  [&](HeadSource&, const SystemRequest& request, const Execution& execution) {
                    require(goal, "goal");
                    if (request.edges.moved())
                      throw UsageError(fmt::format(
                          "{} {}: the weights of the heads follow from what they move, so there "
                          "are no best weights",
                          option_mark("edges"), name_of(request.edges.kind())));
                    BestWeightsOptions options;
                    options.convention = request.convention;
                    options.execution = execution;
                    const BestWeights best =
                        best_weights(mixer->systems, request.weights,
                                     named_option<WeightGoal>("goal", goal), options);
                    return copied_text(json_text(json_weights(best, 1)));
                  });
}

void sg_mixer_free(sg_mixer* mixer) {
  delete mixer;
}
