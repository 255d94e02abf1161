#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "synergraph/report/reproduce_report.h"
#include "synergraph/report/statements.h"
#include "synergraph/report/study_tables.h"
#include "tests/support/invented_results.h"

namespace synergraph {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::clear_study;
using testing_support::invented_subsets;

/// Models of 1, 4 and 8 heads and two layers; the second layer of 4 heads has no synergy.
ReproduceReport study(int seeds) {
  ReproduceReport report;
  report.results = clear_study(seeds, {1, 4, 8});
  for (CellResult& result : report.results) {
    const int heads = result.cell.train.model.heads;
    if (heads == 1) continue;
    const double more = 0.5 * static_cast<double>(result.cell.train.seed);
    const ValueSubsets first = invented_subsets(0.01, 0.5 * heads + more, 2);
    const ValueSubsets second = invented_subsets(0.005, 0.5 * heads, heads == 4 ? 0 : 8);
    result.subsets = {{first, first}, {second, second}};
  }
  report.findings = derive_findings(report.results);
  return report;
}

std::vector<std::string> said_of_subsets(const ReproduceReport& report) {
  std::vector<std::string> texts = statements(report.findings, report.results);
  std::erase_if(texts, [](const std::string& text) {
    return text.find("subsets of heads") == std::string::npos;
  });
  return texts;
}

TEST(SubsetStatements, AnswerThreeQuestions) {
  EXPECT_THAT(
      said_of_subsets(study(1)),
      ElementsAre(
          "copy, subsets of heads on 5 samples of each model: some subset is more faithful than "
          "the best single head in 3 of 4 layers, and fewer than all heads are enough for that in "
          "2 of these: 2.0 of 4 heads and 5.0 of 8 in the mean.",
          "copy, subsets of heads on 5 samples of each model: 95 % of the fidelity of all heads is "
          "kept by 2.2 of 4 heads and 4.2 of 8; 1.0 of 4 heads and 1.0 of 8 could each be left out "
          "without loss, and some subset is more faithful than all heads in 0 of 4 layers.",
          "copy, subsets of heads on 5 samples of each model: the learned weights have 50 % with 4 "
          "heads and 50 % with 8 of the fidelity of the best weights found; equal weights have 25 "
          "% and 25 %. Of what no weights can exceed, the learned ones have 25 % and 25 %."));
}

TEST(SubsetStatements, HaveIntervalsOverSeeds) {
  EXPECT_THAT(said_of_subsets(study(3)),
              Contains(HasSubstr("is kept by 2.5 [1.9, 3.1] of 4 heads and 4.5 [3.9, 5.1] of 8;")));
  EXPECT_THAT(said_of_subsets(study(3)), Contains(HasSubstr("in 9 of 12 layers")));
}

TEST(SubsetStatements, OfNoSynergyAndNoFidelity) {
  ReproduceReport report = study(1);
  for (CellResult& result : report.results)
    for (LayerSubsets& layer : result.subsets) layer.fidelity = invented_subsets(0.0, 1, 0);
  report.findings = derive_findings(report.results);
  EXPECT_THAT(said_of_subsets(report),
              ElementsAre(HasSubstr("no subset is more faithful than the best single head in any "
                                    "of 4 layers."),
                          HasSubstr("is kept by 1.0 of 4 heads and 1.0 of 8;")));
}

TEST(SubsetStatements, AreNoneWithoutSubsets) {
  ReproduceReport report = study(1);
  for (CellResult& result : report.results) result.subsets.clear();
  report.findings = derive_findings(report.results);
  EXPECT_TRUE(said_of_subsets(report).empty());
  EXPECT_THAT(format_report(report), Not(HasSubstr("ubsets")));
  EXPECT_EQ(study_tables(report.results, report.findings).size(), 3U);
}

TEST(SubsetTable, HasARowANumberAndAColumnALayer) {
  const ReproduceReport report = study(3);
  const std::vector<StudyTable> tables = study_tables(report.results, report.findings);
  ASSERT_EQ(tables.size(), 4U);
  const StudyTable& table = tables.back();
  EXPECT_EQ(table.name, "subsets-copy");
  EXPECT_THAT(table.caption, HasSubstr("mean over 3 seeds, each on 5 samples"));
  EXPECT_THAT(table.table.header, ElementsAre("heads", "", "L1", "L2", "mean"));
  ASSERT_EQ(table.table.rows.size(), 36U);
  EXPECT_THAT(table.rules, ElementsAre(18U));
  EXPECT_THAT(table.table.rows[1], ElementsAre("", "all heads", "1.000 [1.000, 1.000]",
                                               "0.500 [0.500, 0.500]", "0.750 [0.750, 0.750]"));
  EXPECT_THAT(table.table.rows[6], ElementsAre("", "heads that keep 95 %", "3.0 [1.8, 4.2]",
                                               "2.0 [2.0, 2.0]", "2.5 [1.9, 3.1]"));
  EXPECT_EQ(table.table.rows[8][3], "-");  // no synergy in the second layer
  EXPECT_EQ(table.table.rows[18][0], "8");
  // 13 numbers and three shares, by two values, of two layers and both, for two head counts.
  EXPECT_EQ(table.data.rows.size(), 16U * 2 * 3 * 2);
  EXPECT_THAT(table.data.rows[0], ElementsAre("copy", "4", "L1", "subsets_fidelity_all", "ours",
                                              "exact", "0.01", "", "0", "0.01", "0.01", "3", "5"));
}

TEST(SubsetTable, OfASingleSampleSaysNothingOfPairs) {
  ReproduceReport report = study(1);
  for (CellResult& result : report.results) result.cell.measure.subset_samples = 1;
  report.findings = derive_findings(report.results);
  const StudyTable table = study_tables(report.results, report.findings).back();
  EXPECT_EQ(table.table.rows[11][2], "-");
  EXPECT_THAT(table.caption, HasSubstr("one seed, on 1 sample."));
}

TEST(SubsetOverview, FitsATerminal) {
  const std::string text = format_report(study(3), 80);
  EXPECT_THAT(text,
              HasSubstr("copy, 4 heads        2.5          2.5          1.0            2.0     "
                        "50 %\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    });
    EXPECT_LE(columns, 80) << line;
  }
}

}  // namespace
}  // namespace synergraph
