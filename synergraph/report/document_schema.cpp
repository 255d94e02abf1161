#include "synergraph/report/document_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "synergraph/heads/quantity.h"
#include "synergraph/io/dtype.h"
#include "synergraph/io/file_format.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/json_text.h"
#include "synergraph/report/settings_schema.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/grid.h"
#include "synergraph/train/tracking.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// When a document has a field.
enum class Presence {
  kAlways,
  kSometimes,
  kSince,  ///< always; documents of earlier programs, but of the same version, lack it
};

struct Field {
  std::string key;
  ordered_json type;
  std::string about = {};
  Presence presence = Presence::kAlways;
};
using Fields = std::vector<Field>;
constexpr Presence kSometimes = Presence::kSometimes;
constexpr Presence kSince = Presence::kSince;

ordered_json of_type(const char* name) {
  return {{"type", name}};
}
ordered_json text() {
  return of_type("string");
}
ordered_json flag() {
  return of_type("boolean");
}
ordered_json number() {
  return of_type("number");
}
ordered_json maybe() {
  return {{"type", ordered_json::array({"number", "null"})}};
}
ordered_json count() {
  return {{"type", "integer"}, {"minimum", 0}};
}
ordered_json just(ordered_json value) {
  return {{"const", std::move(value)}};
}
ordered_json part(const std::string& name) {
  return {{"$ref", "#/$defs/" + name}};
}
ordered_json one_of(const std::vector<std::string>& names) {
  return {{"enum", names}};
}
template <Named Enum>
ordered_json names() {
  return one_of(all_names<Enum>());
}
ordered_json either(ordered_json one, ordered_json other) {
  return {{"anyOf", ordered_json::array({std::move(one), std::move(other)})}};
}
ordered_json or_null(ordered_json type) {
  return either(std::move(type), of_type("null"));
}
ordered_json list(ordered_json items, int least = 0) {
  ordered_json type = {{"type", "array"}, {"items", std::move(items)}};
  if (least > 0) type["minItems"] = least;
  return type;
}
ordered_json tuple(ordered_json items, int size) {
  ordered_json type = list(std::move(items), size);
  type["maxItems"] = size;
  return type;
}
ordered_json record(ordered_json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

/// A closed object. EPS in a key stands for a number.
ordered_json object(const Fields& fields) {
  ordered_json properties = ordered_json::object();
  ordered_json patterns = ordered_json::object();
  ordered_json required = ordered_json::array();
  for (const auto& [key, type, about, presence] : fields) {
    ordered_json property = type;
    if (!about.empty()) property["description"] = about;
    if (presence == kSince) property["$comment"] = "since a later program of this version";
    if (const std::size_t eps = key.find("EPS"); eps != std::string::npos) {
      patterns[fmt::format("^{}[0-9.e+-]+$", key.substr(0, eps))] = std::move(property);
      continue;
    }
    properties[key] = std::move(property);
    if (presence == Presence::kAlways) required.push_back(key);
  }
  ordered_json type = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!patterns.empty()) type["patternProperties"] = std::move(patterns);
  type["required"] = std::move(required);
  type["additionalProperties"] = false;
  return type;
}

Fields operator+(Fields fields, const Fields& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::string about(const QuantityRow& row) {
  return fmt::format("{}: {}", row.label, row.about);
}

/// The field of a quantity, by its key in the rows or another.
Field of_row(std::string_view key, ordered_json type, std::string_view row = {}) {
  return {std::string(key), std::move(type), about(row_of(row.empty() ? key : row))};
}

/// The fields of the summarised quantities that are wanted.
template <class Wanted, class Type>
Fields of_rows(const Wanted& wanted, const Type& type, Presence presence = Presence::kAlways) {
  Fields fields;
  for (const QuantityRow& row : kQuantityRows)
    if (row.summarised && wanted(row))
      fields.push_back({std::string(row.key), type(row), about(row), presence});
  return fields;
}

bool of_system(const QuantityRow& row) {
  return row.owner == Owner::kSystem;
}
bool of_layer(const QuantityRow& row) {
  return row.owner != Owner::kSystem;
}
ordered_json summary(const QuantityRow& /*row*/) {
  return part("Summary");
}

Fields head_of(const DocumentId& id) {
  ordered_json versions = ordered_json::array();
  for (int version = id.oldest; version <= id.version; ++version) versions.push_back(version);
  return {{"schema", just(id.name), "name of the document"},
          {"schema_version",
           versions.size() > 1 ? ordered_json({{"enum", versions}}) : just(id.version),
           "grows when a field changes its meaning or is removed"},
          {"program", text(), "version of the program"},
          {"isa", text(), "instruction set of the kernels", kSince}};
}

Fields without(Fields fields, std::string_view key) {
  std::erase_if(fields, [&](const Field& field) { return field.key == key; });
  return fields;
}

/// What a setting is in a document: as it is described, without its default.
Field setting(const std::string& key, const char* name = nullptr, bool list = false) {
  static const auto settings =
      ordered_json::parse(settings_schema("heads")).at("properties").get<ordered_json>();
  ordered_json type = settings.at(key);
  const auto help = type.at("description").get<std::string>();
  type.erase("description");
  type.erase("default");
  if (list) type = type.at("anyOf").at(1);
  return {name != nullptr ? name : key, std::move(type), help};
}

Fields settings() {
  return {setting("normalization"),
          setting("cutoff"),
          setting("eps", "eps", true),
          setting("nodes", "fidelity_nodes"),
          setting("horizon"),
          {"step_limit", setting("step_limit").type, setting("step_limit").about, kSince}};
}

Fields metrics() {
  return {
      of_row("forward_probability", maybe()),
      {"mixing_bound", part("MixingBound"), "the paper's bound on T_mix from p"},
      {"mixing_time",
       list(object({setting("eps", "eps"), {"steps", maybe(), about(row_of("mixing_time_EPS"))}})),
       "one for each eps"},
      {"hitting_time", part("HittingTime"), "numbers of steps to the sink"},
      {"truncated_hitting_time", part("HittingTime"), "the same, every walk cut at the cutoff"},
      {"minimax_fidelity", part("MinimaxFidelity"), about(row_of("minimax_fidelity"))},
      of_row("node_fidelity", list(number())),
      of_row("node_fidelity_upper", list(number())),
      of_row("optimal_time", list(maybe()))};
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

/// Where attention comes from.
Fields input(std::vector<std::string> sources, std::vector<std::string> weights) {
  return {
      {"source", one_of(sources), "what was measured"},
      {"weights", one_of(weights), "where the head weights come from"},
      {"range", or_null(tuple(or_null(count()), 2)),
       "first token and end that were chosen; an end of null: to the last. null: see sequences"},
      {"sequences", list(tuple(count(), 3)),
       "sample, first token and end of each sequence, if samples are cut differently", kSometimes},
      {"missing_mass", just("node"), "a node takes the missing mass", kSometimes},
      {"model", part("ModelShape"), "for a checkpoint", kSometimes},
      {"task", part("TaskScore"), "with --task", kSometimes}};
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

Fields layer() {
  Fields fields = {
      {"name", text(), "name of the tensor, or number of the layer"},
      {"samples", count(), "number of samples"},
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

Fields value_of_heads() {
  const auto estimate = [](const char* key) { return of_row(key, part("Estimate")); };
  return {
      {"value", names<HeadValue>(), "what the value of a set of heads measures"},
      {"all", part("Estimate"), "value of all heads together"},
      {"gap", number(),
       "no set's value is further than this above its number; 0: all are certified"},
      {"heads",
       list(object({{"head", count(), "number of the head"},
                    estimate("shapley"),
                    estimate("banzhaf"),
                    estimate("alone"),
                    estimate("dropped")})),
       "each head"},
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
      {"best_weights", part("BestWeights"), "after a search for weights", kSometimes}};
}

Fields best_weights() {
  return {
      {"samples", count(), "number of samples of the search"},
      {"weights", list(number()), "the best weights that were found"},
      {"value", maybe(), "value with these weights"},
      {"given_value", maybe(), "value with the given weights"},
      {"bound", maybe(), "no weights are worth more"},
      {"simple_bound", maybe(), "value if every node could choose its head at every step"},
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
  return settings() + Fields{setting("keep"),
                             setting("exact_heads"),
                             {"sampling",
                              object({{"seed", count(), "seed of the random orders"},
                                      setting("precision"),
                                      {"max_permutations", count(), setting("orders").about}}),
                              "if a layer was sampled", kSometimes}};
}

Fields heads_document() {
  return head_of(kHeadsDocument) +
         input({"attention", "model", "graph"}, {"uniform", "learned", "given", "graph"}) +
         Fields{{"convention", names<Convention>(), "definitions to measure by"},
                {"settings", part("HeadsSettings"), "how it was measured"},
                {"head_names", list(text()), "for a graph", kSometimes},
                {"token_names", list(text()), "for a graph", kSometimes},
                {"summary", list(text()), "the findings in words"},
                {"layers",
                 list(object({{"name", text(), "name of the tensor, or number of the layer"},
                              {"samples", count(), "number of samples"},
                              {"tokens", count(), "number of tokens"},
                              {"weights", list(number(), 1), "of the heads, normalised"},
                              {"exact", flag(), "false: subsets were sampled"},
                              {"permutations", count(), "number of sampled orders of the heads"},
                              {"precise", flag(), "whether sampling reached the precision"},
                              {"values", list(part("LayerValue"), 1), "one for each value"}})),
                 "each layer"},
                {"stack", part("Stack"), "with --stack", kSometimes}};
}

Fields stack() {
  const auto estimates = [] { return list(part("Estimate")); };
  return {{"residual", number(), "share of the signal that passes beside the heads"},
          {"token", or_null(count()), "token that is followed; null: the weakest of each sample"},
          {"samples", count(), "number of samples"},
          {"without_signal", count(), "number of samples in which the token has no signal"},
          {"fidelity", part("Estimate"), "the weakest signal through all layers"},
          {"effective_tokens", part("Estimate"), "number of tokens that the signals amount to"},
          {"signal", estimates(), "signal of each node"},
          {"weakest", list(count()), "number of samples in which each node is the weakest"},
          {"layers",
           list(object({{"name", text(), "name of the layer"},
                        {"residual", part("Estimate"),
                         "share of the token's signal that passes beside the heads"},
                        {"heads", estimates(), about(row_of("stack_share"))}})),
           "each layer"}};
}

Fields compared() {
  const ordered_json numbers = object({{"mean", maybe()}, {"std", maybe()}});
  return {{"published", numbers, "the paper's value"},
          {"ours", numbers, "the value that was measured"},
          {"difference", maybe(), "of the means"},
          {"standard_error", maybe(), "of the difference"},
          {"deviation", maybe(), "in standard errors, beyond rounding"},
          {"agrees", flag(), "whether the deviation is at most `agreement`"}};
}

Fields layer_of_model() {
  return of_rows([](const QuantityRow&) { return true; }, summary, kSometimes) +
         Fields{{"with_synergy", count(),
                 "number of samples in which all heads together beat the best head"},
                {"synergy_undecided", count(),
                 "number of samples in which fidelities that are not certified leave this open",
                 kSince},
                {"rank_correlation", maybe(),
                 "Spearman's, of truncated hitting time and fidelity over the samples"}};
}

Fields verify_document() {
  const auto interval = [](const char* row) { return of_row(row, part("Interval")); };
  return head_of(kVerifyDocument) +
         Fields{
             {"samples", count(), "number of random sequences"},
             {"seed", count(), "seed of the sequences"},
             {"agreement", number(), "number of standard errors up to which a value agrees"},
             {"models",
              list(object(
                  {{"task", text(), "task of the model"},
                   {"heads", count(), "heads per layer"},
                   {"accuracy", number(), "on the random sequences"},
                   {"agrees", flag(), "whether all values agree"},
                   {"layers",
                    list(object(
                        {{"layer", count(), "number of the layer, from 1 as in the paper"},
                         {"mixing_time", part("Compared"), about(row_of("truncated_hitting_mean"))},
                         {"fidelity", part("Compared"), about(row_of("minimax_fidelity"))},
                         interval("best_head_fidelity"),
                         {"combined_fidelity", part("Interval"), about(row_of("minimax_fidelity"))},
                         interval("synergy_share"),
                         {"published_single_sequence",
                          object(
                              {of_row("best_head_fidelity", number()),
                               {"combined_fidelity", number(), about(row_of("minimax_fidelity"))}}),
                          "if the paper has them", kSometimes},
                         {"exact", part("LayerOfModel"), "by the exact convention"},
                         {"published", part("LayerOfModel"), "by the published convention"}})),
                    "each layer"}})),
              "each model"}};
}

/// The numbers of a layer's subsets.
Fields subset_numbers(const ordered_json& type) {
  Fields fields;
  for (const auto& [number, name] : kNamesOf<SubsetNumber>)
    fields.push_back({std::string(name), type});
  return fields;
}

Fields study_settings() {
  Fields training;
  for (const auto& [key, value] : common_training(GridSettings()))
    training.push_back({key, text()});
  return {
      {"tasks", list(text()), "tasks of the models"},
      {"heads", list(count()), "head counts of the models"},
      {"seeds", list(count()), "seeds of the models"},
      {"training", object(training), "as in checkpoints"},
      {"samples", count(), "number of sequences that are measured"},
      setting("eps", "eps", true),
      setting("cutoff"),
      {"horizon", count(), "steps of the published convention's fidelity"},
      {"subset_samples", count(), "number of sequences on which all subsets are measured", kSince}};
}

Fields place(bool convention = true) {
  Fields fields = {{"task", text(), "task of the models"},
                   {"heads", count(), "heads per layer"},
                   {"layer", count(), "number of the layer, from 1 as in the paper"}};
  if (convention)
    fields.push_back({"convention", names<Convention>(), "definitions to measure by"});
  return fields;
}

Fields subset_finding() {
  const ordered_json seeds = part("OfSeeds");
  const ordered_json tally = part("Tally");
  Fields fields =
      without(place(false), "layer") +
      Fields{{"layer", or_null(count()),
              "number of the layer, from 1; null: means over the layers of a model"},
             {"value", names<HeadValue>(), "value of the subsets"},
             {"samples", count(), "number of sequences of each model"}} +
      subset_numbers(seeds) +
      Fields{
          {"learned_share", seeds, "`all` over `best_weights`"},
          {"equal_share", seeds, "`equal_weights` over `best_weights`"},
          {"proven_share", seeds, "`all` over `bound`"},
          {"synergy", tally, "layers in which some subset is worth more than the best head"},
          {"fewer_synergy", tally, "those of them in which fewer than all heads suffice for that"},
          {"better", tally, "layers in which some subset is worth more than all heads"}};
  return fields;
}

Fields findings() {
  return {
      {"seeds", count(), "number of seeds"},
      {"statements", list(text()), "the findings in words"},
      {"summaries",
       list(object(place() + Fields{{"quantity", text(), "key of the quantity"},
                                    {"values", list(maybe()), "one per seed"},
                                    {"mean", part("Interval"), "with Student's 95 % interval"},
                                    {"std", maybe(), "over the seeds"}})),
       "every quantity over seeds"},
      {"trends",
       list(object(without(place(), "heads") +
                   Fields{{"claim", names<Claim>(), "claim of the paper"},
                          {"test", part("Test"), "test of the claim"},
                          {"corrected_p", maybe(), "p for all claims together"}})),
       "trends along the head counts"},
      {"synergy",
       list(object(place() +
                   Fields{{"samples", part("Interval"),
                           "share of the samples with synergy, with Wilson's 95 % interval"},
                          {"seeds", part("Interval"), "share of the seeds with synergy, likewise"},
                          {"seed_count", count(), "number of seeds"}})),
       "how often all heads beat the best head"},
      {"speed_fidelity",
       list(object({{"task", text(), "task of the models"},
                    {"convention", names<Convention>(), "definitions to measure by"},
                    {"points", count(), "number of points"},
                    {"test", part("Test"), "rank correlation of hitting time and fidelity"},
                    {"within_models", maybe(), "mean correlation within a model"}})),
       "how speed and fidelity go together"},
      {"subsets", list(part("SubsetFinding")), "subsets of heads over seeds", kSince}};
}

Fields cell() {
  return Fields{{"task", text(), "task of the model"},
                {"heads", count(), "heads per layer"},
                {"seed", count(), "seed of the model"}} +
         score() +
         Fields{{"learned", flag(), "whether the model learned its task"},
                {"exact", list(part("LayerOfModel")), "each layer by the exact convention"},
                {"published", list(part("LayerOfModel")), "each layer by the published convention"},
                {"subsets",
                 list(object({{"fidelity", part("SubsetNumbers"), "by this value"},
                              {"speed", part("SubsetNumbers"), "by this value"}})),
                 "each layer; none if subsets were not measured", kSince}};
}

Fields study_document() {
  return head_of(kStudyDocument) +
         Fields{
             {"devices",
              object(
                  {{"training", list(text()), "devices that trained the models"},
                   {"forward_pass", list(text()), "devices that ran the models for measurement"}}),
              "devices that took part, in alphabetical order", kSince},
             {"results_version", count(), "grows when equal settings give other results"},
             {"settings", part("StudySettings"), "the grid of models, and how they are measured"},
             {"cells", list(part("Cell"), 1), "each model"},
             {"findings", part("Findings"), "what the models say over seeds"}};
}

Fields judged(const Fields& fields) {
  Fields result = fields;
  for (const char* of : {"held_out", "training_pairs"})
    for (const char* what : {"loss", "accuracy"})
      result.push_back({fmt::format("{}_{}", of, what), maybe(),
                        "of the pairs that judge the model", kSometimes});
  return result + Fields{{"seconds", number(), "time since the run began"}};
}

Fields tracked_numbers() {
  Fields fields;
  for (const auto& [key, quantity] : kTrackedQuantities)
    fields.push_back({key, maybe(), about(quantity.row())});
  return fields;
}

Fields page_data() {
  const ordered_json document = of_type("object");
  return {
      {"format", just("synergraph.page"), "name of these data"},
      {"version", just(1), "of these data"},
      {"command", one_of({"analyze", "heads", "graph", "reproduce"}),
       "command that wrote the page"},
      {"title", text(), "file name of the input"},
      {"program", text(), "version of the program"},
      {"left_out", or_null(text()), "what is not in the page", kSince},
      {"attention", or_null(part("EmbeddedAttention")), "attention of some samples"},
      {"graphs", or_null(text()), "text of a graph, with the weights that were measured"},
      {"report",
       or_null(
           object({{"sections",
                    list(object({{"title", text()},
                                 {"paragraphs", list(text())},
                                 {"tables", list(object({{"caption", text()},
                                                         {"rows", list(list(text())),
                                                          "the first names the columns"}}))}}))}})),
       "for reproduce: the report as text and tables"},
      {"published", list(part("PublishedValue")), "the paper's values for these models", kSince},
      {"document", document, "document of the command; for analyze the one of --per-head"},
      {"also", list(document), "other documents of the same input", kSince}};
}

Fields embedded_attention() {
  const auto array = object({{"offset", count(), "first byte in the decoded arrays"},
                             {"dtype", one_of({"float16", "bfloat16", "float32", "float64"}),
                              "type of the elements, little endian"},
                             {"rows", just("lower"), "row i has the columns 0 to i"}});
  return {{"tokens", count(), "number of tokens"},
          {"labels", or_null(list(text())), "names of the tokens"},
          {"samples",
           list(object({{"number", count(), "number of the sample"},
                        {"labels", list(text()), "if each sample has its own", kSometimes}})),
           "the samples"},
          {"layers",
           list(object({{"name", text(), "name of the layer"},
                        {"heads", list(text()), "names of the heads"},
                        {"weights", list(number()), "in use"},
                        {"learned_weights", or_null(list(number())), "null: not known"},
                        {"samples",
                         list(object({{"sample", count(), "number of the sample"},
                                      {"heads", list(array), "one array for each head"}})),
                         "the arrays"}})),
           "the layers"}};
}

Fields kept_layer() {
  const ordered_json number_or_name = either(number(), one_of({"inf", "nan"}));
  const ordered_json numbers = tuple(number_or_name, 10);
  return {{"numbers",
           object(of_rows([](const QuantityRow&) { return true; },
                          [&](const QuantityRow&) { return numbers; }, kSometimes)),
           "samples, never, undefined, mean, std, min, median, max, 10 % and 90 % quantile"},
          {"with_synergy", count()},
          {"synergy_undecided", count()},
          {"rank_correlation", number_or_name}};
}

Fields kept_cell() {
  const ordered_json number_or_name = either(number(), one_of({"inf", "nan"}));
  const ordered_json layers = list(part("KeptLayer"));
  const ordered_json subsets = object(subset_numbers(number_or_name));
  return {{"schema", just("synergraph.cell"), "name of the file's format"},
          {"cell", text(), "settings that the result belongs to"},
          {"loss", number_or_name},
          {"accuracy", number()},
          {"exact", layers},
          {"published", layers},
          {"subsets", list(object({{"fidelity", subsets}, {"speed", subsets}}))},
          {"trained_on", list(text()), "devices", kSince},
          {"run_on", text(), "device", kSince},
          {"checksum", text(), "of what stands before it"}};
}

/// A named part of documents. It is a document itself if it has a document's name.
struct Part {
  const char* name;
  const char* about;
  ordered_json type;
  std::string document = {};
};

const std::vector<Part>& parts() {
  const auto document = [](const char* name, const DocumentId& id, const char* about,
                           const Fields& fields) {
    return Part{name, about, object(fields), std::string(id.name)};
  };
  const ordered_json texts = list(text());
  static const std::vector<Part> all = {
      {"Settings", "How metrics were measured.", object(settings())},
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
              input({"attention", "model"}, {"uniform", "learned", "given"}) +
              Fields{{"conventions",
                      list(object({{"convention", names<Convention>(), "definitions to measure by"},
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
               {"loss", list(number()), "what the best k heads are worth more", kSince}})},
      {"Interaction", "Shapley interaction index of a set of heads.",
       object({{"heads", list(count(), 2), "numbers of the heads"},
               {"mean", maybe(), "over the samples"},
               {"error", maybe(), "standard error"}})},
      {"BestWeights", "The outcome of a search for weights.", object(best_weights())},
      {"LayerValue", "What the heads of a layer are worth, by one value.",
       object(value_of_heads())},
      {"Stack", "Signals through all layers, each applied once.", object(stack())},
      document("HeadsDocument", kHeadsDocument, "What heads are worth: `synergraph heads --json`.",
               heads_document()),

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
                          {"metadata", record(text()), "texts by their keys"}}),

      {"LayerOfModel",
       "A layer of a trained model. Numbers that do not exist on any sample are absent.",
       object(layer_of_model())},
      {"Compared", "A value beside the paper's.", object(compared())},
      document("VerifyDocument", kVerifyDocument,
               "The paper's models measured again: `synergraph verify --json`.", verify_document()),

      {"StudySettings", "Settings of a study.", object(study_settings())},
      {"SubsetNumbers", "Numbers of a layer's subsets.", object(subset_numbers(maybe()))},
      {"Cell", "A trained model.", object(cell())},
      {"Test", "A test by ranks.",
       object({{"statistic", maybe(), "of the test"},
               {"effect", maybe(), "size of the effect"},
               {"p", maybe(), "p value"},
               {"smallest_p", maybe(), "the smallest p that data of this shape can give"},
               {"method", one_of({"exact", "permutations"}), "how p was computed"}})},
      {"OfSeeds", "A number over seeds.",
       object({{"values", list(maybe()), "one per seed"},
               {"mean", part("Interval"), "with Student's 95 % interval"}})},
      {"Tally", "How many of how many layers.", object({{"count", count()}, {"of", count()}})},
      {"SubsetFinding", "Subsets of heads over seeds.", object(subset_finding())},
      {"Findings", "What the models of a study say over seeds.", object(findings())},
      document("Study", kStudyDocument, "A study: `results.json` of `synergraph reproduce`.",
               study_document()),
      {"KeptLayer", "A layer in the file of a cell.", object(kept_layer())},
      {"KeptCell",
       "The result of one model of a study, from which an interrupted study resumes. Infinite "
       "numbers are texts.",
       object(kept_cell()), "synergraph.cell"},

      {"RunNotes", "Notes of a training run.",
       object(
           {{"format", just("synergraph run 1"), "name of the file's format"},
            {"seconds", number(), "up to the last checkpoint"},
            {"track", count(), "layers are measured every so many epochs; 0: never"},
            {"held_out", flag(), "whether held-out pairs judge the model"},
            {"devices", texts, "devices that trained the run, in the order of first use", kSince}}),
       "run.json"},
      {"LogLine", "A line of a training run's log.",
       object(judged({{"step", count(), "number of finished steps"},
                      {"epoch", count(), "number of begun epochs"},
                      {"loss", maybe(), "of the last step"},
                      {"accuracy", maybe(), "of the last step"},
                      {"layers", list(object(tracked_numbers())),
                       "with --track: numbers of each layer", kSometimes}})),
       "metrics.jsonl"},

      {"EmbeddedAttention", "Attention of some samples in a page.", object(embedded_attention())},
      {"PublishedValue", "A value of the paper.",
       object({{"task", text()},
               {"heads", count()},
               {"layer", count(), "from 1"},
               {"quantity", one_of({"truncated_hitting_mean", "minimax_fidelity"})},
               {"mean", number()},
               {"std", number()}})},
      {"PageData", "Data of a page: `--page`.", object(page_data()), "synergraph.page"},

      {"Training", "Outcome of a training run.",
       object(judged({{"model", text(), "path of the model"},
                      {"steps", count(), "number of steps"},
                      {"loss", maybe(), "of the last step"},
                      {"accuracy", maybe(), "of the last step"}})),
       "sg_train"},
      {"ModelSizes", "Sizes of a model.", object(sizes()), "sg_model_json"},
      {"AttentionLayers", "Layers of attention.",
       list(object({{"name", text(), "name of the layer"},
                    {"samples", count(), "number of samples"},
                    {"heads", count(), "number of heads"},
                    {"tokens", count(), "number of nodes"}})),
       "sg_attention_json"},
      {"GraphContents", "A graph as it was read.",
       object(
           {{"nodes", texts, "names, the sink last"},
            {"heads",
             list(object({{"name", text(), "name of the head"},
                          {"weight", number(), "as it was given, not normalised"},
                          {"kind", one_of({"graph", "matrix"}),
                           "graph: edges with self-loops; matrix: attention, whose entries are "
                           "edges from key to query"},
                          {"edges",
                           list(object({{"from", count()}, {"to", count()}, {"weight", number()}})),
                           "by numbers of nodes"}})),
             "each head"}}),
       "sg_graph_json"},
      {"ArrayNames", "Names along the axes of curves and matrices.",
       object({{"heads", texts, "names of the heads"},
               {"nodes", texts, "names of the nodes, the sink last"}}),
       "sg_system_curves"},
      {"MixerUpdate", "A system at other weights, without its heads.",
       object(Fields{{"weights", list(number(), 1), "normalised"}} + system(0)), "sg_mixer_update"},
      {"MixerSubsets", "Values of all subsets of the heads.",
       object({{"heads", count(), "number of heads"},
               {"gap", number(),
                "no fidelity is further than this above its number; 0: all are certified"},
               {"values",
                list(object({{"value", names<HeadValue>(), "what is measured"},
                             {"table", list(number()),
                              "value of every subset; bit h of the index: head h is in it"},
                             of_row("shapley", list(number())),
                             of_row("banzhaf", list(number())),
                             {"pairs",
                              list(object({{"heads", tuple(count(), 2), "numbers of the heads"},
                                           of_row("interaction", number())})),
                              "each pair"},
                             {"best",
                              list(object({{"subset", count(), "bits of the heads"},
                                           {"value", number(), "its value"}})),
                              "best subset of every size"}})),
                "by each value"}}),
       "sg_mixer_subsets"},
      {"MixerWeights", "The outcome of a search for weights.", part("BestWeights"),
       "sg_mixer_best_weights"},
  };
  return all;
}

constexpr const char* kDraft = "https://json-schema.org/draft/2020-12/schema";
constexpr const char* kAll = "documents";

const ordered_json& definitions() {
  static const ordered_json all = [] {
    ordered_json defs = ordered_json::object();
    for (const Part& part : parts()) {
      ordered_json& def = defs[part.name] = {{"description", part.about}};
      def.update(part.type);
    }
    return defs;
  }();
  return all;
}

/// Adds the parts that a type refers to.
void collect(const ordered_json& type, std::set<std::string>& names) {
  if (type.is_object() && type.contains("$ref")) {
    const std::string name =
        type.at("$ref").get<std::string>().substr(std::string_view("#/$defs/").size());
    if (names.insert(name).second) collect(definitions().at(name), names);
  }
  if (type.is_structured())
    for (const ordered_json& value : type) collect(value, names);
}

}  // namespace

std::vector<std::string> document_names() {
  std::vector<std::string> names;
  for (const Part& part : parts())
    if (!part.document.empty()) names.push_back(part.document);
  names.emplace_back(kAll);
  return names;
}

std::string document_schema(const std::string& name) {
  ordered_json schema = {{"$schema", kDraft}, {"title", name}};
  if (name == kAll) {
    for (const Part& part : parts())
      if (!part.document.empty()) schema["documents"][part.document] = part.name;
    schema["$defs"] = definitions();
    return json_text(schema);
  }
  for (const Part& part : parts()) {
    if (part.document != name || name.empty()) continue;
    schema.update(definitions().at(part.name));
    std::set<std::string> used;
    collect(part.type, used);
    for (const std::string& used_name : used)
      schema["$defs"][used_name] = definitions().at(used_name);
    return json_text(schema);
  }
  throw UsageError(fmt::format("no document is named '{}': expected one of {}", name,
                               fmt::join(document_names(), ", ")));
}

}  // namespace synergraph
