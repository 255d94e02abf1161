#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "synergraph/io/atomic_file.h"
#include "tests/support/documents.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::ProgramTest;

class FamiliesCommand : public ProgramTest {};

TEST_F(FamiliesCommand, HasTheClosedFormsOfTheLine) {
  const auto line = run("families --families dilated:1:1 --sizes 16,64 --csv - --quiet");
  EXPECT_EQ(line.status, 0) << line.err;
  EXPECT_THAT(line.out, HasSubstr("\ndilated:1:1,16,,31,27,23,33,15,"));
  EXPECT_THAT(line.out, HasSubstr("\ndilated:1:1,64,,127,111,95,133,63,"));
}

TEST_F(FamiliesCommand, MeasuresItsDefaults) {
  const auto outcome = run("families --graphs 1 --csv - --quiet");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1 + 9 * 6);
}

TEST_F(FamiliesCommand, ResultsDoNotDependOnThreads) {
  const std::string command =
      "families --families fs:4log,poisson:0.2:8 --sizes 300 --csv - --quiet --threads ";
  const auto one = run(command + "1");
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(run(command + "3").out, one.out);
}

TEST_F(FamiliesCommand, SaysWhatWasNotReached) {
  const auto limited = run("families --families dilated:1:1 --sizes 64 --step-limit 20 --quiet");
  EXPECT_THAT(limited.out, HasSubstr(">= "));
  const auto never = run("families --families indegree:1 --sizes 64 --quiet");
  EXPECT_THAT(never.out, HasSubstr("never"));
}

/// The row of a graph of 300 nodes, from the number of nodes on.
std::string numbers_of(const std::string& csv) {
  return csv.substr(std::min(csv.find(",300,"), csv.size()));
}

TEST_F(FamiliesCommand, WritesAndReadsSparseGraphs) {
  const std::string made = "families --families power --sizes 300 --csv - --quiet --save ";
  for (const char* name : {"graph.npz", "graph.txt"}) {
    const auto written = run(made + path(name));
    EXPECT_EQ(written.status, 0) << written.err;
    const auto read = run("families --csv - --quiet " + path(name));
    EXPECT_EQ(read.status, 0) << read.err;
    EXPECT_EQ(numbers_of(read.out), numbers_of(written.out));
  }
  const auto both = run("families --csv - --quiet " + path("graph.npz") + " " + path("graph.txt"));
  EXPECT_EQ(std::count(both.out.begin(), both.out.end(), '\n'), 3);
  expect_refusal("families --families fs:log --quiet --save " + path("x.npz"), 2,
                 "--save: the graphs are more than one");
  expect_refusal("families " + path("none.npz"), 1, "none.npz");
  expect_refusal("families " + path("graph.npz") + " --save " + path("graph.npz"), 2, "graph.npz");
}

TEST_F(FamiliesCommand, WritesJsonAndLatex) {
  const std::string command =
      "families --families dilated:1:1,indegree:2 --sizes 16,64 --graphs 2 --quiet ";
  const auto outcome = run(command + "--json -");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(testing_support::wrong_in_document("synergraph.families", document), "");
  const auto& graphs = document.at("graphs");
  ASSERT_EQ(graphs.size(), 6U);
  EXPECT_EQ(graphs.at(1).at("numbers").at("averaged_mixing_time"), 111);
  EXPECT_TRUE(graphs.at(1).at("seed").is_null());
  EXPECT_EQ(graphs.at(5).at("seed"), 2);
  EXPECT_TRUE(graphs.at(5).at("numbers").at("mixing_time").is_null());  // infinite
  const auto latex = run(command + "--latex -");
  EXPECT_THAT(latex.out, HasSubstr("\\begin{tabular}{l"));
  EXPECT_THAT(latex.out, HasSubstr("T\\_avg"));
  EXPECT_THAT(latex.out, HasSubstr("dilated:1:1 &    64 & "));
  EXPECT_EQ(run(command + "--json " + path("f.json") + " --latex " + path("f.tex")).status, 0);
  EXPECT_EQ(read_file(path("f.tex")), latex.out);
  EXPECT_EQ(read_file(path("f.json")), outcome.out);
  expect_refusal(command + "--json - --csv -", 2, "only one output");
}

TEST_F(FamiliesCommand, RefusesBadFamiliesInALine) {
  expect_refusal("families --families ring:3", 2, "unknown family 'ring'");
  expect_refusal("families --families fs", 2, "expected fs:N:K[:RATIO[:SEED]]");
  expect_refusal("families --families fs:x", 2, "'x' is not a whole number");
  expect_refusal("families --sizes 0", 2, "--sizes");
  expect_refusal("families --families expander:3 --sizes 5 --quiet", 1, "no 3-regular graph of 5");
}

}  // namespace
}  // namespace synergraph
