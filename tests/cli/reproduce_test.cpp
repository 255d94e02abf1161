#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/random.h"
#include "tests/support/page_parts.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ReproduceTest : public testing_support::ProgramTest {
 protected:
  /// Starts the program in the background, in a process group of its own.
  pid_t start(const std::string& arguments) const {
    const std::string line =
        "cd '" + directory_.string() + "' && exec '" SYNERGRAPH_CLI "' " + arguments;
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGINT, SIG_DFL);  // these tests may themselves run in a shell's background
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    return child;
  }

  /// Whether a file of this name is anywhere in a directory.
  bool holds(const std::string& where, const std::string& name) const {
    if (!exists(where)) return false;
    const std::filesystem::recursive_directory_iterator entries(directory_ / where);
    return std::any_of(begin(entries), end(entries),
                       [&](const auto& entry) { return entry.path().filename() == name; });
  }

  /// The data in the report of a study.
  json report_data(const std::string& study) const {
    return testing_support::page_data(read(study + "/report.html"));
  }

  /// Files of the study's cells whose names have this in them, in order.
  std::vector<std::filesystem::path> paths_with(const std::string& part) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(directory_ / "study/cells"))
      if (entry.path().filename().string().find(part) != std::string::npos)
        found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }

  const std::string small_ =
      "reproduce --heads 1,2 --seeds 2 --layers 2 --width 8 --hidden 8 --vocabulary 12 --length 8 "
      "--sequences 60 --batch 10 --epochs 3 --samples 20 --eps 0.25,0.1 --threads 2 --quiet ";
};

TEST_F(ReproduceTest, WritesTablesFiguresPageAndResults) {
  const auto outcome = run(small_ + "--out study");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("report.html"));
  const json results = json::parse(read("study/results.json"));
  EXPECT_EQ(results.at("schema"), "synergraph.reproduce");
  const json cpu = json::array({"cpu (" + instruction_set() + ")"});
  EXPECT_EQ(results.at("devices"), json({{"training", cpu}, {"forward_pass", cpu}}));
  ASSERT_EQ(results.at("cells").size(), 8U);
  EXPECT_EQ(results.at("cells")[7].at("task"), "cycle");
  EXPECT_EQ(results.at("cells")[7].at("heads"), 2);
  for (const char* convention : {"exact", "published"}) {
    const json& layer = results.at("cells")[3].at(convention).at(1);
    for (const char* key : {"truncated_hitting_mean", "truncated_hitting_max", "hitting_mean",
                            "mixing_time_0.25", "mixing_time_0.1", "minimax_fidelity"})
      EXPECT_EQ(layer.at(key).at("samples"), 20) << key;
  }
  EXPECT_EQ(results.at("settings").at("subset_samples"), 2);
  const json& control = results.at("cells")[3].at("control");
  EXPECT_EQ(control.at("without_layer").size(), 2U);
  EXPECT_GE(control.at("without_attention").at("accuracy"), 0.0);
  EXPECT_THAT(outcome.out, testing::StartsWith("Do the models need attention?"));
  EXPECT_TRUE(results.at("cells")[0].at("subsets").empty());  // one head
  const json& subsets = results.at("cells")[3].at("subsets").at(1);
  for (const char* value : {"fidelity", "speed"})
    for (const char* key : {"all", "best_head", "best_weights", "bound", "sufficient"})
      EXPECT_GT(subsets.at(value).at(key), 0.0) << key;
  EXPECT_EQ(results.at("findings").at("subsets").size(), 12U);  // task, value, layer or both
  EXPECT_TRUE(results.at("findings").at("subsets")[2].at("layer").is_null());
  EXPECT_FALSE(results.at("findings").at("statements").empty());
  for (const char* part : {"summaries", "trends", "synergy"})
    for (const json& entry : results.at("findings").at(part)) {
      EXPECT_GE(entry.at("layer"), 1) << part;
      EXPECT_LE(entry.at("layer"), 2) << part;
    }
  for (const std::string task : {"copy", "cycle"})
    for (const std::string table : {"control-", "mixing-", "fidelity-", "comparison-", "subsets-"})
      for (const std::string ending : {".md", ".csv", ".tex"})
        EXPECT_TRUE(exists("study/tables/" + table + task + ending)) << table << task << ending;
  for (const std::string figure : {"published", "exact", "diffusion"})
    for (const std::string ending : {".svg", ".pdf", ".png"})
      EXPECT_TRUE(exists("study/figures/" + figure + ending)) << figure << ending;
  const json figures = report_data("study").at("report").at("figures");
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_EQ(figures[1].at("svg"), read("study/figures/exact.svg"));
}

TEST_F(ReproduceTest, WritesResultsBeforeFiguresAndWithoutThem) {
  // A figure that cannot be drawn: a file stands where its directory should be.
  std::filesystem::create_directories(directory_ / "study");
  write("study/figures", "");
  EXPECT_EQ(run(small_ + "--out study").status, 1);
  EXPECT_TRUE(exists("study/results.json"));
  EXPECT_TRUE(exists("study/tables/mixing-copy.csv"));
  EXPECT_FALSE(exists("study/report.html"));
  const auto outcome = run(small_ + "--no-figures --out study");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json page = report_data("study");
  EXPECT_TRUE(page.at("report").at("figures").empty());
  EXPECT_EQ(page.at("command"), "reproduce");
  EXPECT_EQ(page.at("document"), json::parse(read("study/results.json")));
  EXPECT_EQ(page.at("published").size(), 16U);  // the paper has no models of two heads
  std::vector<std::string> titles;
  for (const json& section : page.at("report").at("sections")) {
    titles.push_back(section.at("title"));
    for (const json& table : section.at("tables")) {
      EXPECT_NE(table.at("title"), "") << section.at("title");
      for (const json& row : table.at("rows"))
        EXPECT_EQ(row.size(), table.at("rows")[0].size()) << table.at("title");
      for (const json& place : table.at("bold"))  // counted without the header
        EXPECT_NE(table.at("rows").at(place.at(0).get<std::size_t>() + 1).at(place.at(1)), "");
    }
  }
  EXPECT_THAT(titles, testing::ElementsAre("Tables", "Settings"));
}

TEST_F(ReproduceTest, FiguresAreLaidOutAsAskedAndTextIsOnlyText) {
  const std::string title = "a <b> id=\"x\" `touch PWN`";
  const auto outcome = run(small_ + "--out study --figure-size 8x6 --figure-title '" + title + "'");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(exists("PWN"));
  EXPECT_THAT(read("study/figures/exact.svg"), HasSubstr("viewBox=\"0 0 768 576\""));
  const json figure = report_data("study").at("report").at("figures").at(1);
  EXPECT_THAT(figure.at("svg"), HasSubstr("a &lt;b> id=\"x\" `touch PWN`"));
  expect_refusal(small_ + "--out study --figure-size 1x1", 2, "too few for 2 by 2 panels");
}

TEST_F(ReproduceTest, SubsetsAreTheSameForAnyThreadsAndLeftOutWhenNotWanted) {
  std::string four = small_ + "--tasks copy --no-figures ";
  four.replace(four.find("--heads 1,2"), 11, "--heads 4  ");
  four.replace(four.find("--threads 2"), 11, "");
  ASSERT_EQ(run(four + "--subset-samples 3 --threads 1 --out one").status, 0);
  ASSERT_EQ(run(four + "--subset-samples 3 --threads 3 --out three").status, 0);
  for (const char* file : {"results.json", "report.html", "tables/subsets-copy.csv"})
    EXPECT_EQ(read(std::string("one/") + file), read(std::string("three/") + file)) << file;
  EXPECT_THAT(read("one/report.html"), HasSubstr("subsets of heads on 3 samples of each model"));
  const auto without = run(four + "--subset-samples 0 --out one");  // measured, not trained, again
  ASSERT_EQ(without.status, 0) << without.err;
  EXPECT_THAT(without.out, testing::Not(HasSubstr("ubsets")));
  EXPECT_TRUE(json::parse(read("one/results.json")).at("findings").at("subsets").empty());
  expect_refusal(four + "--subset-samples 21 --out one", 2, "samples for subsets");
}

TEST_F(ReproduceTest, KilledAtAnyTimeEndsInTheSameResults) {
  ASSERT_EQ(run(small_ + "--out whole").status, 0);
  const std::string arguments = small_ + "--checkpoint-every 0 --jobs 2 --out killed";
  RandomSequence draws(11, Purpose::kTest);
  for (int kill_number = 0; kill_number < 6; ++kill_number) {
    const pid_t child = start(arguments + " >/dev/null");
    std::this_thread::sleep_for(std::chrono::microseconds(5000 + draws.below(60000)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  ASSERT_EQ(run(arguments).status, 0);
  EXPECT_EQ(read("killed/results.json"), read("whole/results.json"));
  EXPECT_EQ(read("killed/report.html"), read("whole/report.html"));
  EXPECT_EQ(read("killed/tables/mixing-copy.csv"), read("whole/tables/mixing-copy.csv"));
}

TEST_F(ReproduceTest, SaysThatOneSeedHasNoSpread) {
  const auto outcome = run(small_ + "--seed-list 5 --out study");
  EXPECT_EQ(outcome.status, 2);  // --seeds and --seed-list
  std::string one = small_;
  one.replace(one.find("--seeds 2"), 9, "--seeds 1");
  const auto single = run(one + "--tasks copy --out single");
  ASSERT_EQ(single.status, 0) << single.err;
  EXPECT_THAT(single.out, HasSubstr("One seed"));
}

TEST_F(ReproduceTest, RefusesWhatCannotBe) {
  expect_refusal("reproduce", 2, "--out");
  expect_refusal(small_ + "--out ''", 2, "--out: the value is empty");
  expect_refusal("reproduce --preset slow --out x", 2, "slow");
  expect_refusal("reproduce --tasks sing --out x", 2, "sing");
  expect_refusal("reproduce --heads 3 --out x", 2, "heads");
  expect_refusal("reproduce --samples 5001 --out x", 2, "samples");
  expect_refusal("reproduce --seeds 0 --out x", 2, "--seeds");
  expect_refusal("reproduce --heads 4,4 --out x", 2, "twice");
  write("file", "");
  expect_refusal(small_ + "--out file/x", 1, "file/x");
}

TEST_F(ReproduceTest, MeasuresDamagedResultsAgain) {
  const std::string study = small_ + "--tasks copy --out study ";
  ASSERT_EQ(run(study).status, 0);
  const std::string whole = read("study/results.json");
  for (const char* shard : {"--shard off", "--shard 2/2"}) {
    const auto results = paths_with(".result-");
    std::filesystem::resize_file(results.at(0), 100);
    std::filesystem::copy_file(results.at(2), results.at(1),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(directory_ / "study/results.json");
    const auto status = run("status study");
    EXPECT_EQ(status.status, 1);
    EXPECT_THAT(status.out, HasSubstr("3 of 4 cells done"));  // of another, but whole
    EXPECT_THAT(status.out, HasSubstr("damaged: "));
    const auto merge = run(study + "--merge");
    EXPECT_EQ(merge.status, 1);
    EXPECT_THAT(merge.err, HasSubstr("without --merge it is measured again"));
    const auto outcome = run(study + shard);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read("study/results.json"), whole);
    EXPECT_EQ(run("status study --finished").status, 0);
    for (const auto& aside : paths_with(".damaged")) std::filesystem::remove(aside);
  }
}

TEST_F(ReproduceTest, ADamagedTrainingFailsItsCellAlone) {
  const std::string study = small_ + "--tasks copy --out study ";
  ASSERT_EQ(run(study).status, 0);
  for (const auto& result : paths_with(".result-")) std::filesystem::remove(result);
  const auto states = paths_with("state.safetensors");
  std::filesystem::resize_file(states.at(0), 0);
  EXPECT_EQ(run(study).status, 1);
  const auto status = run("status study --finished");
  EXPECT_EQ(status.status, 1);
  EXPECT_THAT(status.out, HasSubstr("3 of 4 cells done"));
  EXPECT_THAT(status.out, HasSubstr("1 failed"));
  EXPECT_THAT(status.out, HasSubstr(states.at(0).parent_path().filename().string()));
  expect_refusal(study + "--merge", 1, "1 of them failed");
  std::filesystem::remove_all(states.at(0).parent_path());
  EXPECT_EQ(run(study).status, 0);
}

TEST_F(ReproduceTest, WorkersWriteWhatIsMissing) {
  const std::string study = small_ + "--tasks copy --out study --shard 2/2";
  ASSERT_EQ(run(study).status, 0);
  std::filesystem::remove_all(directory_ / "study/tables");
  ASSERT_EQ(run(study).status, 0);
  EXPECT_TRUE(exists("study/tables/mixing-copy.csv"));
  expect_refusal(small_ + "--out nowhere --merge", 1, "there is no study here");
  // Which needs no device, but a name of one.
  expect_refusal(small_ + "--out nowhere --merge --device cuda", 1, "there is no study here");
  expect_refusal(small_ + "--out nowhere --merge --device abacus", 2, "unknown device");
  EXPECT_FALSE(exists("nowhere"));
}

TEST_F(ReproduceTest, StopsWhileItMeasures) {
  // Nothing to train, and more to measure than there is time for.
  const pid_t child = start(
      "reproduce --heads 8 --layers 4 --width 8 --hidden 8 --vocabulary 12 --length 200 --epochs 0 "
      "--sequences 5000 --samples 5000 --threads 2 --quiet --out study 2>/dev/null");
  for (int tries = 0; tries < 500 && !holds("study/cells", "model.safetensors"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(child, SIGINT);
  int status = 0;
  for (int tries = 0; tries < 500 && waitpid(child, &status, WNOHANG) == 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_TRUE(holds("study/cells", "model.safetensors"));
  kill(child, SIGKILL);
}

TEST_F(ReproduceTest, OnlyOneWorksInADirectory) {
  std::string longer = small_;
  longer.replace(longer.find("--epochs 3"), 10, "--epochs 100000");
  const pid_t child = start(longer + "--out study 2>/dev/null");
  for (int tries = 0; tries < 200 && !exists("study/cells"); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto outcome = run(small_ + "--out study");
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("another run is at work"));
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

}  // namespace
}  // namespace synergraph
