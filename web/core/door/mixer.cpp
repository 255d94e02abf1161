#include <span>

#include "capi/status.h"
#include "door/door.h"
#include "door/json.h"
#include "synergraph/core/error.h"
#include "synergraph/heads/best_weights.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/report/json_parts.h"
#include "synergraph/report/json_text.h"
#include "synergraph/subsets/game.h"
#include "synergraph/subsets/pruning.h"
#include "synergraph/subsets/subset_values.h"

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT
using namespace synergraph::door;  // NOLINT

struct door_mixer {
  HeadSystems systems;                 // one
  HeadsReport report;                  // at the first weights
  std::vector<HeadsMetrics> measured;  // of the report

  /// Convex weights.
  std::vector<double> weights(const double* raw, std::size_t count) const {
    require(raw, "weights");
    return normalised_weights(std::vector<double>(raw, raw + count), report.head_names.size());
  }
};

namespace {

std::string json_subsets(HeadValue value, const std::vector<double>& table) {
  const GameIndices indices = game_indices(table, 2);
  std::size_t at = 0;
  const std::string pairs = json_list(subsets_of_size(heads_of_table(table), 2), [&](Subset pair) {
    return fmt::format(R"({{"heads":{},"interaction":{}}})", json(heads_in(pair)),
                       indices.pairs[at++]);
  });
  const std::string best = json_list(best_subsets(table), [](const SubsetChoice& choice) {
    return fmt::format(R"({{"subset":{},"value":{}}})", choice.heads, choice.value);
  });
  return fmt::format(R"({{"value":{},"table":{},"shapley":{},"banzhaf":{},"pairs":{},"best":{}}})",
                     json(name_of(value)), json(table), json(indices.shapley),
                     json(indices.banzhaf), pairs, best);
}

}  // namespace

int door_mixer_create(sg_attention* attention, int layer, int sample, const char* options,
                      door_mixer** mixer) {
  return making(mixer, [&] {
    require(attention, "attention");
    Options given(options);
    const Request request({attention, layer, sample}, given);
    given.finish();
    auto made = std::make_unique<door_mixer>();
    visit_heads(*attention, layer, sample, [&](HeadSource& heads) { made->systems.add(heads); });
    made->report = {
        request.head_names, request.node_names, request.convention, request.weights, {}, {}};
    HeldHeads heads(made->systems);
    made->measured =
        measure(heads, request.weights, {.conventions = {request.convention}, .nodes = true});
    made->report.metrics = made->measured.front();
    return made.release();
  });
}

int door_mixer_json(const door_mixer* mixer, char** text) {
  return making(text, [&] {
    require(mixer, "mixer");
    return copied_text(json_report(mixer->report));
  });
}

int door_mixer_update(const door_mixer* mixer, const double* weights, std::size_t count,
                      char** text) {
  return making(text, [&] {
    require(mixer, "mixer");
    HeldHeads heads(mixer->systems);
    HeadsReport report{mixer->report.head_names,
                       mixer->report.node_names,
                       mixer->report.options,
                       mixer->weights(weights, count),
                       {},
                       {}};
    report.metrics = std::move(
        measure(heads, report.weights,
                {.conventions = {report.options}, .nodes = true, .measured = &mixer->measured})
            .front());
    report.metrics.heads.clear();
    return copied_text(
        fmt::format(R"({{"weights":{},{})", json(report.weights), json_report(report).substr(1)));
  });
}

int door_mixer_subsets(const door_mixer* mixer, const double* weights, std::size_t count,
                       char** text) {
  return making(text, [&] {
    require(mixer, "mixer");
    HeldHeads heads(mixer->systems);
    const SubsetValues values =
        subset_values(heads, mixer->weights(weights, count), {.convention = mixer->report.options});
    return copied_text(fmt::format(R"({{"heads":{},"gap":{},"values":[{},{}]}})", values.heads,
                                   values.fidelity_gap,
                                   json_subsets(HeadValue::kFidelity, values.fidelity),
                                   json_subsets(HeadValue::kSpeed, values.speed)));
  });
}

int door_mixer_best_weights(const door_mixer* mixer, const double* weights, std::size_t count,
                            const char* goal, char** text) {
  return making(text, [&] {
    require(mixer, "mixer");
    require(goal, "goal");
    BestWeightsOptions options;
    options.convention = mixer->report.options;
    const BestWeights best = best_weights(mixer->systems, mixer->weights(weights, count),
                                          named_option<WeightGoal>("goal", goal), options);
    return copied_text(json_text(json_weights(best, 1)));
  });
}

void door_mixer_free(door_mixer* mixer) {
  delete mixer;
}
