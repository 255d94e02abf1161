#include "synergraph/study/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/random.h"
#include "tests/support/invented_results.h"

namespace synergraph {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::clear_study;
using testing_support::invented_result;
using testing_support::invented_summary;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Convention kExact = Convention::kExact;
constexpr Convention kPublished = Convention::kPublished;

const Trend* find_trend(const Findings& findings, int layer, Convention convention, Claim claim) {
  for (const Trend& trend : findings.trends)
    if (trend.layer == layer && trend.convention == convention && trend.claim == claim)
      return &trend;
  return nullptr;
}

TEST(Findings, SummariseOverSeeds) {
  std::vector<CellResult> results;
  for (const auto& [seed, time] : {std::pair{7U, 1.0}, {2U, 2.0}, {5U, 6.0}})
    results.push_back(invented_result("copy", 4, seed, {{time, 0.5, 0.25, 50}}));
  const Findings findings = derive_findings(results);
  EXPECT_EQ(findings.seeds, 3);
  const SeedSummary* speed =
      find_summary(findings, "copy", 4, 0, kExact, Quantity::kTruncatedHittingMean);
  ASSERT_NE(speed, nullptr);
  EXPECT_THAT(speed->values, ElementsAre(2, 6, 1));  // by seed: 2, 5, 7
  EXPECT_DOUBLE_EQ(speed->mean.estimate, 3.0);
  EXPECT_DOUBLE_EQ(speed->std, std::sqrt(7.0));
  EXPECT_DOUBLE_EQ(speed->mean.high, mean_interval({2, 6, 1}).high);
  EXPECT_NE(find_summary(findings, "copy", 4, 0, kPublished, Quantity::kMinimaxFidelity), nullptr);
  EXPECT_NE(find_summary(findings, "copy", 4, 0, kPublished, Quantity::kBestHeadFidelity), nullptr);
  EXPECT_EQ(find_summary(findings, "copy", 4, 1, kExact, Quantity::kTruncatedHittingMean), nullptr);
  EXPECT_EQ(find_summary(findings, "copy", 4, 0, kExact, Quantity::kHittingMax), nullptr);
}

TEST(Findings, SummariseWhatIsPresentAndDefined) {
  std::vector<CellResult> results;
  for (const unsigned seed : {1U, 2U}) {
    CellResult result = invented_result("copy", 4, seed, {{1, 0.5, 0.25, 50}});
    auto& numbers = result.exact[0].numbers;
    numbers[Quantity::mixing_time(0.1)] = invented_summary(9, 1);
    numbers[Quantity::kHittingMax] = invented_summary(seed == 1 ? 3 : kInfinity, 0);
    numbers[Quantity::kSynergy] = invented_summary(seed == 1 ? std::nan("") : 2.0, 0);
    numbers[Quantity::kCrossHeadShare] = invented_summary(std::nan(""), 0);
    results.push_back(std::move(result));
  }
  const Findings findings = derive_findings(results);
  const auto find = [&](const Quantity& quantity) {
    return find_summary(findings, "copy", 4, 0, kExact, quantity);
  };
  EXPECT_EQ(find(Quantity::mixing_time(0.1))->mean.estimate, 9.0);
  EXPECT_EQ(find(Quantity::kHittingMax)->mean.estimate, kInfinity);
  EXPECT_TRUE(std::isnan(find(Quantity::kHittingMax)->mean.low));
  EXPECT_THAT(find(Quantity::kSynergy)->values, ElementsAre(testing::IsNan(), 2.0));
  EXPECT_EQ(find(Quantity::kSynergy)->mean.estimate, 2.0);
  EXPECT_EQ(find(Quantity::kCrossHeadShare), nullptr);
  EXPECT_EQ(find_summary(findings, "copy", 4, 0, kPublished, Quantity::mixing_time(0.1)), nullptr);
}

// Layer 1 of three seeds: all pairs in order, one of 12! / 3!^4 = 369600 assignments. Layer 2: all
// tied. Four tests by each convention.
TEST(Findings, TestTrendsAlongHeadCounts) {
  const Findings findings = derive_findings(clear_study(3));
  ASSERT_EQ(findings.trends.size(), 8U);
  for (const Convention convention : {kExact, kPublished})
    for (const Claim claim : {Claim::kFaster, Claim::kMoreFaithful}) {
      const Trend* rising = find_trend(findings, 0, convention, claim);
      ASSERT_NE(rising, nullptr);
      EXPECT_EQ(rising->test.effect, 1.0);
      EXPECT_EQ(rising->test.method, PValueMethod::kExact);
      EXPECT_DOUBLE_EQ(rising->test.p_value, 1.0 / 369600);
      EXPECT_LE(rising->adjusted_p, 4.0 / 369600 * (1 + 1e-12));
      const Trend* flat = find_trend(findings, 1, convention, claim);
      EXPECT_EQ(flat->test.effect, 0.0);
      EXPECT_EQ(flat->adjusted_p, 1.0);
    }
}

// Slower with more heads: evidence against the claim has p = 1, not 0.
TEST(Findings, AreOneSided) {
  std::vector<CellResult> results;
  for (const int heads : {1, 2, 4})
    results.push_back(
        invented_result("copy", heads, 1, {{1.0 * heads, 1.0 / heads, 1.0 / heads, 0}}));
  const Findings findings = derive_findings(results);
  EXPECT_EQ(find_trend(findings, 0, kExact, Claim::kFaster)->test.effect, -1.0);
  EXPECT_EQ(find_trend(findings, 0, kExact, Claim::kFaster)->test.p_value, 1.0);
  EXPECT_EQ(find_trend(findings, 0, kExact, Claim::kMoreFaithful)->test.p_value, 1.0);
}

TEST(Findings, CorrectEachConventionByItself) {
  std::vector<CellResult> results = clear_study(2);
  for (CellResult& result : results) result.published.pop_back();
  const Findings findings = derive_findings(results);
  const double p = 1.0 / 2520;  // 8! / 2!^4
  EXPECT_DOUBLE_EQ(find_trend(findings, 0, kExact, Claim::kFaster)->adjusted_p, 4 * p);
  EXPECT_DOUBLE_EQ(find_trend(findings, 0, kPublished, Claim::kFaster)->adjusted_p, 2 * p);
}

TEST(Findings, CountSynergyOverSamplesAndSeeds) {
  const Findings findings = derive_findings({invented_result("copy", 1, 1, {{1, 0.5, 0.5, 0}}),
                                             invented_result("copy", 4, 1, {{1, 0.5, 0.25, 40}}),
                                             invented_result("copy", 4, 2, {{1, 0.5, 0.75, 5}}),
                                             invented_result("copy", 4, 3, {{1, 0.5, 0.25, 45}})});
  ASSERT_EQ(findings.synergy.size(), 2U);  // a convention each, four heads only
  const SynergyShare& share = findings.synergy.front();
  EXPECT_EQ(share.heads, 4);
  EXPECT_EQ(share.samples.successes, 90);
  EXPECT_EQ(share.samples.trials, 150);
  EXPECT_EQ(share.seeds.successes, 2);
  EXPECT_EQ(share.seeds.trials, 3);
}

TEST(Findings, CorrelateSpeedAndFidelityOverLayersOfModels) {
  std::vector<CellResult> results = {
      invented_result("copy", 1, 1, {{4, 0.1, 0.1, 0}, {3, 0.2, 0.1, 0}}),
      invented_result("copy", 4, 1, {{2, 0.4, 0.1, 0}, {1, 0.3, 0.1, 0}})};
  results[0].exact[0].rank_correlation = std::nan("");
  results[0].exact[1].rank_correlation = -1;
  results[1].exact[0].rank_correlation = -0.25;
  results[1].exact[1].rank_correlation = 1;
  const Findings findings = derive_findings(results);
  ASSERT_EQ(findings.speed_fidelity.size(), 2U);
  const SpeedFidelity& exact = findings.speed_fidelity.front();
  EXPECT_EQ(exact.points, 4);
  EXPECT_DOUBLE_EQ(exact.test.effect, -0.8);
  EXPECT_DOUBLE_EQ(exact.test.p_value, 8.0 / 24);
  EXPECT_DOUBLE_EQ(exact.within_cells, -0.25);
}

TEST(Findings, DoNotDependOnTheOrderOfResults) {
  std::vector<CellResult> results = clear_study(2, {1, 4});
  for (const CellResult& result : clear_study(2, {1, 4})) {
    results.push_back(result);
    results.back().cell.train.task = "cycle";
  }
  const Findings findings = derive_findings(results);
  RandomSequence random(1, Purpose::kTest);
  for (std::size_t k = results.size(); k > 1; --k)
    std::swap(results[k - 1], results[random.below(k)]);
  const Findings shuffled = derive_findings(results);
  ASSERT_EQ(findings.summaries.size(), shuffled.summaries.size());
  for (std::size_t k = 0; k < findings.summaries.size(); ++k) {
    EXPECT_EQ(findings.summaries[k].quantity, shuffled.summaries[k].quantity);
    EXPECT_EQ(findings.summaries[k].values, shuffled.summaries[k].values);
  }
}

// All heads together exactly as faithful as the best one: no synergy, by samples or by means.
TEST(Findings, SynergyOfExactlyOneIsNone) {
  const Findings findings = derive_findings({invented_result("copy", 4, 1, {{1, 0.5, 0.5, 0}}),
                                             invented_result("copy", 4, 2, {{1, 0.25, 0.25, 0}})});
  ASSERT_FALSE(findings.synergy.empty());
  for (const SynergyShare& share : findings.synergy) {
    EXPECT_EQ(share.samples.successes, 0);
    EXPECT_EQ(share.seeds.successes, 0);
  }
}

TEST(HasLearned, AsksForWhatTheTaskAllows) {
  CellResult result = invented_result("copy", 1, 1, {{1, 0.5, 0.5, 0}});
  for (const auto& [accuracy, learned] : {std::pair(1.0, true), {0.996, true}, {0.98, false}}) {
    result.accuracy = accuracy;
    EXPECT_EQ(has_learned(result), learned) << accuracy;
  }
  result.cell.train.task = "cycle";  // the first of its tokens cannot be known
  result.accuracy = 0.986;
  EXPECT_TRUE(has_learned(result));
  result.accuracy = 0.984;
  EXPECT_FALSE(has_learned(result));
}

}  // namespace
}  // namespace synergraph
