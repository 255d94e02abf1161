#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class VerifyTest : public testing_support::ProgramTest {
 protected:
  /// A model of the paper's sizes that nobody trained, under one of the authors' names.
  void write_untrained(int heads, const std::string& task) const {
    const std::string name = std::to_string(heads) + "_heads_" + task;
    ASSERT_EQ(run("train --epochs 0 --sequences 50 --quiet --heads " + std::to_string(heads) +
                  " --task " + task + " --out run-" + name)
                  .status,
              0);
    std::filesystem::create_directories(directory_ / "models");
    std::filesystem::rename(directory_ / ("run-" + name) / "model.safetensors",
                            directory_ / "models" / (name + ".safetensors"));
    std::filesystem::remove_all(directory_ / ("run-" + name));
  }
};

TEST_F(VerifyTest, AnUntrainedModelIsNotThePapers) {
  write_untrained(4, "copy");
  write_untrained(1, "cycle");
  const auto outcome = run("verify --checkpoints models --samples 5 --quiet --json verify.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "synergraph: 2 of 2 models disagree with the paper\n");
  EXPECT_THAT(outcome.out, HasSubstr("NO"));
  EXPECT_THAT(outcome.out, HasSubstr("3.7155 ± 0.0365"));  // the paper's 4 heads, layer 2
  EXPECT_THAT(outcome.out, HasSubstr("of 8 mixing times"));
  const json report = json::parse(read("verify.json"));
  EXPECT_EQ(report.at("schema"), "synergraph.verify");
  ASSERT_EQ(report.at("models").size(), 2U);
  const json& copy = report.at("models")[0];
  EXPECT_EQ(copy.at("heads"), 4);
  EXPECT_EQ(copy.at("agrees"), false);
  EXPECT_EQ(copy.at("layers")[1].at("layer"), 2);
  // Fractions, as every fidelity in JSON: the paper prints 0.11 %.
  EXPECT_DOUBLE_EQ(
      copy.at("layers")[1].at("published_single_sequence").at("best_head_fidelity").get<double>(),
      0.0011);
  EXPECT_EQ(
      copy.at("layers")[1].at("fidelity").at("ours").at("mean").get<double>() >
          0.5 *
              copy.at("layers")[1].at("published").at("minimax_fidelity").at("mean").get<double>(),
      true);
  EXPECT_EQ(copy.at("layers")[1].at("mixing_time").at("published").at("mean"), 3.7155);
  EXPECT_TRUE(copy.at("layers")[0].contains("published_single_sequence"));
  EXPECT_FALSE(report.at("models")[1].at("layers")[0].contains("published_single_sequence"));
}

TEST_F(VerifyTest, RefusesWhatIsNotThere) {
  expect_refusal("verify", 2, "--checkpoints");
  expect_refusal("verify --checkpoints nowhere", 1, "nowhere");
  std::filesystem::create_directories(directory_ / "empty");
  expect_refusal("verify --checkpoints empty", 1, "empty: no checkpoint");
  write("empty/4_heads_copy.pt", "not a zip archive");
  expect_refusal("verify --checkpoints empty", 1, "4_heads_copy.pt");
}

}  // namespace
}  // namespace synergraph
