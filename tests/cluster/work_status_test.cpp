#include "synergraph/cluster/work_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "synergraph/cluster/sealed_result.h"
#include "synergraph/cluster/shared_work.h"
#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

TEST(WorkStatus, TellsWhatIsDoneByWhomAndWhatHasFailed) {
  const std::filesystem::path root = std::filesystem::path(testing::TempDir()) / "work_status";
  std::filesystem::remove_all(root);
  EXPECT_THROW(work_status(root.string()), InputError);
  WorkPlan plan{"a test", "cells", {}};
  for (const char* name : {"a", "b", "c", "d"})
    plan.pieces.push_back({name, "done", std::string("cell ") + name, 1.0});
  plan.pieces.back().cost = 5.0;
  SharedWork work((root / "cells").string(), plan,
                  {.place = {0, 2}, .with = "one\n  worker 2 of 2"});
  for (int k = 0; k < 3; ++k) ASSERT_EQ(work.take().size(), 1U);  // d and two others
  write_file(result_path(work.board(), plan.pieces[3]), seal_json("{\n \"a\": 1"));
  work.finish(3);
  work.fail(0, std::make_exception_ptr(InputError("it is bad")));
  const std::vector<WorkStatus> all = work_status(root.string());
  ASSERT_EQ(all.size(), 1U);
  const WorkStatus& status = all.front();
  EXPECT_EQ(status.pieces, 4U);
  EXPECT_EQ(status.done, 1U);
  EXPECT_DOUBLE_EQ(status.cost_done, 5.0 / 8.0);
  EXPECT_THAT(status.failures, testing::ElementsAre("cell a: it is bad"));
  ASSERT_EQ(status.workers.size(), 1U);
  EXPECT_FALSE(status.workers[0].dead);
  EXPECT_LT(status.workers[0].silent.value(), 60.0);
  EXPECT_EQ(status.workers[0].at_work_on.size(), 2U);
  EXPECT_FALSE(status.finished());
  for (const char* damaged :
       {"{", "{}\n", "{\n \"a\": 1,\n \"checksum\": \"0123456789abcdef\"\n}\n"}) {
    write_file(result_path(work.board(), plan.pieces[1]), damaged);
    EXPECT_EQ(work_status(root.string()).front().damaged.size(), 1U) << damaged;
  }
  const auto half = [](const std::string&) { return 0.5; };
  std::filesystem::create_directory(work.board().path("c"));
  EXPECT_DOUBLE_EQ(work_status(root.string(), half).front().cost_done, 5.5 / 8.0);
  const std::string text = format_status(status);
  EXPECT_THAT(text, HasSubstr("1 of 4 cells done (62.5 % of the work), 1 failed"));
  EXPECT_THAT(text, HasSubstr("worker 1 of 2, process"));
  EXPECT_THAT(text, HasSubstr("at work on cell "));
  EXPECT_THAT(text, HasSubstr("one\\x0a  worker 2 of 2"));  // a line of its own for nobody else
  std::filesystem::remove_all(root);
}

class OneBoard : public testing::Test {
 protected:
  OneBoard() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(testing::TempDir()) / (std::string("board_") + info->name());
    std::filesystem::remove_all(root_);
    board_.emplace(root_.string());
  }
  ~OneBoard() override { std::filesystem::remove_all(root_); }

  void write_plan(const std::string& text) { write_file((root_ / "plan-1.txt").string(), text); }
  void expect_no_plan(const std::string& message) {
    try {
      work_status(root_.string());
      ADD_FAILURE() << "a plan";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("plan-1.txt: " + message));
    }
  }

  std::filesystem::path root_;
  std::optional<WorkBoard> board_;
};

TEST_F(OneBoard, ClaimsOfWorkersThatFollowThemselvesAreDamagedAndEnd) {
  publish({"a test", "cells", {{"X", "done", "cell X"}, {"Y", "done", "cell Y"}}}, *board_);
  const auto claim = [&](const char* piece, const char* ending, const std::string& token) {
    board_->make_folder(piece);
    write_file(board_->path(piece, ending),
               R"({"token":")" + token + R"(","host":"far","boot":"b","space":"s","pid":1,)" +
                   R"("start":1,"rank":0,"size":2,"timeout":60})" + "\n");
  };
  claim("X", "claim", "aa");
  claim("X", "after-aa", "aa");
  claim("Y", "claim", "aa");
  claim("Y", "after-aa", "bb");
  claim("Y", "after-bb", "aa");
  const WorkStatus status = work_status(root_.string()).front();
  EXPECT_THAT(status.damaged,
              testing::ElementsAre(testing::StartsWith(board_->path("X", "after-aa") +
                                                       ": a second claim of the same worker"),
                                   testing::StartsWith(board_->path("Y", "after-bb") +
                                                       ": a second claim of the same worker")));
  EXPECT_FALSE(status.finished());
}

TEST_F(OneBoard, APlanIsWhatWasPublished) {
  const std::string title = "synergraph plan 1\tcells\ta test\n";
  write_plan(title + "2\tX\tdone\tcell X\n");
  EXPECT_EQ(work_status(root_.string()).front().pieces, 1U);
  for (const char* line :
       {"2\tX\tdone\n", "2\tX\tdone\tcell X\t\t\t\n", "nan\tX\tdone\tcell X\n",
        "-1\tX\tdone\tcell X\n", "1e300\tX\tdone\tcell X\n", "2\t../X\tdone\tcell X\n",
        "2\tX\t\tcell X\n", "\n", "synergraph plan 1\tcells\ta test\n"}) {
    write_plan(title + line);
    expect_no_plan("line 2: not a plan");
  }
  write_plan("2\tX\tdone\tcell X\n");
  expect_no_plan("line 1: not a plan");
}

TEST_F(OneBoard, NoPlanHasMoreThanAMillionPieces) {
  std::string text = "synergraph plan 1\tcells\ta test\n";
  for (std::size_t k = 0; k <= kMostPieces; ++k) text += "1\tX\tdone\tX\n";
  write_plan(text);
  expect_no_plan("line 1000002: not a plan");
  write_plan("");
  std::filesystem::resize_file(root_ / "plan-1.txt", std::uintmax_t{1} << 30U);  // sparse
  expect_no_plan("larger than");
  const WorkPlan large{"a test", "cells", std::vector<WorkPiece>(kMostPieces + 1)};
  EXPECT_THROW(publish(large, *board_), UsageError);
}

TEST_F(OneBoard, AFailureIsReadAsFarAsItIsShown) {
  const WorkPiece piece{"X", "done", "cell X"};
  publish({"a test", "cells", {piece}}, *board_);
  EXPECT_EQ(failure_text(*board_, piece), "");
  board_->make_folder("X");
  write_file(failure_path(*board_, piece), "cell X: it is bad\n");
  std::filesystem::resize_file(failure_path(*board_, piece), std::uintmax_t{1} << 40U);  // sparse
  EXPECT_THAT(work_status(root_.string()).front().failures,
              testing::ElementsAre("cell X: it is bad"));
}

}  // namespace
}  // namespace synergraph
