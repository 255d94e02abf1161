#include "synergraph/cluster/shared_work.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "synergraph/core/error.h"
#include "synergraph/core/execution.h"
#include "synergraph/core/random.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

WorkPlan plan(int pieces) {
  WorkPlan plan;
  plan.title = "a test";
  for (int k = 0; k < pieces; ++k)
    plan.pieces.push_back({fmt::format("piece-{}", k), "done", fmt::format("piece {}", k), 1.0});
  return plan;
}

class SharedWorkTest : public testing::Test {
 protected:
  SharedWorkTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / (std::string("shared_work_") + info->name());
    fs::remove_all(root_);
  }
  ~SharedWorkTest() override { fs::remove_all(root_); }

  std::unique_ptr<SharedWork> join(int rank, int size, int pieces, SharedWorkOptions options = {}) {
    options.place = {rank, size};
    return std::make_unique<SharedWork>((root_ / "board").string(), plan(pieces), options);
  }
  /// Does a piece: its result, and a line for everyone who does it.
  static void work_on(SharedWork& work, std::size_t piece) {
    const std::string path = result_path(work.board(), work.plan().pieces[piece]);
    std::ofstream(path + ".log", std::ios::app) << "done\n";
    write_file(path, fmt::format("{}\n", piece));
    work.finish(piece);
  }
  /// All that can be taken.
  static std::size_t work_on_all(SharedWork& work) {
    std::size_t count = 0;
    for (auto taken = work.take(); !taken.empty(); taken = work.take())
      for (const std::size_t piece : taken) {
        work_on(work, piece);
        ++count;
      }
    return count;
  }
  std::string log_of(SharedWork& work, std::size_t piece) {
    return read_file(result_path(work.board(), work.plan().pieces[piece]) + ".log");
  }

  fs::path root_;
};

TEST_F(SharedWorkTest, AloneGoesThroughThePiecesInOrder) {
  const auto work = join(0, 1, 5);
  std::vector<std::size_t> order;
  for (auto taken = work->take(); !taken.empty(); taken = work->take()) {
    order.push_back(taken.front());
    work_on(*work, taken.front());
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(work->complete());
  EXPECT_TRUE(join(0, 1, 5)->complete());  // whoever comes later sees it
  EXPECT_TRUE(join(0, 1, 5)->take().empty());
}

TEST_F(SharedWorkTest, AloneTakesTheDearestFirstWhereItIsAskedTo) {
  WorkPlan uneven = plan(4);
  uneven.pieces[1].cost = 3.0;
  uneven.pieces[2].cost = 5.0;
  SharedWorkOptions options;
  options.dearest_first = true;
  SharedWork work((root_ / "board").string(), uneven, options);
  std::vector<std::size_t> order;
  for (auto taken = work.take(); !taken.empty(); taken = work.take()) {
    order.push_back(taken.front());
    work_on(work, taken.front());
  }
  EXPECT_THAT(order, testing::ElementsAre(2, 1, 0, 3));
}

TEST_F(SharedWorkTest, EachPieceIsDoneByOneOfMany) {
  constexpr int kWorkers = 4;
  constexpr int kPieces = 60;
  std::vector<std::thread> threads;
  for (int k = 0; k < kWorkers; ++k)
    threads.emplace_back([&, k] {
      const auto work = join(k == 3 ? 2 : k, kWorkers, kPieces);  // two have the same place
      work_on_all(*work);
      EXPECT_TRUE(work->complete());
    });
  for (std::thread& thread : threads) thread.join();
  const auto work = join(0, 1, kPieces);
  for (std::size_t k = 0; k < kPieces; ++k) EXPECT_EQ(log_of(*work, k), "done\n") << k;
  EXPECT_EQ(
      std::distance(fs::directory_iterator(root_ / "board" / "workers"), fs::directory_iterator()),
      1);  // this one's
}

TEST_F(SharedWorkTest, ThePartsOfThoseWhoNeverCameAreTakenOver) {
  const auto work = join(1, 3, 30);
  EXPECT_EQ(work_on_all(*work), 30U);
}

TEST_F(SharedWorkTest, SetsAreOfPiecesThatGoTogether) {
  const auto work = join(0, 1, 10);
  const auto parity = [](std::size_t a, std::size_t b) { return a % 2 == b % 2; };
  EXPECT_EQ(work->take(3, parity), (std::vector<std::size_t>{0, 2, 4}));
  EXPECT_EQ(work->take(3, parity), (std::vector<std::size_t>{1, 3, 5}));
  EXPECT_EQ(work->take(8, parity), (std::vector<std::size_t>{6, 8}));
}

TEST_F(SharedWorkTest, KilledWorkersCostNoMoreThanWhatTheyHeld) {
  constexpr int kPieces = 40;
  RandomSequence draws(3, Purpose::kTest);
  int killed = 0;
  for (int round = 0; round < 6; ++round) {
    std::vector<pid_t> children;
    const int size = 1 + static_cast<int>(draws.below(3));
    for (int rank = 0; rank < size; ++rank) {
      const pid_t child = fork();
      if (child == 0) {
        const auto work = join(rank, size, kPieces);
        for (auto taken = work->take(); !taken.empty(); taken = work->take()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          work_on(*work, taken.front());
        }
        _exit(0);
      }
      children.push_back(child);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + draws.below(15)));
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      int status = 0;
      waitpid(child, &status, 0);
      killed += WIFSIGNALED(status) ? 1 : 0;
    }
  }
  EXPECT_GT(killed, 0);
  const auto work = join(0, 2, kPieces);
  work_on_all(*work);
  ASSERT_TRUE(work->complete());
  std::size_t lines = 0;
  for (std::size_t k = 0; k < kPieces; ++k) lines += log_of(*work, k).size() / 5;
  EXPECT_LE(lines, static_cast<std::size_t>(kPieces + killed));
}

TEST_F(SharedWorkTest, FailuresAreRecordedAndTriedAgainByWhoComesLater) {
  {
    const auto work = join(0, 2, 4);
    for (auto taken = work->take(); !taken.empty(); taken = work->take())
      if (taken.front() == 2)
        work->fail(2, std::make_exception_ptr(InputError("the data are bad")));
      else
        work_on(*work, taken.front());
    EXPECT_FALSE(work->complete());
    const auto failures = work->failures();
    ASSERT_EQ(failures.size(), 1U);
    EXPECT_EQ(failures[0].piece, 2U);
    EXPECT_EQ(failures[0].line, "piece 2: the data are bad");
  }
  const auto again = join(1, 2, 4);
  EXPECT_EQ(work_on_all(*again), 1U);
  EXPECT_TRUE(again->complete());
  EXPECT_TRUE(again->failures().empty());
}

TEST_F(SharedWorkTest, WhatFailsElsewhereMeanwhileIsNotTriedAgain) {
  const auto one = join(0, 2, 2);
  const auto two = join(1, 2, 2);
  ASSERT_EQ(one->take(), (std::vector<std::size_t>{0}));
  ASSERT_EQ(two->take(), (std::vector<std::size_t>{1}));
  one->fail(0, std::make_exception_ptr(std::bad_alloc()));
  work_on(*two, 1);
  EXPECT_TRUE(two->take().empty());
  ASSERT_EQ(two->failures().size(), 1U);
  EXPECT_EQ(two->failures()[0].line, "piece 0: out of memory");
}

TEST_F(SharedWorkTest, APieceThatKillsItsWorkersFailsInTheEnd) {
  for (int k = 0; k < 5; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      const auto work = join(0, 2, 1);
      if (!work->take().empty()) (void)std::raise(SIGKILL);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << k;
  }
  const auto work = join(1, 2, 1);
  EXPECT_TRUE(work->take().empty());
  ASSERT_EQ(work->failures().size(), 1U);
  EXPECT_THAT(work->failures()[0].line, testing::HasSubstr("5 workers have died"));
  EXPECT_EQ(join(0, 1, 1)->take().size(), 1U);  // a later one may have more memory
}

TEST_F(SharedWorkTest, APieceThatComesFurtherEachTimeIsNotWhatItsWorkersDieOf) {
  SharedWorkOptions options;
  int step = 0;
  options.progress = [&](std::size_t) { return std::to_string(step); };
  for (step = 0; step < 8; ++step) {
    const pid_t child = fork();
    if (child == 0) {
      const auto work = join(0, 2, 1, options);
      if (!work->take().empty()) (void)std::raise(SIGKILL);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << step;
  }
  const auto work = join(1, 2, 1, options);
  EXPECT_EQ(work_on_all(*work), 1U);
  EXPECT_TRUE(work->failures().empty());
  EXPECT_FALSE(fs::exists(work->board().path("piece-0", "deaths")));
}

TEST_F(SharedWorkTest, ADirectoryThatIsGoneForAWhileIsWaitedFor) {
  const auto work = join(0, 2, 6);
  const std::vector<std::size_t> first = work->take();
  fs::rename(root_ / "board", root_ / "away");
  std::thread back([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    fs::rename(root_ / "away", root_ / "board");
  });
  try {
    write_file(result_path(work->board(), work->plan().pieces[first.front()]), "");
    ADD_FAILURE() << "was written";
  } catch (const FileError&) {
    work->fail(first.front(), std::current_exception());
  }
  back.join();
  EXPECT_TRUE(work->failures().empty());
  work_on_all(*work);
  EXPECT_TRUE(work->complete());
}

TEST_F(SharedWorkTest, AResultInADirectoryThatOnlyLooksLikeItDoesNotCount) {
  const auto work = join(0, 2, 1);
  ASSERT_EQ(work->take().size(), 1U);
  const std::string result = result_path(work->board(), work->plan().pieces[0]);
  fs::rename(root_ / "board", root_ / "away");
  fs::create_directories(fs::path(result).parent_path());  // as who makes all directories does
  write_file(result, "");
  std::thread back([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    fs::remove_all(root_ / "board");
    fs::rename(root_ / "away", root_ / "board");
  });
  EXPECT_FALSE(work->finish(0));
  back.join();
  EXPECT_EQ(work_on_all(*work), 1U);
  EXPECT_TRUE(work->complete());
}

TEST_F(SharedWorkTest, StopsWhileItWaits) {
  const auto one = join(0, 2, 2);
  ASSERT_EQ(one->take(2).size(), 2U);  // all
  std::atomic<bool> stop = false;
  SharedWorkOptions options;
  options.stop = [&] { return stop.load(); };
  const auto two = join(1, 2, 2, options);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop = true;
  });
  EXPECT_TRUE(two->take().empty());
  EXPECT_TRUE(stop);
  later.join();
  SharedWorkOptions leaving;
  leaving.wait = false;
  EXPECT_TRUE(join(1, 2, 2, leaving)->take().empty());
}

TEST_F(SharedWorkTest, OneOfManyMergesAndOnlyOnce) {
  work_on_all(*join(0, 1, 3));
  std::atomic<int> written = 0;
  std::atomic<int> merged = 0;
  std::vector<std::thread> threads;
  const auto merge = [&](int rank, int size) {
    const auto work = join(rank, size, 3);
    if (work->merge(
            "key", [&] { return std::to_string(written); }, [&] { ++written; }))
      ++merged;
  };
  for (int k = 0; k < 4; ++k) threads.emplace_back([&, k] { merge(k, 4); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(written, 1);
  EXPECT_EQ(merged, 1);
  merge(0, 1);  // alone it always does
  EXPECT_EQ(written, 2);
}

TEST_F(SharedWorkTest, IsMergedAgainWhereSomethingElseWasWrittenMeanwhile) {
  work_on_all(*join(0, 1, 1));
  std::string output;
  const auto merge = [&](const std::string& key, const std::string& text) {
    return join(0, 2, 1)->merge(
        key, [&] { return output; }, [&] { output = text; });
  };
  EXPECT_TRUE(merge("one", "first"));
  EXPECT_FALSE(merge("one", "first"));
  EXPECT_TRUE(merge("other", "second"));
  EXPECT_TRUE(merge("one", "first"));
  output = "by hand";
  EXPECT_TRUE(merge("one", "first"));
  EXPECT_EQ(output, "first");
  // Of a merge that has begun and not ended nothing counts, not even what was whole before.
  EXPECT_THROW(join(0, 2, 1)->merge(
                   "other", [&] { return output; }, [] { throw InputError("no"); }),
               InputError);
  EXPECT_TRUE(merge("one", "first"));
}

TEST_F(SharedWorkTest, TakesNoOffenceAtWhatIsNotItsOwn) {
  const auto work = join(0, 2, 2);
  fs::create_directories(root_ / "board" / "workers" / "folder");
  std::ofstream(root_ / "board" / "workers" / "text") << "hello";
  std::ofstream(root_ / "board" / "ff") << "not a folder";
  std::ofstream(work->board().path("piece-7", "claim")) << "of another plan";
  work_on_all(*work);
  EXPECT_TRUE(work->merge(
      "key", [] { return "there"; }, [] {}));
}

TEST_F(SharedWorkTest, NoFolderHasManyEntries) {
  std::map<std::string, int> folders;
  for (int k = 0; k < 100000; ++k)
    ++folders[WorkBoard::folder_of(fmt::format("copy-4-heads-seed-{}-0123456789abcdef", k))];
  EXPECT_EQ(folders.size(), 256U);
  for (const auto& [folder, entries] : folders) EXPECT_LT(entries, 600) << folder;
}

}  // namespace
}  // namespace synergraph
