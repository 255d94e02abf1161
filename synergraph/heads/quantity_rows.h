#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a number counts. Numbers other than changes are at least 0.
enum class Unit {
  kSteps,   ///< may be infinite: never
  kShare,   ///< between 0 and 1
  kRatio,   ///< may be infinite: of something to nothing
  kChange,  ///< difference of two shares
  kNode,    ///< index
  kHead,    ///< index
  kFlag,    ///< 0 or 1
};
template <>
inline constexpr NameTable<Unit, 7> kNamesOf<Unit>{{{Unit::kSteps, "steps"},
                                                    {Unit::kShare, "share"},
                                                    {Unit::kRatio, "ratio"},
                                                    {Unit::kChange, "change"},
                                                    {Unit::kNode, "node"},
                                                    {Unit::kHead, "head"},
                                                    {Unit::kFlag, "flag"}}};

/// Which end of the scale is good.
enum class Better { kNeither, kLess, kMore };
template <>
inline constexpr NameTable<Better, 3> kNamesOf<Better>{
    {{Better::kNeither, "neither"}, {Better::kLess, "less"}, {Better::kMore, "more"}}};

/// What a number belongs to.
enum class Owner {
  kSystem,  ///< one head, and all heads of a layer together
  kLayer,   ///< all heads of a layer, compared with each other
  kHead,    ///< one head among those of its layer
  kNode,    ///< one token, of one system
  kPair,    ///< two heads
};
template <>
inline constexpr NameTable<Owner, 5> kNamesOf<Owner>{{{Owner::kSystem, "head, layer"},
                                                      {Owner::kLayer, "layer"},
                                                      {Owner::kHead, "head"},
                                                      {Owner::kNode, "node"},
                                                      {Owner::kPair, "pair"}}};

/// The one description of a number. Tables, CSV, JSON, arrays, the page and the docs take names
/// and order from these rows. In texts EPS stands for the threshold of T_mix, CUTOFF for the
/// cutoff of truncated hitting times.
struct QuantityRow {
  std::string_view key;          ///< in files
  std::string_view symbol = {};  ///< in formulas
  std::string_view heading;      ///< of a column
  std::string_view label;
  std::string_view about;   ///< definition in a line
  std::string_view anchor;  ///< of the definition in docs/theory.md
  Unit unit = Unit::kShare;
  Better better = Better::kNeither;
  Owner owner = Owner::kSystem;
  bool summarised = false;  ///< over samples: it is a Quantity
  bool column = false;      ///< of the tables for people
  bool of_walk = false;     ///< of a layer: of the walks of its heads
  bool wide = false;        ///< values are often orders of magnitude apart
  // Where the value stands. T_mix has a value for each eps.
  double (*of_system)(const Metrics&) = nullptr;
  double Metrics::*in_system = nullptr;  ///< instead of of_system
  double (*of_layer)(const HeadsMetrics&) = nullptr;
  double HeadsMetrics::*in_layer = nullptr;  ///< instead of of_layer
  const std::vector<double>& (*of_nodes)(const Metrics&) = nullptr;
};

/// The rows that are Quantities come first.
inline constexpr auto kQuantityRows = std::to_array<QuantityRow>({
    {.key = "forward_probability",
     .symbol = "p",
     .heading = "p",
     .label = "Forward probability",
     .about = "least probability of a step forward, over the sources",
     .anchor = "forward_probability",
     .better = Better::kMore,
     .summarised = true,
     .column = true,
     .of_walk = true,
     .of_system = [](const Metrics& m) { return m.forward_probability; }},
    {.key = "truncated_hitting_mean",
     .symbol = "mean E[min(T, CUTOFF)]",
     .heading = "hit cut CUTOFF",
     .label = "Hitting time, mean, cut",
     .about = "expected steps of a random walk to the last token, every walk cut at the cutoff, "
              "mean over all start tokens: the paper’s mixing time",
     .anchor = "truncated_hitting_mean",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .summarised = true,
     .column = true,
     .of_walk = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.walk.truncated.mean; }},
    {.key = "truncated_hitting_max",
     .symbol = "max E[min(T, CUTOFF)]",
     .heading = "hit cut max",
     .label = "Hitting time, largest, cut",
     .about = "expected steps to the last token from the slowest start token, every walk cut at "
              "the cutoff",
     .anchor = "truncated_hitting_max",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .summarised = true,
     .of_walk = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.walk.truncated.max; }},
    {.key = "hitting_mean",
     .symbol = "mean E[T]",
     .heading = "hit mean",
     .label = "Hitting time, mean",
     .about = "expected steps of a random walk to the last token, mean over all start tokens",
     .anchor = "hitting_mean",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .summarised = true,
     .column = true,
     .of_walk = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.walk.hitting.mean; }},
    {.key = "hitting_max",
     .symbol = "max E[T]",
     .heading = "hit max",
     .label = "Hitting time, largest",
     .about = "expected steps to the last token from the slowest start token",
     .anchor = "hitting_max",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .summarised = true,
     .column = true,
     .of_walk = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.walk.hitting.max; }},
    {.key = "mixing_time_EPS",
     .symbol = "T_mix(EPS)",
     .heading = "T_mix(EPS)",
     .label = "Mixing time T_mix(EPS)",
     .about = "steps after which a walk from any token has reached the last one but for a chance "
              "of EPS",
     .anchor = "mixing_time",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .summarised = true,
     .column = true,
     .of_walk = true,
     .wide = true},
    {.key = "minimax_fidelity",
     .symbol = "φ_min",
     .heading = "fidelity",
     .label = "Minimax fidelity",
     .about = "the weakest peak signal that any token delivers to the last one",
     .anchor = "minimax_fidelity",
     .better = Better::kMore,
     .summarised = true,
     .column = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.fidelity.minimax; }},
    {.key = "minimax_fidelity_upper",
     .symbol = "φ_min, upper end",
     .heading = "fidelity, at most",
     .label = "Minimax fidelity, upper end",
     .about = "what the fidelity is at most; the same where it is certified",
     .anchor = "minimax_fidelity_upper",
     .better = Better::kMore,
     .summarised = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.fidelity.minimax_upper; }},
    {.key = "minimax_time",
     .symbol = "t of φ_min",
     .heading = "at step",
     .label = "Time of the minimax fidelity",
     .about = "the step at which the weakest token’s signal peaks",
     .anchor = "minimax_time",
     .unit = Unit::kSteps,
     .summarised = true,
     .wide = true,
     .of_system = [](const Metrics& m) { return m.fidelity.minimax_time; }},
    {.key = "best_head_fidelity",
     .symbol = "max_h φ_min(h)",
     .heading = "its fidelity",
     .label = "Fidelity of the best head",
     .about = "minimax fidelity of the head that is best alone, on each sample its own",
     .anchor = "best_head_fidelity",
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .summarised = true,
     .column = true,
     .wide = true,
     .of_layer = [](const HeadsMetrics& h) { return h.synergy.best_head_fidelity; }},
    {.key = "synergy",
     .symbol = "φ_min / max_h φ_min(h)",
     .heading = "synergy",
     .label = "Synergy",
     .about = "fidelity of all heads together over that of the best head; above 1 they beat their "
              "best member",
     .anchor = "synergy",
     .unit = Unit::kRatio,
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .summarised = true,
     .column = true,
     .of_layer = [](const HeadsMetrics& h) { return h.synergy.value; }},
    {.key = "mixing_synergy",
     .symbol = "min_h T_mix(h) / T_mix",
     .heading = "mixing synergy",
     .label = "Mixing synergy",
     .about = "mixing time of the fastest head over that of all together, both by the per-head "
              "walk and the first eps",
     .anchor = "mixing_synergy",
     .unit = Unit::kRatio,
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .summarised = true,
     .column = true,
     .of_walk = true,
     .in_layer = &HeadsMetrics::mixing_synergy},
    {.key = "cross_head_share",
     .symbol = "1 - pure / whole",
     .heading = "cross-head",
     .label = "Cross-head share",
     .about = "share of the weakest signal that changes head on its way",
     .anchor = "cross_head_share",
     .owner = Owner::kLayer,
     .summarised = true,
     .column = true,
     .in_layer = &HeadsMetrics::cross_head_share},
    {.key = "effective_forward_probability",
     .symbol = "Σ w p",
     .heading = "Σ w p",
     .label = "Effective forward probability",
     .about = "the heads’ forward probabilities, weighted",
     .anchor = "effective_forward_probability",
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .summarised = true,
     .of_walk = true,
     .in_layer = &HeadsMetrics::effective_forward_probability},

    // Of one sample; none is averaged.
    {.key = "best_head_fidelity_upper",
     .symbol = "max_h φ_min(h), upper end",
     .heading = "best fidelity, at most",
     .label = "Fidelity of the best head, upper end",
     .about = "what the fidelity of the best head is at most; the same where it is certified",
     .anchor = "synergy",
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .of_layer = [](const HeadsMetrics& h) { return h.synergy.best_head_fidelity_upper; }},
    {.key = "synergy_lower",
     .symbol = "synergy, lower end",
     .heading = "synergy, at least",
     .label = "Synergy, lower end",
     .about = "what the synergy is at least; the same where fidelities are certified",
     .anchor = "synergy",
     .unit = Unit::kRatio,
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .of_layer = [](const HeadsMetrics& h) { return h.synergy.lower; }},
    {.key = "synergy_upper",
     .symbol = "synergy, upper end",
     .heading = "synergy, at most",
     .label = "Synergy, upper end",
     .about = "what the synergy is at most; the same where fidelities are certified",
     .anchor = "synergy",
     .unit = Unit::kRatio,
     .better = Better::kMore,
     .owner = Owner::kLayer,
     .of_layer = [](const HeadsMetrics& h) { return h.synergy.upper; }},
    {.key = "best_head",
     .symbol = "argmax_h φ_min(h)",
     .heading = "best head",
     .label = "Best head",
     .about = "the head with the largest minimax fidelity alone",
     .anchor = "synergy",
     .unit = Unit::kHead,
     .owner = Owner::kLayer,
     .of_layer = [](const HeadsMetrics& h) { return static_cast<double>(h.synergy.best_head); }},
    {.key = "best_head_decided",
     .heading = "decided",
     .label = "Best head is decided",
     .about = "no other head can be more faithful",
     .anchor = "synergy",
     .unit = Unit::kFlag,
     .owner = Owner::kLayer,
     .of_layer =
         [](const HeadsMetrics& h) { return static_cast<double>(h.synergy.best_head_decided); }},
    {.key = "minimax_node",
     .symbol = "argmin_j φ_j",
     .heading = "node",
     .label = "Weakest token",
     .about = "the token with the weakest peak signal",
     .anchor = "minimax_fidelity",
     .unit = Unit::kNode,
     .of_system = [](const Metrics& m) { return static_cast<double>(m.fidelity.minimax_node); }},
    {.key = "certified",
     .heading = "certified",
     .label = "Fidelity is certified",
     .about = "no later step can change the minimax fidelity",
     .anchor = "certified-horizon",
     .unit = Unit::kFlag,
     .of_system = [](const Metrics& m) { return static_cast<double>(m.fidelity.certified); }},
    {.key = "worst_node",
     .symbol = "argmax_j E[T_j]",
     .heading = "slowest",
     .label = "Slowest token",
     .about = "the start token with the largest hitting time",
     .anchor = "hitting_mean",
     .unit = Unit::kNode,
     .of_walk = true,
     .of_system = [](const Metrics& m) { return static_cast<double>(m.walk.hitting.worst_node); }},
    {.key = "hitting_time",
     .symbol = "E[T_j]",
     .heading = "hit",
     .label = "Hitting time",
     .about = "expected steps of a random walk from this token to the last one",
     .anchor = "hitting_mean",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .owner = Owner::kNode,
     .of_walk = true,
     .wide = true,
     .of_nodes = [](const Metrics& m) -> const std::vector<double>& {
       return m.walk.hitting.node;
     }},
    {.key = "truncated_hitting_time",
     .symbol = "E[min(T_j, CUTOFF)]",
     .heading = "hit cut CUTOFF",
     .label = "Hitting time, cut",
     .about = "expected steps of a random walk from this token to the last one, every walk cut at "
              "the cutoff",
     .anchor = "truncated_hitting_mean",
     .unit = Unit::kSteps,
     .better = Better::kLess,
     .owner = Owner::kNode,
     .of_walk = true,
     .wide = true,
     .of_nodes = [](const Metrics& m) -> const std::vector<double>& {
       return m.walk.truncated.node;
     }},
    {.key = "node_fidelity",
     .symbol = "φ_j",
     .heading = "fidelity",
     .label = "Node fidelity",
     .about = "the peak of this token’s signal at the last one",
     .anchor = "node_fidelity",
     .better = Better::kMore,
     .owner = Owner::kNode,
     .wide = true,
     .of_nodes = [](const Metrics& m) -> const std::vector<double>& { return m.fidelity.node; }},
    {.key = "node_fidelity_upper",
     .symbol = "φ_j, upper end",
     .heading = "fidelity, at most",
     .label = "Node fidelity, upper end",
     .about = "what the node fidelity is at most; the same where it is certified",
     .anchor = "certified-horizon",
     .better = Better::kMore,
     .owner = Owner::kNode,
     .wide = true,
     .of_nodes = [](const Metrics& m) -> const std::vector<double>& {
       return m.fidelity.node_upper;
     }},
    {.key = "optimal_time",
     .symbol = "t of φ_j",
     .heading = "at step",
     .label = "Optimal fidelity time",
     .about = "the step at which this token’s signal peaks",
     .anchor = "optimal_time",
     .unit = Unit::kSteps,
     .owner = Owner::kNode,
     .wide = true,
     .of_nodes = [](const Metrics& m) -> const std::vector<double>& {
       return m.fidelity.optimal_time;
     }},

    // Of a head among the others of its layer, over samples.
    {.key = "weight",
     .symbol = "w",
     .heading = "weight",
     .label = "Head weight",
     .about = "what the head counts in the combination",
     .anchor = "learned-head-weights",
     .owner = Owner::kHead},
    {.key = "best_share",
     .heading = "best in",
     .label = "Samples in which it is the best head",
     .about = "share of the samples in which this head has the largest fidelity",
     .anchor = "synergy",
     .owner = Owner::kHead},
    {.key = "synergy_share",
     .heading = "present",
     .label = "Samples with synergy",
     .about = "share of the samples in which the synergy is above 1",
     .anchor = "synergy",
     .better = Better::kMore,
     .owner = Owner::kLayer},
    {.key = "speed",
     .symbol = "v_s(S)",
     .heading = "speed",
     .label = "Speed",
     .about = "share of the steps up to the cutoff that a walk saves on its way to the last token",
     .anchor = "subsets-of-heads",
     .better = Better::kMore,
     .owner = Owner::kLayer},
    {.key = "shapley",
     .heading = "Shapley",
     .label = "Shapley value",
     .about = "the head’s part of the value of all: what it adds to those before it in a random "
              "order, on average",
     .anchor = "shapley",
     .unit = Unit::kChange,
     .better = Better::kMore,
     .owner = Owner::kHead,
     .column = true},
    {.key = "banzhaf",
     .heading = "Banzhaf",
     .label = "Banzhaf value",
     .about = "what the head adds to a random set of the others",
     .anchor = "banzhaf",
     .unit = Unit::kChange,
     .better = Better::kMore,
     .owner = Owner::kHead},
    {.key = "alone",
     .heading = "alone",
     .label = "Value alone",
     .about = "the value of this head as the only one",
     .anchor = "alone",
     .better = Better::kMore,
     .owner = Owner::kHead,
     .column = true},
    {.key = "dropped",
     .heading = "lost",
     .label = "Lost without it",
     .about = "what all heads lose without this one; below 0 they are better without it",
     .anchor = "dropped",
     .unit = Unit::kChange,
     .owner = Owner::kHead,
     .column = true},
    {.key = "stack_share",
     .heading = "share",
     .label = "Share of the weakest token’s signal",
     .about = "of the signal that the followed token sends through all layers, the part that "
              "passes through this head; the rest of a layer passes beside its heads",
     .anchor = "stack_share",
     .owner = Owner::kHead},
    {.key = "interaction",
     .heading = "interaction",
     .label = "Interaction",
     .about = "Shapley interaction index of a pair: above 0 complementary, below 0 redundant",
     .anchor = "subsets-of-heads",
     .unit = Unit::kChange,
     .owner = Owner::kPair},
});

/// The number of the row with this key, which must exist.
constexpr int quantity_row(std::string_view key) {
  std::size_t k = 0;
  while (kQuantityRows.at(k).key != key) ++k;
  return static_cast<int>(k);
}

constexpr const QuantityRow& row_of(std::string_view key) {
  return kQuantityRows[static_cast<std::size_t>(quantity_row(key))];
}

}  // namespace synergraph
#pragma GCC visibility pop
