#include "synergraph/cluster/claims.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

class ClaimsTest : public testing::Test {
 protected:
  ClaimsTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(testing::TempDir()) / (std::string("claims_") + info->name());
    fs::remove_all(root_);
    board_.emplace(root_.string());
  }
  ~ClaimsTest() override { fs::remove_all(root_); }

  std::unique_ptr<WorkerRecord> worker(double timeout = 60.0) {
    return std::make_unique<WorkerRecord>(*board_, WorkerPlace{}, timeout, "",
                                          [] { return WorkerTally{}; });
  }
  /// A worker that claims a piece and is killed.
  void die_with(const std::string& piece) {
    const pid_t child = fork();
    if (child == 0) {
      const auto record = worker();
      Claims(*board_, *record).take(piece);
      (void)std::raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  /// The claim of a worker on another machine.
  void claim_from_afar(const std::string& piece, double timeout) {
    board_->make_folder(piece);
    const std::string text = R"({"token":"00000000000000aa","host":"far","boot":"b","space":"s",)"
                             R"("pid":1,"start":1,"rank":0,"size":2,"timeout":)" +
                             std::to_string(timeout) + "}\n";
    write_file(board_->path(piece, "claim"), text);
    write_file(board_->worker_path("00000000000000aa"), text + "{}\n");
  }
  void sign_from_afar(int number) {
    std::ofstream(board_->worker_path("00000000000000aa"), std::ios::app) << number << '\n';
  }

  fs::path root_;
  std::optional<WorkBoard> board_;
};

TEST_F(ClaimsTest, AreHeldByOneUntilTheyAreGivenUp) {
  const auto one = worker();
  const auto two = worker();
  Claims first(*board_, *one);
  Claims second(*board_, *two);
  EXPECT_TRUE(first.take("piece"));
  EXPECT_TRUE(first.take("piece"));  // it is his
  EXPECT_FALSE(second.take("piece"));
  const auto holder = second.holder("piece");
  ASSERT_TRUE(holder && holder->note);
  EXPECT_EQ(holder->token, one->token());
  EXPECT_EQ(holder->note->process.process, getpid());
  EXPECT_FALSE(second.is_dead(*holder));
  second.release("piece");  // not his to give up
  EXPECT_TRUE(first.holds("piece"));
  first.release("piece");
  EXPECT_FALSE(second.holder("piece"));
  EXPECT_TRUE(second.take("piece"));
  EXPECT_FALSE(first.holds("piece"));
}

TEST_F(ClaimsTest, OfManyThreadsExactlyOneWins) {
  std::vector<std::unique_ptr<WorkerRecord>> records;
  for (int k = 0; k < 8; ++k) records.push_back(worker());
  for (int round = 0; round < 50; ++round) {
    const std::string piece = "piece-" + std::to_string(round);
    const bool orphaned = round % 2 == 1;
    if (orphaned) die_with(piece);
    std::atomic<int> winners = 0;
    std::vector<std::thread> threads;
    for (const auto& record : records)
      threads.emplace_back([&, self = record.get()] {
        Claims claims(*board_, *self);
        if (orphaned) {
          const auto holder = claims.holder(piece);
          if (claims.is_dead(*holder) && claims.take_over(piece, *holder)) ++winners;
        } else if (claims.take(piece)) {
          ++winners;
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(winners, 1) << piece;
  }
}

TEST_F(ClaimsTest, OfAKilledWorkerAreTakenOverAtOnceAndItsDeathsAreCounted) {
  const auto record = worker();
  Claims claims(*board_, *record);
  die_with("piece");
  auto holder = claims.holder("piece");
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->deaths, 0);
  EXPECT_TRUE(claims.is_dead(*holder));
  EXPECT_TRUE(claims.take_over("piece", *holder));
  EXPECT_TRUE(claims.holds("piece"));
  holder = claims.holder("piece");
  EXPECT_EQ(holder->deaths, 1);
  EXPECT_FALSE(claims.is_dead(*holder));
  claims.release("piece");
  EXPECT_FALSE(claims.holder("piece"));
  const auto names = board_->names_in(WorkBoard::folder_of("piece"));
  EXPECT_TRUE(names.empty());
}

TEST_F(ClaimsTest, AreNotTakenOverByWhoCameTooLate) {
  const auto one = worker();
  const auto two = worker();
  Claims first(*board_, *one);
  Claims second(*board_, *two);
  die_with("piece");
  const auto seen = second.holder("piece");
  ASSERT_TRUE(first.take_over("piece", *first.holder("piece")));
  EXPECT_FALSE(second.take_over("piece", *seen));
  first.release("piece");
  EXPECT_FALSE(second.take_over("piece", *seen));  // what it has seen is history
  EXPECT_FALSE(second.holder("piece"));
  EXPECT_TRUE(first.take("piece"));
}

TEST_F(ClaimsTest, FromOtherMachinesLastAsLongAsTheyGiveSignsOfLife) {
  using Clock = std::chrono::steady_clock;
  const auto record = worker();
  Claims claims(*board_, *record);
  constexpr double kTimeout = 0.3;
  claim_from_afar("piece", kTimeout);
  for (int k = 0; k < 20; ++k) {
    sign_from_afar(k);
    EXPECT_FALSE(claims.is_dead(*claims.holder("piece")));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(claims.is_dead(*claims.holder("piece")));
  const Clock::time_point silence = Clock::now();
  // One look after a long time, as when this machine has slept, says nothing.
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  EXPECT_FALSE(claims.is_dead(*claims.holder("piece")));
  while (!claims.is_dead(*claims.holder("piece")))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(std::chrono::duration<double>(Clock::now() - silence).count(), kTimeout);
  EXPECT_TRUE(claims.take_over("piece", *claims.holder("piece")));
}

TEST_F(ClaimsTest, ThatNobodyHasSignedBelongToSomebodyForAWhile) {
  const auto record = worker();
  Claims claims(*board_, *record);
  board_->make_folder("piece");
  std::ofstream(board_->path("piece", "claim")) << "";
  EXPECT_FALSE(claims.take("piece"));
  const auto holder = claims.holder("piece");
  ASSERT_TRUE(holder);
  EXPECT_FALSE(claims.is_dead(*holder));
  EXPECT_TRUE(claims.take_over("piece", *holder));  // as if it were
  EXPECT_TRUE(claims.holds("piece"));
}

TEST_F(ClaimsTest, ThatNobodyHasSignedFollowEachOther) {
  const auto record = worker();
  Claims claims(*board_, *record);
  board_->make_folder("piece");
  fs::create_symlink("nowhere", board_->path("piece", "claim"));
  EXPECT_FALSE(claims.take("piece"));
  for (int deaths = 0; deaths < 3; ++deaths) {
    const auto holder = claims.holder("piece");
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->deaths, deaths);
    ASSERT_TRUE(claims.take_over("piece", *holder));
    const std::string link = claims.holder("piece")->links.back();
    fs::remove(link);
    std::ofstream(link) << "half";  // it has died before it could sign
  }
  ASSERT_TRUE(claims.take_over("piece", *claims.holder("piece")));
  claims.release("piece");
  EXPECT_TRUE(board_->names_in(WorkBoard::folder_of("piece")).empty());
}

TEST_F(ClaimsTest, OfWorkersThatFollowThemselvesHaveAnEndAndAreTakenOver) {
  const auto one = worker();
  const auto two = worker();
  Claims first(*board_, *one);
  Claims second(*board_, *two);
  board_->make_folder("piece");
  const auto claim = [&](const std::string& ending, const std::string& token) {
    write_file(board_->path("piece", ending),
               R"({"token":")" + token + R"(","host":"far","boot":"b","space":"s","pid":1,)" +
                   R"("start":1,"rank":0,"size":2,"timeout":0.05})" + "\n");
  };
  for (const bool alone : {true, false}) {
    claim("claim", "aa");
    claim("after-aa", alone ? "aa" : "bb");
    if (!alone) claim("after-bb", "aa");
    const ClaimChain chain = claim_chain(*board_, "piece");
    EXPECT_TRUE(chain.repeats);
    EXPECT_EQ(chain.token, "aa");
    EXPECT_EQ(chain.links.size(), alone ? 2U : 3U);
    EXPECT_FALSE(first.take("piece"));
    while (!first.is_dead(*first.holder("piece")))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const auto seen = *second.holder("piece");
    ASSERT_TRUE(first.take_over("piece", *first.holder("piece")));
    EXPECT_FALSE(second.take_over("piece", seen));  // only one can
    EXPECT_TRUE(first.holds("piece"));
    first.release("piece");
    EXPECT_TRUE(board_->names_in(WorkBoard::folder_of("piece")).empty());
  }
}

TEST_F(ClaimsTest, OfAWorkerThatFollowsItsOwnSuccessorAreItsOwn) {
  const auto one = worker();
  Claims first(*board_, *one);
  ASSERT_TRUE(first.take("piece"));
  const pid_t child = fork();
  if (child == 0) {  // takes the first for dead, and dies
    const auto record = worker();
    Claims other(*board_, *record);
    other.take_over("piece", *other.holder("piece"));
    (void)std::raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(first.holds("piece"));
  ASSERT_TRUE(first.take_over("piece", *first.holder("piece")));
  EXPECT_TRUE(first.holds("piece"));
  const auto two = worker();
  Claims second(*board_, *two);
  ASSERT_TRUE(second.take_over("piece", *second.holder("piece")));
  EXPECT_TRUE(second.holds("piece"));
  EXPECT_FALSE(first.holds("piece"));
  second.release("piece");
  EXPECT_TRUE(board_->names_in(WorkBoard::folder_of("piece")).empty());
}

TEST_F(ClaimsTest, WithNumbersThatNoWorkerHasAreUnsigned) {
  const auto record = worker(0.05);
  Claims claims(*board_, *record);
  claim_from_afar("piece", 1.0);
  const std::string whole = read_file(board_->path("piece", "claim"));
  ASSERT_TRUE(read_worker(board_->path("piece", "claim")));
  for (const auto& [part, other] : std::vector<std::pair<std::string, std::string>>{
           {"\"pid\":1", "\"pid\":0"},  // which every process may signal
           {"\"pid\":1", "\"pid\":-1"},
           {"\"timeout\":1.0", "\"timeout\":1e300"},
           {"\"timeout\":1.0", "\"timeout\":-1"},
           {"00000000000000aa", std::string(65, 'a')}}) {
    std::string text = whole;
    write_file(board_->path("piece", "claim"), text.replace(text.find(part), part.size(), other));
    EXPECT_FALSE(read_worker(board_->path("piece", "claim"))) << other;
    while (!claims.is_dead(*claims.holder("piece")))  // after this worker's own timeout
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(ClaimsTest, OfWhichOneIsNoFileAreNamed) {
  const auto record = worker();
  Claims claims(*board_, *record);
  board_->make_folder("piece");
  const std::string path = board_->path("piece", "claim");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  try {
    claims.take("piece");
    ADD_FAILURE() << "was taken";
  } catch (const FileError&) {
    ADD_FAILURE() << "this is not to be waited for";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), path + ": cannot read: not a regular file");
  }
}

TEST_F(ClaimsTest, SurviveThatSomebodyTidiesUpTooMuch) {
  const auto record = worker();
  Claims claims(*board_, *record);
  fs::remove(record->path());
  EXPECT_TRUE(claims.take("piece"));
  EXPECT_TRUE(fs::exists(record->path()));
}

TEST(LifeOf, KnowsThisMachinesProcessesAndNoOthers) {
  ProcessIdentity self = this_process();
  EXPECT_EQ(life_of(self), Life::kAlive);
  ProcessIdentity other = self;
  other.start += 1;  // the number was given again
  EXPECT_EQ(life_of(other), Life::kDead);
  for (std::string ProcessIdentity::*part :
       {&ProcessIdentity::host, &ProcessIdentity::boot, &ProcessIdentity::space}) {
    other = self;
    other.*part += "x";
    EXPECT_EQ(life_of(other), Life::kUnknown);
  }
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  other = self;
  other.process = child;
  other.start = 0;
  EXPECT_EQ(life_of(other), Life::kDead);  // not yet buried
  waitpid(child, nullptr, 0);
  EXPECT_EQ(life_of(other), Life::kDead);
}

}  // namespace
}  // namespace synergraph
