#include <algorithm>
#include <type_traits>

#include "synergraph/analysis/head_value_settings.h"
#include "synergraph/heads/quantity.h"
#include "synergraph/io/dtype.h"
#include "synergraph/io/file_format.h"
#include "synergraph/model/loss_game.h"
#include "synergraph/report/document_parts.h"
#include "synergraph/report/families_report.h"
#include "synergraph/report/head_numbers.h"
#include "synergraph/report/setting_echo.h"
#include "synergraph/subsets/subset_options.h"

namespace synergraph::schema {
namespace {

/// The settings that documents of this version always had. Settings that came later are missing
/// from older documents.
constexpr std::string_view kFirstSettings[] = {"normalization", "nodes", "horizon",    "eps",
                                               "cutoff",        "keep",  "exact_heads"};

/// What SettingEcho writes of these settings.
template <class Settings>
Fields echoed(Settings described) {
  Fields fields;
  visit_settings(described, [&]<class Value>(const Setting& of, const Value&, const auto&...) {
    if (!is_echoed(of.key)) return;
    const std::string key(of.key);
    Field field = std::is_same_v<Value, std::vector<double>> ? list_setting(key) : setting(key);
    field.key = document_key(of.key);
    if (std::ranges::find(kFirstSettings, of.key) == std::end(kFirstSettings))
      field.presence = kSince;
    if constexpr (std::is_same_v<Value, TokenChoice>) {
      field.type = text();
      field.presence = kSometimes;
    }
    fields.push_back(std::move(field));
  });
  return fields;
}

/// Mixing times in a document of one sample.
ordered_json times_of(const QuantityRow& row) {
  return list(object({one_setting("eps"), {"steps", maybe(), about(row)}}));
}

Fields metrics() {
  const Fields fields = {
      of_row("forward_probability", maybe()),
      {"mixing_bound", part("MixingBound"), "the paper's bound on T_mix from p"},
      {"mixing_time", times_of(row_of("mixing_time_EPS")), "one for each eps"},
      {"hitting_time", part("HittingTime"), "numbers of steps to the sink"},
      {"truncated_hitting_time", part("HittingTime"), "the same, every walk cut at the cutoff"},
      {"minimax_fidelity", part("MinimaxFidelity"), about(row_of("minimax_fidelity"))},
      of_row("node_fidelity", list(number())),
      of_row("node_fidelity_upper", list(number())),
      of_row("optimal_time", list(maybe()))};
  Fields times =
      of_rows([](const QuantityRow& row) { return row.backward && row.of_eps != nullptr; },
              times_of, kSometimes);
  for (Field& field : times) field.key = key_without_eps(row_of(field.key));
  return fields + times +
         of_rows([](const QuantityRow& row) { return row.in_system != nullptr; },
                 [](const QuantityRow&) { return maybe(); }, kSometimes);
}

/// All heads of one system together.
Fields together() {
  return Fields{{"combined", part("Metrics"), "all heads together"},
                {"effective_bound", part("MixingBound"),
                 "the paper's bound from effective_forward_probability"},
                {"adaptive_bound", part("MixingBound"), "the same with the best weights"},
                {"best_head", text(), "name of the best head"},
                of_row("best_head_decided", flag()),
                of_row("best_head_fidelity_upper", number()),
                of_row("synergy_lower", maybe()),
                of_row("synergy_upper", maybe()),
                {"synergy_present", or_null(flag()),
                 "whether the synergy is above 1; null: undecided"},
                {"mixing_synergy_present", flag(), "whether the mixing synergy is above 1"}} +
         of_rows(of_layer, [](const QuantityRow& row) {
           return &row == &row_of("best_head_fidelity") ? number() : maybe();
         });
}

/// Where attention comes from.
Fields input(const std::vector<std::string>& sources, const std::vector<std::string>& weights) {
  return {
      {"source", one_of(sources), "what was measured"},
      {"weights", one_of(weights), "where the head weights come from"},
      {"range", or_null(tuple(or_null(count()), 2)),
       "first token and end that were chosen; an end of null: to the last. null: see sequences"},
      {"sequences", list(tuple(count(), 3)),
       "sample, first token and end of each sequence, if samples are cut differently", kSometimes},
      {"missing_mass", just("node"), "a node takes the missing mass", kSometimes},
      {"edges", one_of({"norm", "contribution"}),
       "weights of the edges, if not attention; weights of heads are then means over tokens and "
       "samples",
       kSometimes},
      {"model", part("ModelShape"), "for a checkpoint", kSometimes},
      {"task", part("TaskScore"), "with --task", kSometimes}};
}

Field measuring_device() {
  return {"device", text(),
          "devices that measured, with their precision, and how many systems the CPU measured "
          "instead; absent: the CPU measured everything, in float64",
          kSometimes};
}

Fields layer() {
  Fields fields = {
      {"name", text(), "name of the tensor, or number of the layer"},
      {"samples", count(), "number of samples, or of their sequences if there are several sinks"},
      {"sinks", count(),
       "number of sinks of each sample, if several; the summaries are over means over the sinks",
       kSometimes},
      {"tokens", count(), "number of tokens"},
      {"combined", part("Summaries"), "all heads together"},
      {"best_head", count(), "the head that is best in most samples"},
      {"best_head_undecided", count(),
       "number of samples in which fidelities that are not certified leave the best head open",
       kSince},
      of_row("synergy_share", number()),
      {"synergy_undecided", count(),
       "number of samples in which such fidelities leave the synergy open", kSince}};
  for (Field& field : of_rows(of_layer, summary)) {
    if (row_of(field.key).of_walk) field.presence = kSometimes;
    fields.push_back(std::move(field));
  }
  fields.push_back({"heads", list(part("LayerHead"), 1),
                    "each head alone; numbers of walks with --per-head only"});
  return fields;
}

Fields value_of_heads(const ordered_json& value) {
  Fields head = {{"head", count(), "number of the head"}};
  for (const auto& [key, number] : kHeadNumbers) head.push_back(of_row(key, part("Estimate")));
  return {
      {"value", value, "what the value of a set of heads measures"},
      {"all", part("Estimate"), "value of all heads together"},
      {"gap", number(),
       "no set's value is further than this above its number; 0: all are certified"},
      {"heads", list(object(head)), "each head"},
      {"carriers",
       object({{"heads", list(count()),
                "the fewest heads whose Shapley values make 80 % of the value of all"},
               {"share", maybe(), "share that they make"}}),
       "heads that carry the value", kSince},
      {"better_without", list(count()),
       "heads without which the layer is better, clear of chance, the worst first", kSince},
      {"pairs", list(part("Interaction")), about(row_of("interaction"))},
      {"triples", list(part("Interaction")), "the same of three heads; none if sampled"},
      {"pruning",
       object({{"samples", count(), "number of samples in the means"},
               {"best",
                list(object({{"heads", list(count()), "the best set"},
                             {"value", number(), "its value"},
                             {"certified", flag(), "no other set of this size is better"}})),
                "the best set of every size from 0"},
               {"greedy_addition", part("PruningPath"),
                "greedy addition takes the heads in this order"},
               {"greedy_removal", part("PruningPath"),
                "greedy removal leaves the heads in this order"},
               {"shapley", part("PruningPath"), "heads by falling Shapley value"}}),
       "what fewer heads are worth"},
      {"smallest", part("SubsetChoice"), "the fewest heads that keep `keep` of the value of all"},
      {"beating", count(),
       "number of sets that are worth more than all heads; if sampled, of those in pruning.best"},
      {"better", or_null(part("SubsetChoice")), "the best of these sets"},
      {"held_out", or_null(part("HeldOutClaims")),
       "claims that are chosen on one half of the samples and judged on the other; null: too few "
       "samples",
       kSince},
      {"best_weights", part("BestWeights"), "after a search for weights", kSometimes}};
}

Fields held_out_claims() {
  const auto claim = [](const char* key, const char* about) {
    return Field{key, or_null(part("HeldOutClaim")), about};
  };
  return {{"samples", count(), "number of samples that judge"},
          claim("redundant", "the most redundant pair"),
          claim("complementary", "the most complementary pair"),
          claim("better_set", "the set that is worth most more than all heads"),
          claim("better_without", "the head whose removal gains most"),
          claim("other_weights", "the best weights")};
}

/// A layer's heads, and what they are worth.
Fields layer_of_heads(const ordered_json& weights, const char* about_weights, const char* value) {
  return {{"name", text(), "name of the tensor, or number of the layer"},
          {"samples", count(), "number of samples"},
          {"tokens", count(), "number of tokens"},
          {"weights", weights, about_weights},
          {"exact", flag(), "false: subsets were sampled"},
          {"permutations", count(), "number of sampled orders of the heads"},
          {"precise", flag(), "whether sampling reached the precision"},
          {"values", list(part(value), 1), "one for each value"}};
}

Fields ablation_document() {
  return head_of(kAblationDocument) +
         Fields{
             {"loss",
              object({{"name", text(), "name of the loss"},
                      {"intact", part("Estimate"), "loss of the model as it is"},
                      {"without_attention", part("Estimate"), "with every head of every layer off"},
                      {"needed", part("Estimate"), "the difference"}}),
              "what is ablated"},
             {"settings",
              object({{"kind", names<Ablation>(), "what heads that are off give"},
                      setting("keep"),
                      setting("exact_heads"),
                      setting("precision"),
                      setting("orders"),
                      {"seed", count(), "seed of the random orders"},
                      {"pairs", flag(), "whether pairs of sampled layers were measured"}}),
              "how it was measured"},
             {"summary", list(text()), "the findings in words"},
             {"layers",
              list(object(
                  layer_of_heads(of_type("null"), "null: heads are on or off", "LossValue"))),
              "each layer"}};
}

Fields agreement_document() {
  const Fields test = {{"rho", maybe(), "Spearman's rank correlation; null: numbers do not vary"},
                       {"p", maybe(), "by permutations within layers"},
                       {"smallest_p", maybe(), "the smallest p that so many heads can give"}};
  return head_of(kAgreementDocument) +
         Fields{{"reference", text(), "name of the loss's index"},
                {"numbers",
                 list(object({{"name", text(), "name of the number"},
                              {"pooled", object(test), "ranked within layers, all layers together"},
                              {"heads", count(), "number of heads behind pooled"},
                              {"layers",
                               list(object(test + Fields{{"layer", text(), "name of the layer"},
                                                         {"heads", count(), "number of heads"}})),
                               "each layer"}})),
                 "numbers that are compared with the loss"}};
}

Fields number_comparison() {
  return {
      {"a", maybe(), "mean of the finite values in A; of pairs, of those that are finite in both"},
      {"b", maybe(), "likewise in B"},
      {"difference", maybe(), "b - a"},
      {"low", maybe(), "lower end of the interval; null: no interval is possible"},
      {"high", maybe(), "upper end"},
      {"p", maybe(), "two-sided p-value of Student's t, not corrected"},
      {"p_corrected", maybe(), "the same after Holm's correction"},
      {"samples_a", count(), "number of values behind the mean in A"},
      {"samples_b", count(), "likewise in B"},
      {"never_a", count(), "number of samples of A with an infinite value, left out"},
      {"never_b", count(), "likewise of B"}};
}

Fields compare_document() {
  const auto numbers = [] {
    return object(of_rows([](const QuantityRow& row) { return of_system(row) || of_layer(row); },
                          [](const QuantityRow&) { return part("NumberComparison"); }, kSometimes));
  };
  return head_of(kCompareDocument) +
         Fields{{"a", text(), "name of result A"},
                {"b", text(), "name of result B"},
                {"convention", part("Convention"), "definitions that both were measured by"},
                {"paired", flag(), "whether sample k of A is compared with sample k of B"},
                {"why", text(), "why samples are paired, or not"},
                {"notes", list(text()), "what was left out"},
                {"level", number(), "coverage of the intervals"},
                {"layer_tests", count(),
                 "number of tests that are corrected together: all layers and quantities"},
                {"head_tests", count(), "the same of single heads"},
                {"layers",
                 list(object({{"name", text(), "name of the layer in A"},
                              {"name_b", text(), "name of the layer in B"},
                              {"combined", numbers(), "all heads together"},
                              {"heads", list(numbers()),
                               "each head alone; empty if A and B have other numbers of heads"}}),
                      1),
                 "each layer"}};
}

/// The numbers of a graph, by their keys.
Fields family_numbers_fields() {
  Fields numbers;
  for (const FamilyColumn& column : family_columns())
    numbers.push_back({column.key, maybe(), "as in docs/graphs.md; null: infinite"});
  return numbers;
}

Fields families_document() {
  return head_of(kFamiliesDocument) +
         Fields{{"settings",
                 object({{"eps", number(), "threshold of the mixing times"},
                         {"step_limit", count(), "limit on the steps of walks and diffusion"}}),
                 "what the graphs were measured with"},
                {"graphs",
                 list(object({{"family", text(), "description of the family, or name of the file"},
                              {"nodes", count(), "number of nodes"},
                              {"seed", or_null(count()), "seed of the graph; null: not random"},
                              {"edges", count(), "number of edges, self-loops included"},
                              {"numbers", object(family_numbers_fields()), "of the graph"},
                              {"exact", flag(),
                               "no step limit was reached; otherwise mixing times are lower "
                               "limits"}})),
                 "each graph, in the order of families, numbers of nodes and seeds"}};
}

Fields design_document() {
  const Fields numbers = family_numbers_fields();
  return head_of(kDesignDocument) +
         Fields{{"settings",
                 object({{"size", count(), "number of nodes"},
                         {"heads", count(), "number of heads"},
                         {"edges", count(), "budget of edges, self-loops included"},
                         {"averaged_mixing", count(), "limit on the averaged mixing time"},
                         {"mixing", or_null(count()), "limit on the mixing time; null: none"},
                         {"eps", number(), "threshold of the mixing times"},
                         {"starts", list(text(), 1), "what searches started from"},
                         {"levels", count(), "number of budgets and of limits"},
                         {"seed", count(), "seed of the searches"}}),
                 "what was looked for"},
                {"searches", count(), "number of searches"},
                {"steps", count(), "moves that each search tried"},
                {"finished", flag(), "all moves that were asked for were tried"},
                {"designs",
                 list(object(
                     {{"start", text(), "what the search started from"},
                      {"edge_limit", count(), "budget of this search"},
                      {"averaged_mixing_limit", count(), "its limit on the averaged mixing time"},
                      {"front", flag(),
                       "no other design is better in edges, time or fidelity and not "
                       "worse in the others"},
                      {"certified", flag(),
                       "measured anew: exact, within the limits, and not below "
                       "what the search had"},
                      {"edges", count(), "edges of all heads, self-loops included"},
                      {"numbers", object(numbers), "of the heads together"},
                      {"heads",
                       list(object({{"edges", count(), "self-loops included"},
                                    {"minimax_fidelity", number(), "of the head alone"}}),
                            1),
                       "each head"},
                      {"synergy", maybe(),
                       "fidelity of the heads together over that of the best head; null: all heads "
                       "have 0"}})),
                 "the best design of each search, the most faithful first"}};
}

Fields best_weights() {
  return {
      {"samples", count(), "number of samples of the search"},
      {"weights", list(number()), "the best weights that were found"},
      {"value", maybe(), "value with these weights"},
      {"given_value", maybe(), "value with the given weights"},
      {"bound", maybe(), "no weights are worth more"},
      {"simple_bound", maybe(), "the bound if every node could choose its head at every step"},
      {"limit", flag(), "the value is only approached as some positive weight tends to 0", kSince},
      {"optimal", flag(), "no other weights are better"},
      {"gradient_norm", maybe(), "norm of the projected gradient at the end"},
      {"starts", count(), "number of starts of the search"},
      {"iterations", count(), "number of iterations of the search"},
      {"adaptive",
       object({{"head", count(),
                "the head with the largest forward probability: the paper's theorem gives it all "
                "weight"},
               of_row("forward_probability", number()),
               {"value", maybe(), "value of this head alone"},
               {"steps", maybe(), "the paper's bound on its T_mix"},
               {"valid_from_eps", maybe(), "least eps for which the bound holds"}}),
       "the paper's choice of one head"}};
}

Fields heads_settings() {
  return echoed(MetricsSettings()) + echoed(HeadValueOptions()) +
         Fields{{"sampling",
                 object({{"seed", count(), "seed of the random orders"},
                         setting("precision"),
                         {"max_permutations", count(), setting("orders").about}}),
                 "if a layer was sampled", kSometimes}};
}

Fields heads_document() {
  return head_of(kHeadsDocument) +
         input({"attention", "model", "graph"}, {"uniform", "learned", "given", "graph", "moved"}) +
         Fields{
             measuring_device(),
             {"convention", part("Convention"), "definitions to measure by"},
             {"settings", part("HeadsSettings"), "how it was measured"},
             {"head_names", list(text()), "for a graph", kSometimes},
             {"token_names", list(text()), "for a graph", kSometimes},
             {"summary", list(text()), "the findings in words"},
             {"layers",
              list(object(
                  layer_of_heads(list(number(), 1), "of the heads, normalised", "LayerValue") +
                  Fields{
                      {"loss",
                       object(
                           {{"won", number(), "nats that all heads win over none"},
                            {"shapley", list(number()), "nats of each head"},
                            {"rank_correlation", record(maybe()),
                             "of these with the Shapley values of each value"},
                            {"ablation", names<Ablation>(), "what heads that are off give", kSince},
                            {"value", part("LossValue"),
                             "all indices of the loss; no standard errors: of the mean "
                             "over all sequences",
                             kSince},
                            {"accuracy",
                             object({{"won", number(), "accuracy that all heads win over none"},
                                     {"shapley", list(number()), "of each head"}}),
                             "the same of the accuracy", kSince}}),
                       "for a checkpoint whose loss was measured", kSometimes},
                      {"moved", list(number()),
                       "for a checkpoint that runs on the CPU: L1 contribution of each head "
                       "beside the residual's, mean over tokens of the first 20 samples",
                       kSometimes}})),
              "each layer"},
             {"stack", part("Stack"), "with --stack", kSometimes}};
}

Fields stack() {
  const auto estimates = [] { return list(part("Estimate")); };
  const ordered_json layers = list(object(
      {{"name", text(), "name of the layer"},
       {"residual", part("Estimate"), "share of the token's signal that passes beside the heads"},
       {"heads", estimates(), about(row_of("stack_share"))}}));
  return {
      {"residual", either(number(), just("measured")),
       "share of the signal that passes beside the heads; measured: see shares"},
      {"token", or_null(count()), "token that is followed; null: the weakest of each sample"},
      {"samples", count(), "number of samples"},
      {"without_signal", count(), "number of samples in which the token has no signal"},
      {"fidelity", part("Estimate"), "the weakest signal through all layers"},
      {"effective_tokens", part("Estimate"),
       "1: the sink hears one token; n: it hears all n tokens equally"},
      {"signal", estimates(), "signal of each node"},
      {"weakest", list(count()), "number of samples in which each node is the weakest"},
      {"layers", layers, "each layer"},
      {"shares", layers,
       "the same of all that reaches the sink from the tokens of --from, or from any token",
       kSince},
      {"flow", estimates(), "maximum flow of each node to the sink, with method flow", kSometimes}};
}

}  // namespace

Fields system(int heads) {
  return head_of(kGraphDocument) +
         Fields{{"settings", part("Settings"), "how it was measured"},
                {"nodes", list(text(), 1), "names of the nodes, the sink last"},
                {"heads", list(part("HeadMetrics"), heads), "each head alone"}} +
         together() +
         Fields{{"monte_carlo",
                 object({of_row("truncated_hitting_mean", number()),
                         {"standard_error", number(), "of the mean"},
                         {"error_bound_95", number(),
                          "holds with probability 0.95, even if no walk met a rare event"}}),
                 "with --monte-carlo: estimate of the same mean", kSometimes}};
}

Fields sizes() {
  return {{"vocabulary", count(), "number of different tokens"},
          {"length", count(), "tokens per sequence"},
          {"width", count(), "features per token"},
          {"heads", count(), "heads per layer"},
          {"layers", count(), "number of layers"},
          {"hidden", count(), "hidden units of each MLP"}};
}

Fields score() {
  return {{"accuracy", maybe(), "share of the tokens that are right"},
          {"loss", maybe(), "mean cross entropy"}};
}

std::vector<Part> measured_parts() {
  return {
      {"Convention", "Definitions to measure by.", names<Convention>()},
      {"HeadValue", "What the value of a set of heads measures.", names<HeadValue>()},
      {"Settings", "How metrics were measured.",
       object(echoed(MetricsSettings()) +
              Fields{{std::string(kBackwardSetting.key), flag(), std::string(kBackwardSetting.help),
                      kSometimes}})},
      {"Summary", "A number over samples.",
       object({{"mean", maybe(), "of the finite values"},
               {"std", maybe(), "standard deviation of the finite values, that of the population"},
               {"min", maybe(), "of all values that exist, null if infinite"},
               {"median", maybe(), "likewise"},
               {"max", maybe(), "likewise"},
               {"never", count(), "number of samples with an infinite value"},
               {"undefined", count(), "number of samples without a value", kSince},
               {"samples", count(), "number of samples"}})},
      {"Estimate", "A mean over samples and its standard error.",
       object({{"mean", maybe(), "over the samples"},
               {"error", maybe(), "standard error; null: one sample"}})},
      {"Interval", "An estimate and its 95 % interval.",
       object({{"estimate", maybe()}, {"low", maybe()}, {"high", maybe()}})},
      {"MixingBound", "A bound on the mixing time.",
       object({{"steps", maybe(), "null: no bound"},
               {"valid_from_eps", number(), "least eps for which it holds"}})},
      {"HittingTime", "Expected steps to the sink.",
       object({{"mean", maybe(), "over the nodes"},
               {"max", maybe(), "over the nodes"},
               {"worst_node", text(), about(row_of("worst_node"))},
               {"node", list(maybe()), "of each node"}})},
      {"MinimaxFidelity", "The weakest peak signal.",
       object(
           {{"value", number(), "the fidelity, as a fraction"},
            {"upper", number(),
             "what the fidelity is at most: equal unless a step limit was reached"},
            of_row("certified", flag()),
            {"node", text(), about(row_of("minimax_node"))},
            {"time", maybe(), about(row_of("minimax_time")) + "; null: approached, never attained"},
            {"steps",
             {{"type", "number"}, {"minimum", 0}},
             "number of steps that were searched"}})},
      {"Metrics", "Speed and fidelity of one head, or of all heads together.", object(metrics())},
      {"HeadMetrics", "The metrics of a head.",
       object(Fields{{"name", text(), "name of the head"}, of_row("weight", number())} +
              metrics())},
      document("SystemDocument", kGraphDocument, "One system of heads: `synergraph graph --json`.",
               system(1)),
      {"ModelShape", "Sizes of a model.",
       object(sizes() +
              Fields{{"heads_from", just("file name"),
                      "if only the file name gives the number of heads", kSometimes},
                     {"device", text(), "device that ran the model, if not the CPU", kSometimes}})},
      {"Score", "How well a model does its task.", object(score())},
      {"TaskScore", "How well a model does a task, and what attention adds.",
       object(Fields{{"name", text(), "name of the task"}} + score() +
              Fields{{"without_attention", part("Score"), "with every head off", kSometimes},
                     {"without_layer", list(part("Score")), "with the heads of each layer off",
                      kSometimes}})},
      {"Summaries", "Numbers over samples, by quantity. Numbers that were not measured are absent.",
       object(of_rows(of_system, summary, kSometimes))},
      {"LayerHead", "A head over samples.",
       object(Fields{{"head", count(), "number of the head"},
                     of_row("weight", number()),
                     of_row("best_share", number())} +
              of_rows(of_system, summary, kSometimes))},
      {"LayerDocument", "A layer over samples.", object(layer())},
      document(
          "AnalyzeDocument", kAnalyzeDocument, "Layers over samples: `synergraph analyze --json`.",
          head_of(kAnalyzeDocument) +
              input({"attention", "model"}, {"uniform", "learned", "given", "moved"}) +
              Fields{measuring_device(),
                     {"conventions",
                      list(object({{"convention", part("Convention"), "definitions to measure by"},
                                   {"settings", part("Settings"), "how it was measured"},
                                   {"layers", list(part("LayerDocument"), 1), "each layer"}}),
                           1),
                      "one, or two with --convention both"}}),
      {"HeadsSettings", "How values of heads were measured.", object(heads_settings())},
      {"SubsetChoice", "A set of heads and its value.",
       object({{"heads", list(count()), "numbers of the heads"},
               {"value", number(), "value of the set"}})},
      {"PruningPath", "Values of the first heads in an order.",
       object({{"order", list(count()), "numbers of the heads"},
               {"value", list(number()), "value of the first k heads, k from 0"},
               {"loss", list(number()), "loss against the best k heads", kSince}})},
      {"Interaction", "Shapley interaction index of a set of heads.",
       object({{"heads", list(count(), 2), "numbers of the heads"},
               {"mean", maybe(), "over the samples"},
               {"error", maybe(), "standard error"}})},
      {"HeldOutClaim", "A claim about heads, judged on samples that did not choose it.",
       object({{"heads", list(count()), "numbers of the heads"},
               {"size", maybe(), "share of the value of all heads"},
               {"chance", maybe(), "bound on the chance that permuted rows do as well"},
               {"named", flag(), "whether the summary says it"}})},
      {"HeldOutClaims", "Claims about a layer that other samples judged.",
       object(held_out_claims())},
      {"BestWeights", "The outcome of a search for weights.", object(best_weights())},
      {"LayerValue", "What the heads of a layer are worth, by one value.",
       object(value_of_heads(part("HeadValue")))},
      {"LossValue", "What the loss needs of the heads of a layer: of ablations.",
       object(value_of_heads(just("loss")))},
      {"Stack", "Signals through all layers, each applied once.", object(stack())},
      document("HeadsDocument", kHeadsDocument, "What heads are worth: `synergraph heads --json`.",
               heads_document()),
      document("AblationDocument", kAblationDocument,
               "What the loss loses without heads: `sg.ablate`.", ablation_document()),
      document("AgreementDocument", kAgreementDocument,
               "How numbers agree with the loss: `sg.ablate(...).compare(...)`.",
               agreement_document()),
      {"NumberComparison", "How one number differs between two results.",
       object(number_comparison())},
      document("CompareDocument", kCompareDocument,
               "What differs between two results: `synergraph compare --json`.",
               compare_document()),
      document("FamiliesDocument", kFamiliesDocument,
               "Graphs of families: `synergraph families --json`, `sg.families`.",
               families_document()),
      document("DesignDocument", kDesignDocument,
               "Designs that a search found: `synergraph design --json`, `sg.design`.",
               design_document()),
      document("InspectDocument", kInspectDocument,
               "Tensors in a file: `synergraph inspect --json`.",
               without(head_of(kInspectDocument), "isa") +
                   Fields{{"file", text(), "as given"},
                          {"format", names<FileFormat>(), "format of the file"},
                          {"tensors",
                           list(object({{"name", text(), "name of the tensor"},
                                        {"dtype", names<DType>(), "type of the elements"},
                                        {"shape", list(count()), "extents"},
                                        {"elements", count(), "number of elements"},
                                        {"bytes", count(), "size"}})),
                           "arrays that can be read"},
                          {"skipped",
                           list(object({{"name", text(), "name of the array"},
                                        {"reason", text(), "why it is skipped"}})),
                           "arrays that cannot be read"},
                          {"metadata", record(text()), "texts by their keys"}})};
}

}  // namespace synergraph::schema
