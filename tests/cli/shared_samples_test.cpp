#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/model/parameters.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing_support::Outcome;

/// Commands that are run by one process, and by several that share a directory.
class SharedSamplesTest : public testing_support::ProgramTest {
 protected:
  /// Attention (2 layers, samples, 3 heads, 6 tokens), and a wrong number in one sample if wanted.
  void write_attention(const std::string& name, int samples, int wrong = -1) const {
    constexpr int kTokens = 6;
    RandomSequence draws(5, Purpose::kTest);
    std::vector<double> values;
    for (int k = 0; k < 2 * samples * 3; ++k) {
      const Matrix matrix = testing_support::random_attention(kTokens, 2.0, draws);
      for (int i = 0; i < kTokens; ++i)
        values.insert(values.end(), matrix.row(i), matrix.row(i) + kTokens);
      if (k / 3 == wrong) values.back() = std::numeric_limits<double>::quiet_NaN();
    }
    write_npy(path(name), tensor_data("", {2, samples, 3, kTokens, kTokens}, values.data()));
  }
  void write_model(const std::string& name) const {
    Model model({.vocabulary = 9, .length = 7, .width = 8, .heads = 4, .layers = 2, .hidden = 8});
    initialise(model, 3);
    std::vector<TensorData> tensors;
    for (const ParameterInfo& tensor : model.layout().tensors())
      tensors.push_back(
          tensor_data(tensor.name, tensor.shape, model.values().data() + tensor.offset));
    write_safetensors(path(name), tensors, {});
  }

  /// The command by three workers at once, two of them with the same place.
  Outcome run_shared(const std::string& arguments) const {
    std::string line;
    for (const char* shard : {"1/3", "2/3", "2/3"})
      line += "'" SYNERGRAPH_CLI "' " + arguments + " --shard " + shard + " & ";
    const std::string command =
        "cd '" + directory_.string() + "' && { " + line + "wait; } >shared.out 2>shared.err";
    const int status = std::system(command.c_str());  // NOLINT: the test's own words
    return {WEXITSTATUS(status), read("shared.out"), read("shared.err")};
  }
  void expect_same(const std::string& arguments, const std::string& outputs) const {
    SCOPED_TRACE(arguments);
    for (const char* name : {"out.json", "out.csv", "out.svg"})
      std::filesystem::remove(directory_ / name);
    const Outcome whole = run(arguments + " --quiet " + outputs);
    ASSERT_EQ(whole.status, 0) << whole.err;
    std::vector<std::string> files;
    for (const char* name : {"out.json", "out.csv", "out.svg"}) {
      files.push_back(exists(name) ? read(name) : "");
      std::filesystem::remove(directory_ / name);
    }
    const Outcome shared = run_shared(arguments + " --quiet --shard-dir parts " + outputs);
    EXPECT_EQ(shared.out, whole.out);
    EXPECT_THAT(shared.err, HasSubstr("another has written the outputs"));
    for (std::size_t k = 0; k < files.size(); ++k) {
      const char* name = std::array{"out.json", "out.csv", "out.svg"}[k];
      EXPECT_EQ(exists(name) ? read(name) : "", files[k]) << name;
    }
    const Outcome alone = run(arguments + " --quiet --shard off --shard-dir parts " + outputs);
    EXPECT_EQ(alone.out, whole.out);  // what is there is put together again
    EXPECT_EQ(run("status parts").status, 0);
  }
};

TEST_F(SharedSamplesTest, AnalyzeGivesTheBytesOfOneProcess) {
  write_attention("a.npy", 20);
  expect_same("analyze a.npy --per-head --convention both",
              "--json out.json --per-sample out.csv --figure out.svg");
  expect_same("analyze a.npy --eps 0.1 --threads 3", "");
}

TEST_F(SharedSamplesTest, AnalyzeOfAModelKnowsItsScores) {
  write_model("m.safetensors");
  expect_same("analyze m.safetensors --heads 4 --task copy --samples 30", "--json out.json");
}

TEST_F(SharedSamplesTest, HeadsGivesTheBytesOfOneProcess) {
  write_attention("a.npy", 7);
  write_model("m.safetensors");
  expect_same("heads a.npy --stack --follow 2 --weight-samples 2", "--json out.json --csv out.csv");
  expect_same("heads a.npy --exact-heads 2 --orders 50 --weight-samples 0", "");  // sampled
  expect_same(
      "heads m.safetensors --heads 4 --task cycle --samples 9 --values speed --weight-samples 0",
      "--json out.json");
}

TEST_F(SharedSamplesTest, OtherSettingsAndFilesAreOtherWork) {
  write_attention("a.npy", 4);
  const std::string shared = " --quiet --shard 1/2 --shard-dir parts --json out.json";
  ASSERT_EQ(run("analyze a.npy" + shared).status, 0);
  const std::string first = read("out.json");
  ASSERT_EQ(run("analyze a.npy --cutoff 7" + shared).status, 0);
  EXPECT_NE(read("out.json"), first);
  write_attention("a.npy", 5);
  ASSERT_EQ(run("analyze a.npy" + shared).status, 0);
  EXPECT_NE(read("out.json"), first);
}

TEST_F(SharedSamplesTest, OneBadSampleIsNamedAfterTheOthersAreDone) {
  write_attention("a.npy", 8, 5);
  const auto outcome = run("analyze a.npy --quiet --shard 1/2 --shard-dir parts --json out.json");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("sample 5"));
  EXPECT_FALSE(exists("out.json"));
  const auto status = run("status parts");
  EXPECT_EQ(status.status, 1);
  EXPECT_THAT(status.out, HasSubstr("0 of 1 ranges of samples done"));
  EXPECT_THAT(status.out, HasSubstr("failed: samples 0 to 7: "));
}

TEST_F(SharedSamplesTest, DamagedPartsAreNamed) {
  write_attention("a.npy", 3);
  ASSERT_EQ(run("analyze a.npy --quiet --shard-dir parts").status, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "parts"))
    if (entry.path().extension() == ".part")
      std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 1);
  const auto outcome = run("analyze a.npy --quiet --shard-dir parts");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("remove it to measure again"));
}

TEST_F(SharedSamplesTest, RefusesWhatCannotBe) {
  write_attention("a.npy", 3);
  expect_refusal("analyze a.npy --shard 1/2", 2, "--shard-dir");
  expect_refusal("heads a.npy --leave", 2, "--shard-dir");
  expect_refusal("analyze a.npy --shard-dir parts --shard 3/2", 2, "I/N");
  expect_refusal("analyze - --shard-dir parts < a.npy", 2, "standard input");
  expect_refusal("status nowhere", 1, "nowhere");
}

}  // namespace
}  // namespace synergraph
