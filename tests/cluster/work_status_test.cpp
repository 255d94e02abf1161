#include "synergraph/cluster/work_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

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
  write_file(result_path(work.board(), plan.pieces[3]), "{}\n");
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
  write_file(result_path(work.board(), plan.pieces[1]), "{");
  EXPECT_EQ(work_status(root.string()).front().damaged.size(), 1U);
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

}  // namespace
}  // namespace synergraph
