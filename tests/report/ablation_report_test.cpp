#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/analysis/game_values.h"
#include "synergraph/core/error.h"
#include "synergraph/report/agreement_report.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/report/heads_summary.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A layer of additive heads on two samples, the second of which has `factor` times the worth.
HeadsReport ablation(const std::vector<double>& worth, double factor) {
  AttentionLayer layer;
  layer.name = "attention";
  layer.heads = static_cast<int>(worth.size());
  layer.samples = 2;
  HeadsReport report;
  report.head_values =
      value_games({layer},
                  [&](int, std::span<const std::vector<int>> sets, std::span<double> values) {
                    for (std::size_t k = 0; k < sets.size(); ++k) {
                      double sum = 0.0;
                      for (const int head : sets[k]) sum += worth[static_cast<std::size_t>(head)];
                      values[2 * k] = sum;
                      values[2 * k + 1] = factor * sum;
                    }
                  },
                  {});
  report.verbose = true;
  report.ablated = AblatedLoss{Ablation::kZero, "surprise", {1.0, 0.1}, {3.0, 0.1}, {2.0, 0.5}};
  return report;
}

TEST(AblationReport, SaysWhatTheLossNeeds) {
  const HeadsReport report = ablation({1.0, 5.0, 0.0}, 1.01);
  EXPECT_THAT(heads_summary(report).front(),
              HasSubstr("attention, loss lower by 6.03: head 1 accounts for 83 %"));
  const std::string text = format_report(report);
  EXPECT_THAT(text,
              HasSubstr("surprise: 1.00 ± 0.1; with every head of every layer off: 3.00 ± 0.1"));
  EXPECT_THAT(text, HasSubstr("heads that are off give zero"));
  EXPECT_THAT(text, Not(HasSubstr("does not show")));
  EXPECT_THAT(text, Not(HasSubstr("weight")));
  const auto json = nlohmann::json::parse(json_report(report));
  EXPECT_EQ(json["schema"], "synergraph.ablation");
  EXPECT_EQ(json["settings"]["kind"], "zero");
  EXPECT_EQ(json["loss"]["needed"]["mean"], 2.0);
  EXPECT_TRUE(json["layers"][0]["weights"].is_null());
  EXPECT_EQ(csv_table(report).rows[1][3], "");
}

TEST(AblationReport, ClaimsNothingThatIsNotClear) {
  HeadsReport report = ablation({1.0, 3.0}, -0.5);  // 4 and -2: 1 ± 3
  EXPECT_THAT(heads_summary(report).front(), HasSubstr("loss lower by 1: not clear of chance"));
  EXPECT_THAT(heads_summary(report).front(), Not(HasSubstr("accounts")));
  report = ablation({-1.0, -3.0}, 1.01);
  EXPECT_THAT(heads_summary(report).front(),
              HasSubstr("loss higher by 4.02: the model is better without the heads"));
  EXPECT_THAT(format_report(report),
              HasSubstr("smallest set    none: the model is better without the heads"));
  EXPECT_THAT(format_report(report), Not(HasSubstr("0 of 2")));
  report.ablated->needed = {0.1, 0.06};
  EXPECT_THAT(format_report(report), HasSubstr("this loss does not show that the model needs"));
}

TEST(AblationReport, NamesNoSetThatKeepsALossThatIsNotLower) {
  const std::string text = format_report(ablation({-1.0, 0.5}, -0.9));  // -0.5 and 0.45
  EXPECT_THAT(text, HasSubstr("smallest set    none: the loss is not lower with all heads"));
  EXPECT_THAT(text, HasSubstr("above all heads"));
  EXPECT_THAT(format_report(ablation({-1.0, 5.0}, 1.01)),
              HasSubstr("smallest set    1 of 2 heads keeps 95 %: 1"));
}

TEST(AgreementReport, HasALayerARow) {
  const NumbersOfHeads loss = {{1, 2, 3, 4, 5}, {2, 1, 3}};
  AgreementReport report{"loss/shapley", {"first", "second"}, {5, 3}, {}};
  report.agreements.push_back(agreement("same", loss, loss));
  report.agreements.push_back(agreement("partly", loss, {{5, 4, 3, 2, 1}, {1, NAN, 1}}));
  EXPECT_EQ(report.agreements[0].heads, 8u);
  EXPECT_EQ(report.agreements[1].heads, 5u);
  EXPECT_EQ(report.agreements[1].pooled.effect, -1.0);
  EXPECT_EQ(report.agreements[1].pooled.p_value, 2.0 / 120);
  const std::string text = format_report(report);
  EXPECT_THAT(text, HasSubstr("with as few as 3 heads in a layer, no correlation of one layer"));
  EXPECT_THAT(text, Not(HasSubstr("in all layers together, too")));
  EXPECT_EQ(csv_table(report).rows.size(), 6u);
  const auto json = nlohmann::json::parse(json_report(report));
  EXPECT_TRUE(json["numbers"][1]["layers"][1]["rho"].is_null());
  EXPECT_EQ(json["numbers"][0]["layers"][0]["smallest_p"], 2.0 / 120);
  EXPECT_THROW(agreement("x", loss, {{1, 2}}), InputError);
  EXPECT_THROW(agreement("x", loss, {{1, 2}, {1, 2, 3}}), InputError);
}

}  // namespace
}  // namespace synergraph
