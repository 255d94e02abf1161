#include "synergraph/report/document_parts.h"
#include "synergraph/subsets/subset_options.h"

namespace synergraph::schema {
namespace {

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
      {"report", or_null(part("StudyReport")),
       "for reproduce: what the report has beside the document"},
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

}  // namespace

std::vector<Part> answer_parts() {
  return {
      {"EmbeddedAttention", "Attention of some samples in a page.", object(embedded_attention())},
      {"StudyReport", "Tables and figures of a study.",
       object(
           {{"sections",
             list(object({{"title", text(), "heading of the section"},
                          {"tables",
                           list(object({{"title", text(), "heading of the table"},
                                        {"caption", text(), "what its numbers are"},
                                        {"rows", list(list(text())), "the first names the columns"},
                                        {"bold", list(tuple(count(), 2)),
                                         "cells that stand out: row, counted without the first, "
                                         "and column",
                                         kSometimes}})),
                           "tables of the section"}})),
             "tables that the document does not have"},
            {"figures",
             list(object({{"caption", text(), "what the figure shows"},
                          {"svg", text(), "the figure as SVG"}})),
             "figures of the study's directory", kSometimes}})},
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
           {{"nodes", list(text()), "names, the sink last"},
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
       object({{"heads", list(text()), "names of the heads"},
               {"nodes", list(text()), "names of the nodes, the sink last"}}),
       "sg_system_curves"},
      {"MixerUpdate", "A system at other weights, without its heads.",
       object(Fields{{"weights", list(number(), 1), "normalised"}} + system(0)), "sg_mixer_update"},
      {"MixerSubsets", "Values of all subsets of the heads.",
       object({{"heads", count(), "number of heads"},
               {"gap", number(),
                "no fidelity is further than this above its number; 0: all are certified"},
               {"values",
                list(object({{"value", part("HeadValue"), "what is measured"},
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
       "sg_mixer_best_weights"}};
}

}  // namespace synergraph::schema
