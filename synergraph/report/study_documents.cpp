#include <fmt/core.h>

#include "synergraph/report/document_parts.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/grid.h"
#include "synergraph/train/promotion.h"
#include "synergraph/train/tracking.h"

namespace synergraph::schema {
namespace {

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
  return of_rows([](const QuantityRow& row) { return !row.backward; }, summary, kSometimes) +
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
      list_setting("eps"),
      setting("cutoff"),
      {"horizon", count(), "steps of the published convention's fidelity"},
      {"subset_samples", count(), "number of sequences on which all subsets are measured", kSince}};
}

Fields place(bool convention = true) {
  Fields fields = {{"task", text(), "task of the models"},
                   {"heads", count(), "heads per layer"},
                   {"layer", count(), "number of the layer, from 1 as in the paper"}};
  if (convention) fields.push_back({"convention", part("Convention"), "definitions to measure by"});
  return fields;
}

Fields subset_finding() {
  const ordered_json seeds = part("OfSeeds");
  const ordered_json tally = part("Tally");
  Fields fields =
      without(place(false), "layer") +
      Fields{{"layer", or_null(count()),
              "number of the layer, from 1; null: means over the layers of a model"},
             {"value", part("HeadValue"), "value of the subsets"},
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
                    {"convention", part("Convention"), "definitions to measure by"},
                    {"points", count(), "number of points"},
                    {"test", part("Test"), "rank correlation of hitting time and fidelity"},
                    {"within_models", maybe(),
                     "median, over the points, of the correlation across samples"}})),
       "how speed and fidelity go together"},
      {"subsets", list(part("SubsetFinding")), "subsets of heads over seeds", kSince}};
}

Fields cell() {
  return Fields{{"task", text(), "task of the model"},
                {"heads", count(), "heads per layer"},
                {"seed", count(), "seed of the model"}} +
         score() +
         Fields{
             {"learned", flag(), "whether the model learned its task"},
             {"control",
              object({{"without_attention", part("Score"), "with every head off"},
                      {"without_layer", list(part("Score")), "with the heads of each layer off"}}),
              "the same sequences with heads switched off", kSince},
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

Fields tracked_numbers() {
  Fields fields;
  for (const auto& [key, quantity] : kTrackedQuantities)
    fields.push_back({key, maybe(), about(quantity.row())});
  return fields;
}

Fields kept_layer() {
  const ordered_json number_or_name = either(number(), one_of({"inf", "nan"}));
  const auto numbers = [&] { return tuple(number_or_name, 10); };
  return {{"numbers",
           object(of_rows([](const QuantityRow& row) { return !row.backward; },
                          [&](const QuantityRow&) { return numbers(); }, kSometimes)),
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
          {"control", list(tuple(number_or_name, 2)),
           "loss and accuracy: intact, all heads off, each layer's heads off", kSince},
          {"trained_on", list(text()), "devices", kSince},
          {"run_on", text(), "device", kSince},
          {"checksum", text(), "of what stands before it"}};
}

/// Means of what a training promotes.
Fields promoted() {
  Fields fields;
  for (const std::string& name : all_names<PromotedMetric>())
    fields.push_back(
        {name, maybe(), "mean over the sequences of the last epoch and all layers", kSometimes});
  fields.push_back(
      {"left_out", count(), "layers of sequences whose speed is not finite", kSometimes});
  return fields;
}

}  // namespace

Fields judged(const Fields& fields) {
  Fields result = fields;
  for (const char* of : {"held_out", "training_pairs"})
    for (const char* what : {"loss", "accuracy"})
      result.push_back({fmt::format("{}_{}", of, what), maybe(),
                        "of the pairs that judge the model", kSometimes});
  return result + Fields{{"promoted", object(promoted()),
                          "with --promote: what is promoted besides the task", kSometimes},
                         {"seconds", number(), "time since the run began"}};
}

std::vector<Part> study_parts() {
  return {
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
               {"effect", maybe(), "size of the effect, from -1 to 1"},
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
       object({{"format", just("synergraph run 1"), "name of the file's format"},
               {"seconds", number(), "up to the last checkpoint"},
               {"track", count(), "layers are measured every so many epochs; 0: never"},
               {"held_out", flag(), "whether held-out pairs judge the model"},
               {"devices", list(text()), "devices that trained the run, in the order of first use",
                kSince}}),
       "run.json"},
      {"LogLine", "A line of a training run's log.",
       object(judged({{"step", count(), "number of finished steps"},
                      {"epoch", count(), "number of begun epochs"},
                      {"loss", maybe(), "of the last step"},
                      {"accuracy", maybe(), "of the last step"},
                      {"layers", list(object(tracked_numbers())),
                       "with --track: numbers of each layer", kSometimes}})),
       "metrics.jsonl"}};
}

}  // namespace synergraph::schema
