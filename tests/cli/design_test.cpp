#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/documents.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing_support::ProgramTest;

class DesignCommand : public ProgramTest {};

TEST_F(DesignCommand, WritesItsDocumentAndGraphsThatMeasureTheSame) {
  const auto outcome =
      run("design --size 24 --heads 2 --edges 140 --averaged-mixing 12 --steps 400 "
          "--starts layers,random --quiet --json - --graphs " +
          path("designs"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(testing_support::wrong_in_document("synergraph.design", document), "");
  const auto& best = document.at("designs").at(0);
  EXPECT_TRUE(best.at("certified").get<bool>());
  EXPECT_LE(best.at("edges").get<int>(), 140);
  EXPECT_EQ(best.at("heads").size(), 2U);
  const auto measured = run("graph --json " + path("designs/design-0.txt"));
  ASSERT_EQ(measured.status, 0) << measured.err;
  const auto head = run("families --csv - --quiet " + path("designs/design-0-head-1.npz"));
  ASSERT_EQ(head.status, 0) << head.err;
  EXPECT_THAT(head.out,
              HasSubstr("," + std::to_string(best.at("heads").at(1).at("edges").get<int>()) + ","));
  const auto graph = nlohmann::json::parse(measured.out);
  EXPECT_NEAR(graph["combined"]["minimax_fidelity"]["value"].get<double>(),
              best.at("numbers").at("minimax_fidelity").get<double>(), 1e-12);
}

TEST_F(DesignCommand, PrintsTheFrontAndDoesNotDependOnThreads) {
  const std::string command =
      "design --size 20 --indegree 3 --averaged-mixing 20 --levels 2 --steps 200 --quiet "
      "--threads ";
  const auto one = run(command + "1");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("The most faithful design has "));
  EXPECT_THAT(one.out, HasSubstr("layers"));
  EXPECT_EQ(run(command + "3").out, one.out);
}

TEST_F(DesignCommand, GoesOnFromItsState) {
  const std::string command = "design --size 20 --indegree 3 --quiet --steps ";
  const std::string state = " --state " + path("state");
  const auto whole = run(command + "300");
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(run(command + "90" + state).status, 0);
  EXPECT_EQ(run(command + "300" + state).out, whole.out);
  expect_refusal("design --size 21 --indegree 3 --quiet" + state, 1, "with other settings");
}

TEST_F(DesignCommand, RefusesWhatCannotBeInALine) {
  expect_refusal("design --size 0", 2, "--size");
  expect_refusal("design --size 10 --edges 18 --quiet", 2, "needs at least 19");
  expect_refusal("design --size 10 --edges 2147483648 --quiet", 2, "--edges");
  expect_refusal("design --size 10 --indegree 10 --quiet", 2, "have at most 9");
  expect_refusal("design --size 10 --starts ring --quiet", 2, "neither layers, random");
  expect_refusal("design --size 10 --averaged-mixing 1 --steps 5 --quiet", 1,
                 "raise --averaged-mixing");
}

}  // namespace
}  // namespace synergraph
