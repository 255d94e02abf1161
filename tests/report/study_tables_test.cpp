#include "synergraph/report/study_tables.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "synergraph/core/parse_number.h"
#include "synergraph/report/reproduce_report.h"
#include "tests/support/invented_results.h"

namespace synergraph {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::invented_result;
using testing_support::InventedLayer;

std::string expected_file(const std::string& name) {
  const std::string path = std::string(SYNERGRAPH_TEST_DATA) + "/tables/" + name;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Copy models of 1, 2 and 4 heads; the paper has no model of 2. Each seed is a little slower and
/// more faithful than the one before. The exact convention has longer times and fidelities about
/// a hundred times larger.
std::vector<CellResult> small_study(int seeds) {
  std::vector<CellResult> results;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto add = [&](int heads, std::vector<InventedLayer> layers) {
      const double growth = 1.0 + 0.03 * (seed - 1) * (heads + 1);
      for (InventedLayer& layer : layers) {
        layer.time *= growth;
        layer.fidelity *= growth;
        layer.best_head *= growth * growth;
      }
      results.push_back(invented_result("copy", heads, static_cast<std::uint64_t>(seed), layers));
    };
    add(1, {{4.1234, 0.003142, 0.003142, 0}, {60.5678, 2.347e-9, 2.347e-9, 0}});
    add(2, {{3.7654, 0.004321, 0.002348, 50}, {9.1357, 0.0, 0.0, 0}});
    add(4, {{3.5432, 0.005678, 0.003456, 49}, {4.2468, 2.137e-7, 1.123e-6, 1}});
  }
  for (CellResult& result : results)
    for (LayerSummary& layer : result.exact)
      for (auto& [quantity, number] : layer.numbers) {
        const double factor = quantity == Quantity::kTruncatedHittingMean ? 1.2789 : 97.531;
        number.mean *= factor;
        number.std *= factor;
      }
  return results;
}

std::map<std::string, StudyTable> tables_of(const std::vector<CellResult>& results) {
  std::map<std::string, StudyTable> tables;
  for (StudyTable& table : study_tables(results, derive_findings(results)))
    tables[table.name] = std::move(table);
  return tables;
}

/// Cells are equal, or numbers that differ in their last digits: quantiles depend on the
/// mathematical library.
void expect_same_csv(const std::string& actual, const std::string& expected) {
  std::istringstream actual_lines(actual);
  std::istringstream expected_lines(expected);
  std::string a;
  std::string b;
  while (std::getline(expected_lines, b)) {
    ASSERT_TRUE(std::getline(actual_lines, a)) << b;
    std::istringstream actual_cells(a);
    std::istringstream expected_cells(b);
    ASSERT_EQ(std::count(a.begin(), a.end(), ','), std::count(b.begin(), b.end(), ','));
    for (std::string x, y; std::getline(expected_cells, y, ',');) {
      std::getline(actual_cells, x, ',');
      double x_number = 0.0;
      double y_number = 0.0;
      if (parse_number(x, x_number) && parse_number(y, y_number))
        EXPECT_NEAR(x_number, y_number, 1e-12 * std::abs(y_number)) << a << "\n" << b;
      else
        EXPECT_EQ(x, y) << a << "\n" << b;
    }
  }
  EXPECT_FALSE(std::getline(actual_lines, a)) << a;
}

void expect_tables(const std::map<std::string, StudyTable>& tables, const std::string& folder) {
  EXPECT_EQ(tables.size(), 3U);
  for (const auto& [name, table] : tables) {
    const std::string stem = fmt::format("{}/{}", folder, name);
    EXPECT_EQ(markdown(table), expected_file(stem + ".md"));
    EXPECT_EQ(latex(table), expected_file(stem + ".tex"));
    expect_same_csv(format_csv(table.data), expected_file(stem + ".csv"));
  }
}

TEST(StudyTables, OfOneSeedLookLikeThis) {
  expect_tables(tables_of(small_study(1)), "one-seed");
}

TEST(StudyTables, OfThreeSeedsLookLikeThis) {
  expect_tables(tables_of(small_study(3)), "three-seeds");
}

TEST(StudyTables, OfTheControlComeFirst) {
  std::vector<CellResult> results = small_study(3);
  for (CellResult& result : results) {
    result.control.without_layer.resize(result.exact.size());
    result.control.intact.accuracy = 1.0;
    result.control.without_attention.accuracy = 0.25;
    result.control.without_layer[0].accuracy =
        0.25 + 0.25 * static_cast<double>(result.cell.train.seed % 2);
    result.control.without_layer[1].loss = 0.125;
  }
  const StudyTable control = study_tables(results, derive_findings(results)).front();
  EXPECT_EQ(control.name, "control-copy");
  EXPECT_THAT(control.table.header,
              ElementsAre("heads", "as trained", "all heads off", "L1 off", "L2 off"));
  // Values 0.5, 0.25 and 0.5: Student's interval is 4.303 * 0.144 / sqrt(3) to each side.
  EXPECT_THAT(control.table.rows.front(),
              ElementsAre(_, "1.000 [1.000, 1.000]", "0.250 [0.250, 0.250]", "0.417 [0.058, 0.775]",
                          "0.000 [0.000, 0.000]"));
  const std::string csv = format_csv(control.data);
  EXPECT_THAT(csv, HasSubstr("copy,1,all,accuracy_without,ours,,0.25,"));
  EXPECT_THAT(csv, HasSubstr("copy,1,L2,loss_without,ours,,0.125,"));
}

TEST(StudyTables, AreThreeForEveryTask) {
  std::vector<CellResult> results = small_study(1);
  for (const CellResult& result : small_study(1)) {
    results.push_back(result);
    results.back().cell.train.task = "cycle";
  }
  std::vector<std::string> names;
  for (const StudyTable& table : study_tables(results, derive_findings(results)))
    names.push_back(table.name);
  EXPECT_THAT(names, ElementsAre("mixing-copy", "mixing-cycle", "fidelity-copy", "fidelity-cycle",
                                 "comparison-copy", "comparison-cycle"));
}

TEST(StudyTables, WorkForTasksThatThePaperDoesNotHave) {
  std::vector<CellResult> results = small_study(1);
  for (CellResult& result : results) result.cell.train.task = "zero";
  for (const auto& [name, table] : tables_of(results))
    EXPECT_THAT(format_csv(table.data) + markdown(table), Not(HasSubstr("published,published")))
        << name;
  EXPECT_THAT(tables_of(results)["mixing-zero"].caption, Not(HasSubstr("paper")));
  EXPECT_EQ(tables_of(results)["mixing-zero"].table.rows.size(), 6U);
}

TEST(StudyTables, HaveNoComparisonOfASingleHead) {
  const std::vector<CellResult> results = {invented_result("copy", 1, 1, {{4, 0.1, 0.1, 0}})};
  EXPECT_EQ(tables_of(results).count("comparison-copy"), 0U);
  EXPECT_EQ(tables_of(results).size(), 2U);
}

TEST(StudyTables, LeaveLayersBeyondThePapersEmpty) {
  const std::vector<InventedLayer> layers(5, {4, 0.1, 0.1, 0});
  const Table table = tables_of({invented_result("copy", 4, 1, layers)})["mixing-copy"].table;
  EXPECT_EQ(table.rows[0][5], "7.8050 ± 0.5391");
  EXPECT_EQ(table.rows[0][6], "");
  EXPECT_EQ(table.rows[1][6], "4.0000 ± 0.4000");
}

// Means 0.2 and 0.3 of 50 samples with the standard deviation s have intervals of half width
// 1.96 s / 7: they overlap from s = 0.1786 on.
TEST(StudyTables, MarkOnlyWhatIsCertainlyLarger) {
  for (const auto& [std, marked] : {std::pair{0.178, true}, {0.179, false}}) {
    CellResult result = invented_result("copy", 4, 1, {{4, 0.3, 0.2, 0}});
    for (auto* layers : {&result.exact, &result.published})
      for (const Quantity quantity : {Quantity::kMinimaxFidelity, Quantity::kBestHeadFidelity})
        (*layers)[0].numbers[quantity].std = std;
    const Table table = tables_of({result})["comparison-copy"].table;
    if (marked)
      EXPECT_THAT(table.bold, ElementsAre(std::pair(3U, 3U), std::pair(5U, 3U)));
    else
      EXPECT_TRUE(table.bold.empty());
  }
}

// A head count with one seed beside others with three: no spread to print.
TEST(StudyTables, PrintNoSpreadOfOneSeedAmongSeveral) {
  std::vector<CellResult> results = small_study(3);
  results.pop_back();
  results.erase(results.begin() + 5);  // 4 heads: seed 1 is left
  const StudyTable table = tables_of(results)["mixing-copy"];
  EXPECT_EQ(table.table.rows[6][2], "3.5432");
  EXPECT_THAT(table.caption, HasSubstr("over 1 to 3 seeds"));
}

/// Occurrences of a text.
std::ptrdiff_t count(const std::string& text, const std::string& part) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(StudyTables, AreWellFormedLatex) {
  for (const int seeds : {1, 3})
    for (const auto& [name, table] : tables_of(small_study(seeds))) {
      const std::string text = latex(table);
      int depth = 0;
      for (const char c : text) {
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        EXPECT_GE(depth, 0);
      }
      EXPECT_EQ(depth, 0);
      for (const char* environment : {"table", "tabular"}) {
        EXPECT_EQ(count(text, fmt::format("\\begin{{{}}}", environment)), 1);
        EXPECT_EQ(count(text, fmt::format("\\end{{{}}}", environment)), 1);
      }
      std::istringstream lines(text);
      std::size_t rows = 0;
      for (std::string line; std::getline(lines, line);) {
        if (line.size() < 2 || line.substr(line.size() - 2) != "\\\\") continue;
        ++rows;
        EXPECT_EQ(count(line, "&"), static_cast<std::ptrdiff_t>(table.table.header.size()) - 1);
      }
      EXPECT_EQ(rows, table.table.rows.size() + 1);
      EXPECT_EQ(count(text, "\\midrule"), static_cast<std::ptrdiff_t>(table.rules.size()) + 1);
    }
}

TEST(MarkdownTable, AlignsEscapesAndEmphasises) {
  Table table{{"name", "", "x"}, {{"a|b", "c", "1"}, {"é", "d", "10.5"}}};
  table.bold = {{1, 2}};
  table.left_columns = 2;
  EXPECT_EQ(format_markdown(table),
            "| name |     |        x |\n"
            "| :--- | :-- | -------: |\n"
            "| a\\|b | c   |        1 |\n"
            "| é    | d   | **10.5** |\n");
}

TEST(LatexTable, PrintsEveryCharacterAsItIs) {
  EXPECT_EQ(latex_text("a & b % $ # _ { }"), "a \\& b \\% \\$ \\# \\_ \\{ \\}");
  EXPECT_EQ(latex_text("~^\\"), "\\textasciitilde{}\\textasciicircum{}\\textbackslash{}");
  EXPECT_EQ(latex_text("1 ± 2 < 3 | é\n."), "1 $\\pm$ 2 $<$ 3 \\textbar{} é .");
}

TEST(LatexTable, IsBookish) {
  Table table{{"head", "x"}, {{"[1]", "2"}, {"3", "4"}}};
  table.bold = {{1, 1}};
  EXPECT_EQ(format_latex(table, {"Heads & more", "tab:heads", {1}}),
            "\\begin{table}\n"
            "  \\centering\n"
            "  \\caption{Heads \\& more}\n"
            "  \\label{tab:heads}\n"
            "  \\begin{tabular}{lr}\n"
            "    \\toprule\n"
            "    head &          x \\\\\n"
            "    \\midrule\n"
            "    {}[1]  &          2 \\\\\n"
            "    \\midrule\n"
            "    3    & \\textbf{4} \\\\\n"
            "    \\bottomrule\n"
            "  \\end{tabular}\n"
            "\\end{table}\n");
}

TEST(StudySummary, SaysOnOneScreenWhatCameOut) {
  ReproduceReport report;
  report.results = small_study(3);
  report.findings = derive_findings(report.results);
  EXPECT_EQ(format_report(report), expected_file("summary.txt"));
}

TEST(StudySummary, DoesNotGrowWithTheSeeds) {
  const auto lines = [](int seeds) {
    ReproduceReport report;
    report.results = small_study(seeds);
    report.findings = derive_findings(report.results);
    const std::string text = format_report(report);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(9), lines(3));
}

}  // namespace
}  // namespace synergraph
