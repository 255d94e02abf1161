#include "synergraph/report/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/invented_results.h"

namespace synergraph {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::clear_study;
using testing_support::invented_result;

std::vector<std::string> said_of(const std::vector<CellResult>& results) {
  return statements(derive_findings(results), results);
}

TEST(Statements, DoNotDependOnTheOrderOfResults) {
  std::vector<CellResult> results = clear_study(2, {1, 4});
  const std::vector<std::string> said = said_of(results);
  std::reverse(results.begin(), results.end());
  EXPECT_EQ(said_of(results), said);
}

TEST(Statements, OfAClearStudy) {
  EXPECT_THAT(
      said_of(clear_study(3)),
      ElementsAre(
          "3 seeds for every task and head count.", "All 12 models have learned their tasks.",
          "copy, exact convention: that more heads mix faster is supported in layer 1 (Somers' d "
          "1.00, corrected p 1.1e-05) and not supported in layer 2 (Somers' d 0.00, corrected p "
          "1).",
          "copy, published convention: that more heads mix faster is supported in layer 1 (Somers' "
          "d 1.00, corrected p 1.1e-05) and not supported in layer 2 (Somers' d 0.00, corrected p "
          "1).",
          "copy, exact convention: that more heads are more faithful is supported in layer 1 "
          "(Somers' d 1.00, corrected p 1.1e-05) and not supported in layer 2 (Somers' d 0.00, "
          "corrected p 1).",
          "copy, published convention: that more heads are more faithful is supported in layer 1 "
          "(Somers' d 1.00, corrected p 1.1e-05) and not supported in layer 2 (Somers' d 0.00, "
          "corrected p 1).",
          "copy, exact convention: all heads together are more faithful than the best single head "
          "in 540 of 900 measurements of a layer on a sample (60.0 %; 20.0 to 100.0 % by head "
          "count and layer), and by the means over samples in 9 of 18 layers.",
          "copy, published convention: all heads together are more faithful than the best single "
          "head in 540 of 900 measurements of a layer on a sample (60.0 %; 20.0 to 100.0 % by head "
          "count and layer), and by the means over samples in 9 of 18 layers.",
          HasSubstr("copy, exact convention: over 24 points (head count, seed, layer) mixing time "
                    "and fidelity have the rank correlation -0."),
          HasSubstr("a rough guide only: points of one model are not independent")));
}

// Four single values: one of 24 orders is the best. Four tests: 4/24.
TEST(Statements, SayThatOneSeedProvesNothing) {
  const std::vector<std::string> said = said_of(clear_study(1));
  EXPECT_EQ(said[0],
            "One seed: the spread over seeds is unknown, and a difference between two models may "
            "be chance.");
  EXPECT_EQ(said[2],
            "No trend can be established by so few models: the smallest p-value that a trend test "
            "of them can give is 0.042 (1/24), and 0.17 after correction for 4 tests.");
  EXPECT_EQ(said[3],
            "copy, exact convention: that more heads mix faster is not supported in layers 1 and 2 "
            "(Somers' d 0.00 to 1.00, smallest corrected p 0.17).");
}

TEST(Statements, BeginWithTheNeedForAttention) {
  std::vector<CellResult> results = clear_study(3, {1, 4});
  for (CellResult& result : results) {
    result.control.without_layer.resize(2);
    result.control.intact.accuracy = 1.0;
    result.control.without_attention.accuracy =
        result.cell.train.model.heads == 1 ? 1.0 : 0.25;  // models of one head need none
  }
  EXPECT_EQ(
      said_of(results)[0],
      "copy: 3 of 6 models are less accurate with every head switched off, by more than 0.001. The "
      "mean accuracy on held-out sequences is 0.625 then; with all heads it is 1.000.");
}

TEST(Statements, SayWhereModelsAreNotOfThePapersSize) {
  std::vector<CellResult> results = clear_study(3, {1, 4});
  const auto about_size = Contains(HasSubstr("size of the paper's"));
  EXPECT_THAT(said_of(results), Not(about_size));
  results[2].cell.train.model.length = 99;
  EXPECT_THAT(said_of(results), about_size);
}

TEST(Statements, NameModelsThatHaveNotLearned) {
  std::vector<CellResult> results = clear_study(3, {1, 4});
  const auto fail = [&](int heads, std::uint64_t seed, double accuracy) {
    for (CellResult& result : results)
      if (result.cell.train.model.heads == heads && result.cell.train.seed == seed)
        result.accuracy = accuracy;
  };
  fail(4, 2, 0.81);
  EXPECT_THAT(said_of(results),
              Contains("1 of 6 models has not learned its task: copy with 4 heads, seed 2 "
                       "(accuracy 0.810)."));
  fail(4, 3, 0.5);
  fail(1, 1, 0.25);
  EXPECT_THAT(said_of(results),
              Contains("3 of 6 models have not learned their tasks: copy with 1 head, seed 1 "
                       "(accuracy 0.250); copy with 4 heads, seeds 2 and 3 (accuracy 0.500 to "
                       "0.810)."));
}

TEST(Statements, OfASingleModel) {
  CellResult model = invented_result("zero", 4, 1, {{2, 0.5, 0.25, 50}});
  model.exact[0].rank_correlation = model.published[0].rank_correlation = std::nan("");
  EXPECT_THAT(
      said_of({model}),
      ElementsAre(HasSubstr("One seed"), "The only model has learned its task.",
                  "zero: there is one head count, so no trend can be tested.",
                  "zero, exact convention: all heads together are more faithful than the best "
                  "single head in 50 of 50 measurements of a layer on a sample (100.0 %; 100.0 % "
                  "by head count and layer), and by the means over samples in 1 of 1 layer.",
                  HasSubstr("zero, published convention: all heads"),
                  "zero, exact convention: mixing time and fidelity have no rank correlation over "
                  "1 point.",
                  HasSubstr("over 1 point.")));
  model.accuracy = 0;
  EXPECT_THAT(said_of({model}),
              Contains("The only model has not learned its task: zero with 4 heads, seed 1 "
                       "(accuracy 0.000)."));
}

TEST(Statements, OfOneHeadAlone) {
  const std::vector<CellResult> results = {invented_result("copy", 1, 1, {{2, 0.5, 0.5, 0}}),
                                           invented_result("copy", 1, 2, {{2, 0.5, 0.5, 0}})};
  EXPECT_TRUE(derive_findings(results).synergy.empty());
  EXPECT_TRUE(derive_findings(results).trends.empty());
  const std::vector<std::string> said = said_of(results);
  EXPECT_THAT(said, Not(Contains(HasSubstr("best single head"))));
  EXPECT_THAT(said, Not(Contains(HasSubstr("No trend can be established"))));
  EXPECT_THAT(said,
              Contains("copy, exact convention: mixing time and fidelity have no rank correlation "
                       "over 2 points, since one of them does not vary; over the samples of one "
                       "layer it is -0.50 in the median."));
}

TEST(Statements, OfSeedsThatDiffer) {
  std::vector<CellResult> results = clear_study(3, {1, 4});
  results.pop_back();
  EXPECT_EQ(said_of(results)[0], "2 to 3 seeds, depending on task and head count.");
}

TEST(Statements, OfNothing) {
  EXPECT_TRUE(said_of({}).empty());
}

}  // namespace
}  // namespace synergraph
