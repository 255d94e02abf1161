#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

class CompareTest : public testing_support::ProgramTest {
 protected:
  const std::string a_ = SYNERGRAPH_TEST_DATA "/vectors/softmax_1.npy";
  const std::string b_ = SYNERGRAPH_TEST_DATA "/vectors/softmax_2.npy";
};

TEST_F(CompareTest, MeasuresFilesAndReadsTheirResultsAlike) {
  ASSERT_EQ(run("analyze " + a_ + " --quiet --json a.json --per-sample a.csv").status, 0);
  const auto itself = run("compare " + a_ + " " + a_ + " --quiet --json -");
  ASSERT_EQ(itself.status, 0) << itself.err;
  const auto json = nlohmann::json::parse(itself.out);
  EXPECT_TRUE(json["paired"]);
  for (const auto& layer : json["layers"])
    EXPECT_EQ(layer["combined"]["minimax_fidelity"]["difference"], 0.0);
  const auto table = run("compare a.csv a.csv --json -");
  EXPECT_TRUE(nlohmann::json::parse(table.out)["paired"]) << table.err;
  const auto means = run("compare a.json a.csv --csv -");
  EXPECT_EQ(means.status, 0) << means.err;
  EXPECT_THAT(means.out, HasSubstr("minimax_fidelity"));
  EXPECT_THAT(run("compare a.json a.csv").out, HasSubstr("a.json has means only"));
}

TEST_F(CompareTest, RefusesWhatHasNoEffectOrNoMeaning) {
  ASSERT_EQ(run("analyze " + a_ + " --quiet --json a.json").status, 0);
  auto outcome = run("compare a.json a.json --task copy");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--task: both files hold results"));
  outcome = run("compare a.json a.json --pairing samples");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--pairing: samples cannot be paired"));
  EXPECT_EQ(run("compare - a.json").status, 2);
  EXPECT_EQ(run("compare a.json missing.json").status, 1);
  ASSERT_EQ(run("analyze " + a_ + " --cutoff 7 --quiet --json b.json").status, 0);
  outcome = run("compare a.json b.json --json out.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cutoff"));
  EXPECT_FALSE(std::filesystem::exists(path("out.json")));
  EXPECT_EQ(run("compare a.json a.json --json a.json").status, 2);
  for (const char* name : {"empty.csv", "list.json"}) {
    std::ofstream(path(name)) << (std::string(name) == "list.json" ? "[]" : "");
    outcome = run(std::string("compare a.json ") + name);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("neither a document of analyze --json nor a table"));
  }
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  outcome = run("compare pipe a.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("a pipe that no program writes to"));
}

TEST_F(CompareTest, ReadsPipesOnce) {
  ASSERT_EQ(run("analyze " + a_ + " --quiet --per-sample a.csv").status, 0);
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer(
      [this] { std::ofstream(path("pipe")) << std::ifstream(path("a.csv")).rdbuf(); });
  const auto outcome = run("compare a.csv pipe --json -");
  writer.join();
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(nlohmann::json::parse(outcome.out)["paired"]);
}

TEST_F(CompareTest, RefusesOtherEdges) {
  ASSERT_EQ(run("analyze " + a_ + " --quiet --json a.json").status, 0);
  auto document = nlohmann::json::parse(std::ifstream(path("a.json")));
  document["edges"] = "norm";
  std::ofstream(path("norm.json")) << document;
  for (const std::string& other : {std::string("a.json"), a_}) {
    const auto outcome = run("compare " + other + " norm.json");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("with edges attention and norm.json with norm"));
  }
}

}  // namespace
}  // namespace synergraph
