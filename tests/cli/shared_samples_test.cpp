#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
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

  std::vector<std::filesystem::path> parts(const std::string& folder = "parts") const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / folder))
      if (entry.path().extension() == ".part") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::filesystem::path only_part(const std::string& folder = "parts") const {
    EXPECT_EQ(parts(folder).size(), 1U);
    return parts(folder).at(0);
  }

  /// The command by three workers of one launch, two of them with the same place.
  Outcome run_shared(const std::string& arguments) const {
    std::string line;
    for (const char* shard : {"1/3", "2/3", "2/3"})
      line += "'" SYNERGRAPH_CLI "' " + arguments + " --shard " + shard + " & ";
    const std::string command = "cd '" + directory_.string() +
                                "' && export PMIX_NAMESPACE=launch-$$ && { " + line +
                                "wait; } >shared.out 2>shared.err";
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

TEST_F(SharedSamplesTest, WorkersShareTheSearchForWeights) {
  write_attention("a.npy", 4);
  const std::string command = "heads a.npy --weight-samples 2 --quiet --json out.json --shard-dir ";
  ASSERT_EQ(run(command + "parts --shard 1/1").status, 0);
  const auto found = parts();
  EXPECT_EQ(std::count_if(
                found.begin(), found.end(),
                [](const auto& part) { return part.filename().string().starts_with("search-"); }),
            2);  // one for each layer
  // The weights in the parts are those that are reported: no other search is made.
  const std::string before = read("out.json");
  std::filesystem::remove(directory_ / "out.json");
  ASSERT_EQ(run(command + "parts --shard 1/1").status, 0);
  EXPECT_EQ(read("out.json"), before);
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

TEST_F(SharedSamplesTest, DamagedPartsAreMeasuredAgain) {
  write_attention("a.npy", 3);
  for (const std::string command : {"analyze a.npy", "heads a.npy"}) {
    const std::string whole = run(command + " --quiet").out;
    for (const char* shard : {" --shard off", " --shard 1/2"}) {
      ASSERT_EQ(run(command + " --quiet --shard-dir parts").status, 0);
      const auto found = parts();
      ASSERT_EQ(found.size(), command == "heads a.npy" ? 3U : 1U);  // and a search for each layer
      for (const auto& part : found) {                              // the same length, other bytes
        std::fstream file(part, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-2, std::ios::end).write("!?", 2);
      }
      EXPECT_THAT(run("status parts").out,
                  testing::ContainsRegex("0 of [13] (parts|ranges of samples) done"));
      EXPECT_EQ(run(command + " --quiet --shard-dir parts" + shard).out, whole);
      EXPECT_EQ(run("status parts").status, 0);
      std::filesystem::remove_all(directory_ / "parts");
    }
  }
}

TEST_F(SharedSamplesTest, PartsOfOtherSettingsAreMeasuredAgain) {
  write_attention("a.npy", 3);
  ASSERT_EQ(run("analyze a.npy --cutoff 2 --quiet --shard-dir other").status, 0);
  const std::string whole = run("analyze a.npy --quiet --shard-dir parts").out;
  ASSERT_NE(run("analyze a.npy --cutoff 2 --quiet").out, whole);
  std::filesystem::copy_file(only_part("other"), only_part(),
                             std::filesystem::copy_options::overwrite_existing);
  const auto outcome = run("analyze a.npy --shard-dir parts");
  EXPECT_EQ(outcome.out, whole);
  EXPECT_THAT(outcome.err, HasSubstr("it is that of samples-0-3-"));
}

TEST_F(SharedSamplesTest, PartsOfALargeFileThatWasChangedAreMeasuredAgain) {
  constexpr int kTokens = 128;
  constexpr int kSamples = 260;  // 34 MB: every other block of 16 KiB is looked at
  std::vector<double> values(std::size_t{kSamples} * kTokens * kTokens);
  for (std::size_t row = 0; row < values.size() / kTokens; ++row)
    for (std::size_t j = 0, i = row % kTokens; j <= i; ++j)
      values[row * kTokens + j] =
          2.0 * static_cast<double>(j + 1) / static_cast<double>((i + 1) * (i + 2));
  const auto write = [&] {
    write_npy(path("a.npy"), tensor_data("", {kSamples, 1, kTokens, kTokens}, values.data()));
  };
  const std::string command = "analyze a.npy --quiet";
  write();
  const auto written = std::filesystem::last_write_time(path("a.npy"));
  const std::string first = run(command + " --shard-dir parts").out;
  const auto row = values.begin() + (3 * kTokens + 120) * kTokens;  // in one that is not
  std::reverse(row, row + 121);
  write();
  std::filesystem::last_write_time(path("a.npy"), written);
  const auto again = run(command + " --shard 2/2 --shard-dir parts --per-sample out.csv");
  EXPECT_EQ(again.out, run(command + " --per-sample whole.csv").out);
  EXPECT_EQ(read("out.csv"), read("whole.csv"));
}

TEST_F(SharedSamplesTest, NamesOfFilesAreAnyText) {
  write_attention("a\n\tb.npy", 2);
  ASSERT_EQ(run("analyze 'a\n\tb.npy' --quiet --shard-dir parts").status, 0);
  EXPECT_THAT(run("status parts").out, HasSubstr("1 of 1 ranges"));
}

TEST_F(SharedSamplesTest, WhatIsPrintedIsPrintedAgain) {
  write_attention("a.npy", 4);
  const std::string command = "analyze a.npy --quiet --shard-dir parts --json - --shard ";
  const std::string first = run(command + "2/2").out;
  EXPECT_THAT(first, HasSubstr("{"));
  EXPECT_EQ(run(command + "2/2").out, "");
  EXPECT_EQ(run(command + "1/2").out, first);
  EXPECT_EQ(run(command + "1/2").out, first);
}

TEST_F(SharedSamplesTest, RefusesWhatCannotBe) {
  write_attention("a.npy", 3);
  expect_refusal("analyze a.npy --shard 1/2", 2, "--shard-dir");
  expect_refusal("heads a.npy --leave", 2, "--shard-dir");
  expect_refusal("analyze a.npy --shard-dir parts --shard 3/2", 2, "I/N");
  expect_refusal("analyze - --shard-dir parts < a.npy", 2, "standard input");
  expect_refusal("status nowhere", 1, "nowhere: no such directory");
  std::filesystem::create_directory(directory_ / "empty");
  expect_refusal("status empty", 1, "nothing has begun here yet");
  EXPECT_EQ(run("analyze a.npy --quiet --shard off").status, 0);
  EXPECT_EQ(run("analyze a.npy --quiet --shard auto").status, 0);
}

}  // namespace
}  // namespace synergraph
