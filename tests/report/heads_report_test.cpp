#include "synergraph/report/heads_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>

#include "synergraph/core/setting.h"
#include "synergraph/report/heads_facts.h"
#include "synergraph/report/heads_summary.h"
#include "synergraph/statistics/symmetric_sum.h"
#include "tests/support/documents.h"
#include "tests/support/invented_head_values.h"

namespace synergraph {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_support::invented_head_values;
using testing_support::invented_stack;
using testing_support::make_sampled;
using testing_support::overlapping_heads;
using testing_support::report_of;
using testing_support::Tables;
using testing_support::value_of_tables;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// One layer of one value.
HeadsReport fidelity_of(const Tables& tables) {
  LayerHeadValues layer;
  layer.values.push_back(value_of_tables(HeadValue::kFidelity, tables));
  return report_of({layer}, static_cast<int>(tables.size()));
}

/// The report with its tables.
std::string verbose(HeadsReport report) {
  report.verbose = true;
  return format_report(report);
}

std::string summary_of(const HeadsReport& report) {
  std::string text;
  for (const std::string& line : heads_summary(report)) text += line + '\n';
  return text;
}

/// v of two heads, 0 and 1, that overlap: 0.625 and 0.5 alone, 0.75 together.
const std::vector<double> kTwoHeads = {0.0, 0.625, 0.5, 0.75};

constexpr const char* kJudged =
    "pairs, better sets and other weights were chosen on half of 100 samples, judged on the other "
    "half against permuted rows, and named only if clear (chance of any false one: at most 5.0 "
    "%)\n";

TEST(HeadsSummary, SaysWhatTheNumbersOfASmallCaseAre) {
  EXPECT_EQ(summary_of(fidelity_of({kTwoHeads, kTwoHeads})),
            std::string("layer 1, fidelity 0.75: all heads are needed to account for 80 %; no "
                        "smaller set keeps 95 %; heads 0 and 1 are redundant (-50 %)\n") +
                kJudged);
}

TEST(HeadsSummary, SaysNothingBeyondASingleSample) {
  EXPECT_EQ(summary_of(fidelity_of({kTwoHeads})),
            "layer 1, fidelity 0.75: all heads are needed to account for 80 %; no smaller set "
            "keeps 95 %\n"
            "one sample: nothing can be said of redundant or complementary heads, nor of other "
            "samples\n");
}

TEST(HeadsSummary, NamesHeadsThatAreBetterDropped) {
  // Head 0 does it all, head 2 takes a tenth away.
  EXPECT_EQ(summary_of(fidelity_of(Tables(3, overlapping_heads({0.9, 0, 0}, {0, 0, 0.1})))),
            std::string("layer 1, fidelity 0.81: head 0 accounts for 106 %; head 0 alone keeps 95 "
                        "%; heads 0 and 2 are redundant (-11 %); head 0 alone reaches 111 %; "
                        "without head 2 it is 11 % higher\n") +
                kJudged);
}

// What heads account for, and how few keep it, name heads and do not contradict each other.
TEST(HeadsSummary, ASmallSetThatKeepsAllIsSaidAlone) {
  // Three heads do the same, each alone: their Shapley values are equal, one keeps everything.
  const std::string same = summary_of(fidelity_of(Tables(2, overlapping_heads({1, 1, 1}))));
  EXPECT_THAT(same, HasSubstr("fidelity 1: any head alone keeps 95 %"));
  EXPECT_THAT(same, Not(HasSubstr("account")));
  // Heads 0 and 1 are equal and alone better than with head 2, which alone keeps enough: no head
  // carries the value that another head keeps as well.
  const std::string either =
      summary_of(fidelity_of(Tables(2, {0.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5})));
  EXPECT_THAT(either, HasSubstr("fidelity 0.5: any head alone keeps 95 %"));
  EXPECT_THAT(either, Not(HasSubstr("account")));
  // One head carries the value and no other does.
  EXPECT_THAT(summary_of(fidelity_of(Tables(2, {0.0, 1.0, 0.5, 1.0}))),
              HasSubstr("fidelity 1: head 0 alone keeps 95 %"));
  // Heads that add up, 0.5, 0.3, 0.15, 0.05: three keep 95 %, two account for 80 %.
  std::vector<double> sums(16);
  for (std::size_t s = 0; s < 16; ++s)
    for (std::size_t h = 0; h < 4; ++h)
      if ((s >> h & 1U) != 0) sums[s] += std::array{0.5, 0.3, 0.15, 0.05}[h];
  EXPECT_THAT(
      summary_of(fidelity_of(Tables(2, sums))),
      HasSubstr("heads 0 and 1 account for 80 %; any set needs at least 3 heads (all but 3) "
                "to keep 95 %"));
}

TEST(HeadsSummary, WhatMayBeChanceIsNotNamed) {
  HeadsReport report = fidelity_of({kTwoHeads, kTwoHeads});
  HeldOutClaims& claims = *report.head_values.layer_values[0].values[0].held_out;
  EXPECT_THAT(summary_of(report), HasSubstr("redundant (-50 %)"));
  claims.redundant->chance = 0.0099;  // five kinds of claims share 5 %
  EXPECT_THAT(summary_of(report), HasSubstr("redundant (-50 %)"));
  claims.redundant->chance = 0.0101;
  EXPECT_THAT(summary_of(report), Not(HasSubstr("are redundant")));
  claims.redundant->chance = 0.0;
  claims.redundant->size = -0.009;
  EXPECT_THAT(summary_of(report), Not(HasSubstr("are redundant")));
  claims.samples = 10;
  EXPECT_THAT(summary_of(report), HasSubstr("10 samples are too few to tell pairs"));
  report.head_values.layer_values[0].values[0].held_out.reset();
  EXPECT_THAT(summary_of(report), HasSubstr("were not judged"));
}

TEST(HeadsSummary, NamesManyHeadsInRanges) {
  // Eight heads that add up: the first six make 95.5 %.
  std::vector<double> sums(256);
  for (std::size_t set = 0; set < sums.size(); ++set)
    for (std::size_t h = 0; h < 8; ++h)
      if ((set >> h & 1U) != 0) sums[set] += h < 5 ? 0.17 : h == 5 ? 0.105 : 0.0225;
  EXPECT_THAT(summary_of(fidelity_of(Tables(2, sums))),
              HasSubstr("all heads but 5-7 account for 85 %; any set needs at least 6 heads "
                        "(all but 6, 7) to keep 95 %"));
}

// With fewer samples no claim passes, even where all judging samples agree; with as many one does.
TEST(HeadsFacts, KnowsHowManySamplesClaimsNeed) {
  for (const int claims : {1, 5, 40, 400}) {
    const int samples = samples_for_claims(claims);
    const auto chance = [](double half) { return 2.0 * symmetric_sum_chance(half, half); };
    EXPECT_LE(chance(samples / 2) * claims, kFalseClaims);
    EXPECT_GT(chance(samples / 2 - 1) * claims, kFalseClaims);
  }
}

TEST(HeadsSummary, AGapOfValuesThatAreNotCertifiedLeavesThingsOpen) {
  HeadsReport report = fidelity_of(Tables(2, {0.0, 0.5, 0.4, 0.45}));
  report.head_values.layer_values[0].values[0].gap = 0.04;
  EXPECT_THAT(summary_of(report), AllOf(StartsWith("layer 1, fidelity 0.45 to 0.49: "),
                                        HasSubstr("11 % higher"), HasSubstr("are redundant")));
  report.head_values.layer_values[0].values[0].gap = 0.06;
  EXPECT_THAT(summary_of(report), AllOf(HasSubstr("are redundant"), Not(HasSubstr("higher")),
                                        Not(HasSubstr("reaches"))));
  report.head_values.layer_values[0].values[0].gap = 0.24;
  EXPECT_THAT(summary_of(report), Not(HasSubstr("are redundant")));
}

TEST(HeadsSummary, ALayerThatIsWorthNothingHasNoShares) {
  EXPECT_THAT(summary_of(fidelity_of({{0.0, 0.0, 0.5, 0.0}})),
              HasSubstr("fidelity 0: all heads together are worth nothing\n"));
  EXPECT_THAT(verbose(fidelity_of({{0.0, 0.0, 0.5, 0.0}})),
              HasSubstr("smallest set    none: all heads together are worth nothing\n"));
  EXPECT_THAT(summary_of(fidelity_of({{0.0, 0.0}})), HasSubstr("fidelity 0: a single head\n"));
}

TEST(HeadsSummary, BeginsWithWhatHeadsMove) {
  HeadsReport report = fidelity_of({kTwoHeads, kTwoHeads});
  report.head_values.weights = {{0.25, 0.75}};
  EXPECT_THAT(summary_of(report), StartsWith("layer 1, fidelity"));
  report.edges = EdgeKind::kNorm;
  EXPECT_THAT(summary_of(report), StartsWith("layer 1, fidelity"));
  report.edges = EdgeKind::kContribution;
  EXPECT_THAT(summary_of(report),
              StartsWith("most is moved (L1 contribution) by layer 1, heads 1 (75 %) and 0 (25 %)\n"
                         "layer 1, fidelity"));
  report.edges = EdgeKind::kAttention;
  report.moved = {{0.5, 0.25}};  // beside the residual
  EXPECT_THAT(summary_of(report),
              StartsWith("most is moved (L1 contribution) by layer 1, heads 0 (50 %) and 1 (25 %)\n"
                         "layer 1, fidelity"));
}

TEST(HeadsSummary, NamesTheLayersWhereAHeadMovesMost) {
  LayerHeadValues layer;
  layer.values.push_back(value_of_tables(HeadValue::kFidelity, {kTwoHeads, kTwoHeads}));
  HeadsReport report = report_of({layer, layer, layer, layer, layer}, 2);
  report.edges = EdgeKind::kContribution;
  report.head_values.weights = {{0.5, 0.5}, {0.9, 0.1}, {0.4, 0.6}, {0.3, 0.7}, {0.2, 0.8}};
  EXPECT_THAT(summary_of(report),
              AllOf(StartsWith("most is moved (L1 contribution) by layer 2, head 0 (90 %); layer"),
                    HasSubstr(", head 1 (60 %)\n"), Not(HasSubstr("(50 %)"))));
}

TEST(HeadsSummary, SaysWhatOtherWeightsReach) {
  HeadsReport report = fidelity_of({kTwoHeads, kTwoHeads});
  ValueOfHeads& value = report.head_values.layer_values[0].values[0];
  BestWeights& best = value.weights.emplace();
  best.weights = {0.25, 0.75};
  best.given_value = 0.8;
  best.value = 0.88;
  best.bound = 0.9;
  report.verbose = true;
  EXPECT_THAT(summary_of(report), Not(HasSubstr("other weights raise")));  // not judged
  value.held_out->other_weights = {{}, 0.1, 0.0};
  EXPECT_THAT(summary_of(report), HasSubstr("other weights raise it by 10 %"));
  EXPECT_THAT(format_report(report), HasSubstr("best weights    0.88 (with the weights in use "
                                               "0.8), no weights can exceed 0.9 (gap 0.02)"));
  best.adaptive_head = 1;
  best.adaptive_value = 0.5;
  EXPECT_THAT(format_report(report), Not(HasSubstr("paper")));
  best.adaptive_probability = 0.1;
  EXPECT_THAT(format_report(report), HasSubstr("all on head 1, the paper's choice: 0.5\n"));
  best.optimal = true;
  EXPECT_THAT(format_report(report), HasSubstr("0.88 (with the weights in use 0.8), optimal"));
}

TEST(HeadsSummary, PutsTheLossBesideStructure) {
  HeadsReport report = fidelity_of({kTwoHeads, kTwoHeads});
  LossOfHeads loss;
  loss.won = 0.75;
  loss.shapley = {0.25, 0.5};
  loss.value = report.head_values.layer_values[0].values[0];
  loss.accuracy_shapley = {0.0, 0.5};
  loss.agreement = {-1.0};
  report.loss = {loss};
  EXPECT_THAT(summary_of(report),
              HasSubstr("loss: heads matter most in layer 1, 0.75 nats of loss, head 1 most (0.5); "
                        "rank correlation of structure with loss within layers: fidelity -1.00\n"));
  EXPECT_EQ(csv_table(report).rows[0].back(), "0.25");
  EXPECT_THAT(json_report(report), HasSubstr("\"rank_correlation\""));
  report.loss->front().ablation = Ablation::kZero;
  EXPECT_THAT(summary_of(report), HasSubstr("loss with zeroed outputs: heads matter most"));
  report.verbose = true;
  EXPECT_THAT(format_report(report), HasSubstr("loss Shapley"));
}

// A screen of 24 lines and 80 columns, one of them for the prompt.
TEST(HeadsText, FitsAScreenUnlessItIsVerbose) {
  for (const int heads : {4, 8, 16}) {
    HeadsReport report = invented_head_values(4, heads, 3);
    report.stack = invented_stack(report);
    const std::string text = spelled(format_report(report, 80), OptionSpelling::kProgram);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 23) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("--verbose"), Not(HasSubstr("±"))));
    report.verbose = true;
    EXPECT_THAT(format_report(report, 80), HasSubstr("± is the standard error of the mean"));
  }
}

// A checkpoint says more: what moves most, the loss, the task and the control.
TEST(HeadsText, OfACheckpointFitsAScreenToo) {
  for (const int layers : {1, 2, 4, 6, 8, 12}) {
    HeadsReport report = invented_head_values(layers, 8, 30);
    report.stack = invented_stack(report);
    report.model = ModelConfig{};
    report.heads_from_name = true;
    report.evaluation = Evaluation{0.0123456, 0.987654, {}};
    report.control = AttentionControl{{0.01, 0.99, {}}, {2.5, 0.1, {}}, {}};
    report.task = "second-maximum";
    report.moved = MovedShares(static_cast<std::size_t>(layers), std::vector<double>(8, 0.125));
    for (int l = 0; l < layers; ++l) {
      LossOfHeads loss;
      loss.won = 1.0;
      loss.shapley.assign(8, 0.125);
      loss.agreement.assign(2, 0.123);
      report.loss.emplace(report.loss.value_or(std::vector<LossOfHeads>())).push_back(loss);
    }
    const std::string text = spelled(format_report(report, 80), OptionSpelling::kProgram);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 23) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("fidelity"), HasSubstr("most is moved")));
  }
}

TEST(HeadsSummary, TakesAboutTenLinesHoweverManyLayersThereAre) {
  for (const int layers : {1, 2, 3, 4, 5, 8, 9, 12, 48}) {
    HeadsReport report = invented_head_values(layers, 5, 4);
    report.stack = invented_stack(report);
    const std::vector<std::string> lines = heads_summary(report);
    EXPECT_LE(lines.size(), 11U) << layers;
    for (const std::string& line : lines) EXPECT_LE(display_width(line), 240U) << line;
  }
}

TEST(HeadsSummary, TheMedianOfAnEvenNumberOfLayersIsBetweenTheMiddleTwo) {
  std::vector<LayerHeadValues> layers;
  for (const double speed : {0.9, 0.1, 0.5, 0.3}) {
    LayerHeadValues& layer = layers.emplace_back();
    layer.values.push_back(value_of_tables(HeadValue::kFidelity, {kTwoHeads}));
    layer.values.push_back(value_of_tables(HeadValue::kSpeed, {{0.0, 0.0, speed, speed}}));
  }
  HeadsReport report = report_of(layers, 1);
  EXPECT_THAT(
      summary_of(report),
      HasSubstr("speed in 4 layers: 0.1 to 0.9 (median 0.4); keeping 95 % takes 1 of 2 heads"));
}

/// Reports of all kinds, by what is special about them.
std::vector<HeadsReport> all_kinds() {
  std::vector<HeadsReport> reports;
  for (const auto& [layers, heads, samples] :
       {std::tuple(1, 1, 1), std::tuple(1, 4, 1), std::tuple(4, 8, 3), std::tuple(14, 5, 3)}) {
    reports.push_back(invented_head_values(layers, heads, samples));
    reports.back().stack = invented_stack(reports.back());
  }
  reports[2].head_values.layers[1].name = "transformer.h.1.attention.probabilities";
  make_sampled(reports[2].head_values.layer_values[2]);
  reports[2].stack->options.token = 3;
  reports[2].stack->without_signal = 1;
  for (LayerFlow& flow : reports[2].stack->flows) flow.residual = {kNaN, kNaN};
  reports.push_back(report_of({testing_support::independent_heads(64)}, 2));
  reports.back().stack = invented_stack(reports.back());
  reports[1].head_names = {"Head 1", "a\nb", "\x1b[31m`touch x`", std::string(90, 'n')};
  reports[1].token_names = std::vector<std::string>(100, "東京\"; quit");
  for (HeadsReport& report : reports) {
    report.verbose = true;
    for (std::size_t l = 0; l < report.head_values.layer_values.size(); ++l)
      for (ValueOfHeads& value : report.head_values.layer_values[l].values) {
        value.weights.emplace().weights = report.head_values.weights[l];
        value.weight_samples = 1;
      }
  }
  return reports;
}

TEST(HeadsText, FitsEveryTerminal) {
  for (const HeadsReport& report : all_kinds())
    for (const std::size_t columns : {40U, 60U, 80U, 100U, 132U}) {
      std::istringstream lines(format_report(report, columns));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(display_width(line), columns) << line;
        EXPECT_EQ(line, printable(line));
      }
    }
}

TEST(HeadsText, ShowsTheNumbersOfASmallCase) {
  EXPECT_EQ(verbose(fidelity_of({kTwoHeads, kTwoHeads})),
            "layer 1, fidelity 0.75: all heads are needed to account for 80 %; no smaller set "
            "keeps 95 %; heads 0 and 1 are redundant (-50 %)\n" +
                std::string(kJudged) +
                "\n"
                "1 layer, 2 samples, 2 heads of 100 tokens, uniform head weights\n"
                "exact: pooled walk, fidelity as a fraction over sources (certified)\n"
                "± is the standard error of the mean over samples\n"
                "\n"
                "layer 1: 2 heads, all 4 sets\n"
                "head  weight  fidelity Shapley  fidelity alone  fidelity lost\n"
                "─────────────────────────────────────────────────────────────\n"
                "0        0.5        0.4375 ± 0       0.625 ± 0       0.25 ± 0\n"
                "1        0.5        0.3125 ± 0         0.5 ± 0      0.125 ± 0\n"
                "\n"
                "fidelity\n"
                "all heads       0.75 ± 0\n"
                "complementary   none\n"
                "redundant       0 and 1 (-0.375 ± 0)\n"
                "smallest set    2 of 2 heads keep 95 %: all (0.75)\n"
                "\n"
                "left  best heads  fidelity  added  removed  by Shapley\n"
                "──────────────────────────────────────────────────────\n"
                "1     0              0.625  0.625    0.625       0.625\n"
                "2     all             0.75   0.75     0.75        0.75\n");
}

TEST(HeadsText, RoundsToTheError) {
  const std::string text =
      verbose(fidelity_of({kTwoHeads, {0.0, 0.635, 0.5, 0.75}, {0.0, 0.625, 0.5, 0.85}}));
  EXPECT_THAT(text, HasSubstr("0.6283 ± 0.0033"));
  EXPECT_THAT(text, HasSubstr("all heads       0.783 ± 0.033\n"));
}

TEST(HeadsText, SampledLayersSaySo) {
  HeadsReport report = invented_head_values(1, 5, 3);
  make_sampled(report.head_values.layer_values[0]);
  const std::string text = verbose(report);
  EXPECT_THAT(text,
              HasSubstr("5 heads, sampled: 512 orders of the heads; sets are the best found"));
  EXPECT_THAT(text, HasSubstr("5 heads (best found) keep 95 %"));
  EXPECT_THAT(text, HasSubstr(" (found)"));
  report.head_values.layer_values[0].precise = false;
  EXPECT_THAT(summary_of(report), HasSubstr("smallest set found"));
  EXPECT_THAT(verbose(report), HasSubstr("fewer than the precision wanted needs"));
}

TEST(HeadsText, ManyLayersHaveARowEach) {
  const std::string text = verbose(invented_head_values(13, 3, 2));
  EXPECT_THAT(text, HasSubstr("\n13 "));
  EXPECT_THAT(text, Not(HasSubstr("by Shapley")));
  EXPECT_THAT(verbose(invented_head_values(12, 3, 2)), HasSubstr("by Shapley"));
}

TEST(HeadsText, TheStackHasARowALayer) {
  HeadsReport report = invented_head_values(2, 3, 2);
  report.stack = invented_stack(report);
  report.stack->flows[0] = {{{0.1, 0.01}, {0.2, 0.01}, {0.3, 0.01}}, {0.4, 0.01}};
  const std::string text = verbose(report);
  EXPECT_THAT(text, HasSubstr("fidelity 0.00120 ± 0.0001, effective tokens 12.50 ± 0.25\n"));
  EXPECT_THAT(text, HasSubstr("layer  residual     0     1     2\n"));
  EXPECT_THAT(text, HasSubstr("1          40.0  10.0  20.0  30.0\n"));
  EXPECT_THAT(text, HasSubstr("the weakest (token 0) with a share of 0.0012"));
  EXPECT_THAT(text, Not(HasSubstr("maximum flow")));
  report.stack->flow = {{0.3, 0.01}, {0.2, 0.01}, {0.1, 0.01}};  // the sink's own does not count
  EXPECT_THAT(verbose(report), HasSubstr("maximum flow to the sink: least 0.20"));
  EXPECT_THAT(summary_of(report), HasSubstr("maximum flow to the sink: least 0.2 (token 1)"));
  for (AttentionLayer& layer : report.head_values.layers) layer.missing_mass = MissingMass::kNode;
  EXPECT_THAT(summary_of(report), HasSubstr("the weakest (the missing mass) with a share of"));
  EXPECT_THAT(json_report(report), HasSubstr("\"missing_mass\": \"node\""));
  report.stack->flows.clear();
  report.stack->without_signal = 2;
  EXPECT_THAT(verbose(report), HasSubstr("in % (2 of 2 samples have none)\n"));
  EXPECT_EQ(csv_table(report).rows[0].end()[-2], "");
}

TEST(HeadsJson, HasWhatIsDocumented) {
  for (const HeadsReport& report : all_kinds()) {
    const auto json = testing_support::parsed_document(json_report(report));
    EXPECT_EQ(json["schema"], "synergraph.heads");
    EXPECT_EQ(json["schema_version"], 2);
    for (const char* key :
         {"program", "isa", "source", "weights", "range", "convention", "settings", "summary"})
      EXPECT_TRUE(json.contains(key)) << key;
    ASSERT_EQ(json["layers"].size(), report.head_values.layers.size());
    for (std::size_t l = 0; l < json["layers"].size(); ++l) {
      const auto& layer = json["layers"][l];
      const auto heads = static_cast<std::size_t>(report.head_values.layers[l].heads);
      for (const char* key :
           {"name", "samples", "tokens", "weights", "exact", "permutations", "precise", "values"})
        EXPECT_TRUE(layer.contains(key)) << key;
      for (const auto& value : layer["values"]) {
        for (const char* key : {"value", "all", "gap", "carriers", "better_without", "triples",
                                "smallest", "beating", "better", "best_weights", "held_out"})
          EXPECT_TRUE(value.contains(key)) << key;
        EXPECT_EQ(value["heads"].size(), heads);
        for (const char* key : {"shapley", "banzhaf", "alone", "dropped"})
          EXPECT_TRUE(value["heads"][0][key].contains("error")) << key;
        EXPECT_EQ(value["pairs"].size(), heads * (heads - 1) / 2);
        EXPECT_EQ(value["pruning"]["best"].size(), heads + 1);
        for (const char* path : {"greedy_addition", "greedy_removal", "shapley"})
          EXPECT_EQ(value["pruning"][path]["order"].size(), heads) << path;
      }
    }
    for (const char* key : {"residual", "token", "samples", "without_signal", "fidelity",
                            "effective_tokens", "signal", "weakest", "layers"})
      EXPECT_TRUE(json["stack"].contains(key)) << key;
  }
}

TEST(HeadsJson, HoldsTheNumbersAndNoNaN) {
  const auto json = testing_support::parsed_document(json_report(fidelity_of({kTwoHeads})));
  const auto& value = json["layers"][0]["values"][0];
  EXPECT_NEAR(value["heads"][0]["shapley"]["mean"], 0.4375, 1e-15);
  EXPECT_TRUE(value["heads"][0]["shapley"]["error"].is_null());
  EXPECT_NEAR(value["pairs"][0]["mean"], -0.375, 1e-15);
  EXPECT_EQ(value["pairs"][0]["heads"], (std::vector<int>{0, 1}));
  EXPECT_EQ(value["pruning"]["best"][1]["heads"], std::vector<int>{0});
  EXPECT_EQ(value["pruning"]["shapley"]["value"], (std::vector<double>{0.0, 0.625, 0.75}));
  EXPECT_EQ(value["carriers"]["heads"], (std::vector<int>{0, 1}));
  EXPECT_TRUE(value["better"].is_null());
  EXPECT_FALSE(value.contains("best_weights"));
  EXPECT_FALSE(json.contains("stack"));
}

TEST(HeadsCsv, HasARowALayerValueAndHead) {
  for (const HeadsReport& report : all_kinds()) {
    const Table table = csv_table(report);
    std::size_t rows = 0;
    for (const AttentionLayer& layer : report.head_values.layers)
      rows += report.head_values.options.values.size() * static_cast<std::size_t>(layer.heads);
    EXPECT_EQ(table.rows.size(), rows);
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.header.size());
  }
  const Table table = csv_table(fidelity_of({kTwoHeads}));
  EXPECT_THAT(table.rows[1],
              ElementsAre("1", "fidelity", "1", "0.5", "0.3125", "", "0.3125", "", "0.5", "",
                          "0.125", "", "true", "", "0.75", "", "true", "", "", ""));
}

}  // namespace
}  // namespace synergraph
