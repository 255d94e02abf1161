#include "synergraph/cluster/shared_work.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <thread>

#include "synergraph/cluster/assignment.h"
#include "synergraph/cluster/claims.h"
#include "synergraph/cluster/worker_record.h"
#include "synergraph/core/error.h"
#include "synergraph/core/execution.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/file_stamp.h"
#include "synergraph/io/own_file.h"

namespace synergraph {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kAttempts = 5;                ///< at least, at a piece whose files cannot be reached
constexpr double kLongestRest = 30.0;       ///< seconds between them
constexpr int kDeaths = 5;                  ///< of workers on one piece in a row: it is the piece
constexpr double kPatience = 600.0;         ///< seconds for a directory that is gone
constexpr double kShortestWait = 0.5;       ///< seconds between looks at the board
constexpr double kShortestRefresh = 5.0;    ///< and where there is something to do
constexpr double kRefreshShare = 0.02;      ///< of the time, at most
constexpr double kLooksPerSecond = 2000.0;  ///< of all workers together, in operations on files
constexpr std::size_t kWatched = 16;        ///< holders that a waiting worker looks after
constexpr auto kSlice = std::chrono::milliseconds(50);  ///< how soon a stop is noticed

constexpr const char* kMerge = "merge";  ///< what the one that merges claims
constexpr const char* kMark = "merged";  ///< the file that says of what the merge is
constexpr const char* kDeathsEnding = "deaths";
constexpr const char* kAtWork = "";
constexpr const char* kWaits = "waits";
constexpr const char* kMerges = "merges";

/// And, on a line of its own, the launch of the worker that has written it.
std::string mark_of(const std::string& key, const std::string& stamp) {
  return fmt::format("{}\n{}\n", key, stamp);
}

enum class PieceState { kOpen, kMine, kElsewhere, kDone, kFailed };

/// At a piece whose files cannot be reached.
struct Attempts {
  /// Whether there is to be another.
  bool next() {
    if (++count == 1) begin = Clock::now();
    return count < kAttempts || Seconds(Clock::now() - begin).count() < kPatience;
  }
  int count = 0;
  Clock::time_point begin;
};

std::string mark_path(const WorkBoard& board) {
  return board.root() + '/' + kMark;
}

}  // namespace

void forget_merge(const WorkBoard& board) {
  remove_own(mark_path(board));
}

void set_aside(const std::string& path) {
  set_own_aside(path);
}

std::string waiting_for(std::size_t pieces, std::string_view noun) {
  return fmt::format("waiting for {} of other workers",
                     counted(static_cast<std::int64_t>(pieces), noun));
}

std::string error_line(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
}

class SharedWork::State {
 public:
  State(const std::string& directory, WorkPlan plan, SharedWorkOptions options)
      : plan_(std::move(plan)),
        options_(std::move(options)),
        board_(directory),
        mark_before_(file_stamp(mark_path(board_), NamedBy::kProgram)),
        record_(board_, options_.place, options_.timeout, options_.with,
                [this] { return tally(); }),
        claims_(board_, record_),
        states_(plan_.pieces.size(), PieceState::kOpen),
        attempts_(plan_.pieces.size()) {
    for (std::size_t k = 0; k < plan_.pieces.size(); ++k)
      by_folder_[WorkBoard::folder_of(plan_.pieces[k].name)].push_back(k);
    choose_order();
    persist([&] {
      publish(plan_, board_);
      look();
    });
  }
  ~State() {
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (states_[k] == PieceState::kMine) release(k);
  }

  const WorkPlan& plan() const { return plan_; }
  const WorkBoard& board() const { return board_; }

  std::vector<std::size_t> take(std::size_t most, const Together& together) {
    std::unique_lock lock(mutex_);
    while (!stopped()) {
      std::vector<std::size_t> taken;
      persist([&] { take_candidates(most, together, taken); });
      if (!taken.empty()) {
        announce(kAtWork);
        return taken;
      }
      if (count(PieceState::kElsewhere) == 0) break;
      announce(count(PieceState::kMine) == 0 ? kWaits : kAtWork);
      if (Clock::now() < next_look_) {
        if (!options_.wait && looked_for_orphans_) break;
        changed_.wait_for(lock, kSlice);
        continue;
      }
      persist([&] {
        look();
        look_for_orphans();
      });
      const std::size_t others = candidates_.empty() ? count(PieceState::kElsewhere) : 0;
      lock.unlock();
      if (options_.looked) options_.looked(others);
      lock.lock();
    }
    return {};
  }

  void refresh() {
    if (options_.place.alone()) return;
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock || Clock::now() < next_refresh_) return;
      next_refresh_ = Clock::now() + after(kShortestRefresh);
      try {
        look();
      } catch (const InputError&) {
        return;  // who needs it will say so
      }
    }
    if (options_.looked) options_.looked(0);
  }

  bool finish(std::size_t piece) {
    if (!options_.place.alone() &&
        !(is_own_file(record_.path()) && is_own_file(result_of(piece)))) {
      fail(piece, std::make_exception_ptr(FileError(result_of(piece) + ": has gone")));
      return false;
    }
    const std::lock_guard lock(mutex_);
    ++pieces_done_;
    cost_done_ += plan_.pieces[piece].cost;
    end(piece, PieceState::kDone);
    record_.renew();
    return true;
  }

  void fail(std::size_t piece, const std::exception_ptr& error) {
    const std::string line = error_line(error);
    std::unique_lock lock(mutex_);
    if (!options_.place.alone() && is_file_error(error) && attempts_[piece].next()) {
      const double rest = std::min(0.1 * std::pow(3.0, attempts_[piece].count), kLongestRest);
      lock.unlock();
      note(fmt::format("{}: put off: {}", plan_.pieces[piece].title, line));
      pause(rest);
      persist([&] { record_.restore(); });
      lock.lock();
      end(piece, PieceState::kOpen);
      candidates_.push_back(piece);
      return;
    }
    record_failure(piece, line);
  }

  void give_back(std::size_t piece) {
    const std::lock_guard lock(mutex_);
    end(piece, PieceState::kOpen);
  }

  void reopen(std::size_t piece) {
    const std::lock_guard lock(mutex_);
    if (states_[piece] != PieceState::kDone) return;
    states_[piece] = PieceState::kOpen;
    candidates_.push_back(piece);
  }

  void persist(const std::function<void()>& action) const {
    const Clock::time_point begin = Clock::now();
    for (double rest = 0.1;; rest = std::min(2 * rest, 5.0)) {
      try {
        return action();
      } catch (const FileError& error) {
        if (options_.place.alone() || stopped() ||
            Seconds(Clock::now() - begin).count() > kPatience)
          throw;
        if (rest == 0.1) note(fmt::format("waiting for the directory: {}", error.what()));
      }
      pause(rest);
    }
  }

  std::vector<std::size_t> in_state(bool done) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < states_.size(); ++k)
      if ((states_[k] == PieceState::kDone) == done) found.push_back(k);
    return found;
  }
  bool is_done(std::size_t piece) const { return is(PieceState::kDone, piece); }
  bool is_elsewhere(std::size_t piece) const { return is(PieceState::kElsewhere, piece); }

  std::vector<WorkFailure> failures() const {
    const std::lock_guard lock(mutex_);
    std::vector<WorkFailure> found;
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (states_[k] == PieceState::kFailed) {
        std::string text = failure_text(k);
        if (const auto here = failed_here_.find(k); text.empty() && here != failed_here_.end())
          text = here->second;
        found.push_back({k, text.substr(0, text.find('\n'))});
      }
    return found;
  }

  bool merge(const std::string& key, const std::function<std::string()>& stamp,
             const std::function<void()>& write) {
    for (;;) {
      if (stopped()) throw Stopped();
      bool merged = false;
      bool mine = false;
      persist([&] {
        merged = is_merged(key, stamp);
        if (merged) return;
        mine = claims_.take(kMerge);
        if (const auto holder = mine ? std::nullopt : claims_.holder(kMerge)) {
          mine = claims_.is_dead(*holder) && claims_.take_over(kMerge, *holder);
          if (mine) note_damage("the merge", *holder);
        }
      });
      if (mine) {
        const ClaimOfMerge claim(*this);
        persist([&] { merged = is_merged(key, stamp); });  // meanwhile
        if (!merged) {
          announce(kMerges);
          if (plan_.pieces.size() > 1)
            note(fmt::format("putting {} {} together", plan_.pieces.size(), plan_.unit));
          write_and_mark(key, stamp, write);
          persist([&] { tidy(); });
          return true;
        }
      }
      if (merged) return false;
      if (doing_ != kWaits) note("waiting for the worker that puts the results together");
      announce(kWaits);
      pause(wait_between_looks(1));
    }
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }
  void note(const std::string& line) const {
    if (options_.note) options_.note(line);
  }
  void note_damage(const std::string& what, const Claims::Holder& dead) const {
    if (dead.repeats)
      note(fmt::format("{}: the claims were damaged: {} is a second claim of the same worker", what,
                       dead.links.back()));
  }
  void pause(double seconds) const {
    const auto until = Clock::now() + Seconds(seconds);
    while (!stopped() && Clock::now() < until) std::this_thread::sleep_for(kSlice);
  }
  WorkerTally tally() const {
    const double under_way = options_.cost_done ? options_.cost_done() : 0.0;
    return {pieces_done_, std::max(under_way, cost_done_.load()),
            Seconds(Clock::now() - begin_).count(), doing_.load()};
  }
  bool is(PieceState state, std::size_t piece) const {
    const std::lock_guard lock(mutex_);
    return states_[piece] == state;
  }
  static Clock::duration after(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(Seconds(seconds));
  }
  /// What this worker does besides pieces, for its file.
  void announce(const char* what) {
    if (doing_.exchange(what) != what) record_.renew();
  }
  std::size_t count(PieceState state) const {
    return static_cast<std::size_t>(std::count(states_.begin(), states_.end(), state));
  }

  bool is_merged(const std::string& key, const std::function<std::string()>& stamp) const {
    // To list a directory makes a network file system look again.
    if (options_.place.alone() || !board_.names_in("").contains(kMark) ||
        !is_own_file(mark_path(board_)))
      return false;
    const std::string now = stamp();
    const std::string mark = read_regular_file(mark_path(board_), 1U << 16U);
    if (now.empty() || !mark.starts_with(mark_of(key, now))) return false;
    const bool before = file_stamp(mark_path(board_), NamedBy::kProgram) == mark_before_;
    const std::string launch = launch_name();
    const bool together = !launch.empty() && mark == mark_of(key, now) + launch + '\n';
    return !(options_.prints && options_.place.rank == 0 && before && !together);
  }
  void write_and_mark(const std::string& key, const std::function<std::string()>& stamp,
                      const std::function<void()>& write) const {
    forget_merge(board_);  // until all is written there is no whole of anything
    write();
    const std::string now = stamp();
    if (now.empty()) throw FileError(board_.root() + ": what was written has gone");
    persist([&] {
      write_file(mark_path(board_), mark_of(key, now) + launch_name() + '\n', NamedBy::kProgram);
    });
  }
  struct ClaimOfMerge {
    explicit ClaimOfMerge(const State& of) : state(of) {}
    ~ClaimOfMerge() { state.release(kMerge); }
    ClaimOfMerge(const ClaimOfMerge&) = delete;
    ClaimOfMerge& operator=(const ClaimOfMerge&) = delete;
    const State& state;
  };

  static bool is_file_error(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const FileError&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  void choose_order() {
    const WorkerPlace& place = options_.place;
    order_.resize(plan_.pieces.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    owners_.resize(order_.size(), 0);
    if (place.alone() && !options_.dearest_first) return;
    std::vector<double> costs;
    for (const WorkPiece& piece : plan_.pieces) costs.push_back(piece.cost);
    owners_ = options_.blocks ? assign_blocks(costs, place.size) : assign_work(costs, place.size);
    order_ = order_of_work(costs, owners_, place.rank, place.size);
  }

  /// Seconds between looks that cost so many operations on files.
  double wait_between_looks(std::size_t operations) const {
    return std::max(kShortestWait,
                    static_cast<double>(operations) * options_.place.size / kLooksPerSecond);
  }

  std::string result_of(std::size_t piece) const {
    return result_path(board_, plan_.pieces[piece]);
  }
  std::string failure_text(std::size_t piece) const {
    return synergraph::failure_text(board_, plan_.pieces[piece]);
  }

  /// Looks at the board: what is done, what is claimed, what has failed.
  void look() {
    const Clock::time_point begin = Clock::now();
    std::size_t operations = kWatched;
    for (const auto& [folder, pieces] : by_folder_) {
      const bool settled = std::all_of(pieces.begin(), pieces.end(), [&](std::size_t k) {
        return states_[k] == PieceState::kDone || states_[k] == PieceState::kMine;
      });
      if (settled) continue;
      ++operations;
      const auto names = board_.names_in(folder);
      for (const std::size_t k : pieces) look_at(k, names);
    }
    candidates_.clear();
    for (const std::size_t k : order_)
      if (states_[k] == PieceState::kOpen) candidates_.push_back(k);
    std::erase_if(orphans_, [this](const auto& orphan) {
      return states_[orphan.first] != PieceState::kElsewhere;
    });
    for (const auto& [k, holder] : orphans_) candidates_.push_back(k);
    const Clock::time_point end = Clock::now();
    const double wait = wait_between_looks(operations);
    next_look_ = end + after(wait);
    next_refresh_ =
        end +
        after(std::max({kShortestRefresh, wait, Seconds(end - begin).count() / kRefreshShare}));
    first_look_ = false;
  }

  void look_at(std::size_t k, const std::set<std::string, std::less<>>& names) {
    PieceState& state = states_[k];
    if (state == PieceState::kDone || state == PieceState::kMine) return;
    const WorkPiece& piece = plan_.pieces[k];
    const std::string result = piece.name + '.' + piece.result;
    state = PieceState::kOpen;
    if (names.contains(result)) {
      state = PieceState::kDone;
    } else if (names.contains(result + ".failed")) {
      if (first_look_) failed_before_[k] = failure_text(k);
      if (has_failed(k)) state = PieceState::kFailed;
    }
    if (state == PieceState::kOpen && names.contains(piece.name + ".claim"))
      state = PieceState::kElsewhere;
  }

  /// What has failed before this worker began does not count: it is tried again.
  bool has_failed(std::size_t k) const {
    const std::string text = failure_text(k);
    const auto before = failed_before_.find(k);
    return !text.empty() && (before == failed_before_.end() || before->second != text);
  }

  /// Among the pieces that others hold, those whose holders are dead.
  void look_for_orphans() {
    looked_for_orphans_ = true;
    if (!candidates_.empty()) return;
    std::size_t watched = 0;
    for (const std::size_t k : order_) {
      if (states_[k] != PieceState::kElsewhere) continue;
      if (++watched > kWatched) return;
      const auto holder = claims_.holder(plan_.pieces[k].name);
      const bool own = holder && holder->token == record_.token();  // it could not say so then
      if (!holder || own) {
        states_[k] = PieceState::kOpen;
        candidates_.push_back(k);
      } else if (claims_.is_dead(*holder)) {
        orphans_.insert_or_assign(k, *holder);
        candidates_.push_back(k);
      }
    }
  }

  void take_candidates(std::size_t most, const Together& together,
                       std::vector<std::size_t>& taken) {
    std::deque<std::size_t> passed;
    while (!candidates_.empty() && taken.size() < most && !stopped()) {
      const std::size_t k = candidates_.front();
      if (taken.empty() && owners_[k] != options_.place.rank)  // leave some for the others
        most = std::clamp<std::size_t>(
            candidates_.size() / (2 * static_cast<std::size_t>(options_.place.size)), 1, most);
      if (!taken.empty() && together && !together(taken.front(), k)) {
        passed.push_back(k);
      } else if (claim(k)) {
        taken.push_back(k);
      }
      candidates_.pop_front();
    }
    candidates_.insert(candidates_.begin(), passed.begin(), passed.end());
  }

  /// Whether the piece is to be done now, by this worker.
  bool claim(std::size_t k) {
    const WorkPiece& piece = plan_.pieces[k];
    const auto orphan = orphans_.find(k);
    int deaths = 0;
    if (orphan != orphans_.end()) {
      const Claims::Holder dead = orphan->second;
      orphans_.erase(orphan);
      if (!claims_.take_over(piece.name, dead)) return elsewhere(k);
      taken_over_.insert(k);
      deaths = count_death(k);
      const std::string who =
          dead.note
              ? fmt::format("process {} on {}", dead.note->process.process, dead.note->process.host)
              : "a worker";
      note(fmt::format("{}: taken over from {}, which has died", piece.title, who));
      note_damage(piece.title, dead);
    } else if (!claims_.take(piece.name) && !claims_.holds(piece.name)) {
      return elsewhere(k);
    }
    states_[k] = PieceState::kMine;
    // Perhaps another had it until now.
    const bool done = is_own_file(result_of(k));
    if (done || has_failed(k)) {
      end(k, done ? PieceState::kDone : PieceState::kFailed);
      return false;
    }
    if (deaths >= kDeaths) {
      record_failure(k, fmt::format("{} workers have died of it, one after the other", deaths));
      return false;
    }
    if (failed_before_.contains(k)) remove_own(failure_path(board_, piece));
    return true;
  }
  /// How many workers have died one after the other and left a piece as it is now.
  int count_death(std::size_t k) const {
    const std::string path = board_.path(plan_.pieces[k].name, kDeathsEnding);
    const std::string now = options_.progress ? options_.progress(k) : "";
    int deaths = 0;
    if (is_own_file(path)) {
      const std::string before = read_regular_file(path, 1U << 16U);
      const std::size_t length = parse_leading_number(before, deaths);
      if (length == 0 || before.substr(length) != ' ' + now + '\n') deaths = 0;
    }
    write_file(path, fmt::format("{} {}\n", ++deaths, now), NamedBy::kProgram);
    return deaths;
  }
  bool elsewhere(std::size_t k) {
    states_[k] = PieceState::kElsewhere;
    return false;
  }

  void record_failure(std::size_t k, const std::string& line) {
    const WorkPiece& piece = plan_.pieces[k];
    const ProcessIdentity self = this_process();
    std::string& text = failed_here_[k];
    text = fmt::format("{}: {}\n{} on {}, {}\n", piece.title, line, self.process, self.host,
                       record_.token());
    try {
      persist([&] {
        board_.make_folder(piece.name);
        write_file(failure_path(board_, piece), text, NamedBy::kProgram);
      });
    } catch (const InputError&) {  // a full disk, perhaps: this worker knows, and goes on
    }
    note(fmt::format("{}: failed: {}", piece.title, line));
    end(k, PieceState::kFailed);
  }

  void end(std::size_t k, PieceState state) {
    if (taken_over_.erase(k) > 0 && state != PieceState::kOpen)
      remove_own(board_.path(plan_.pieces[k].name, kDeathsEnding));
    release(k);
    states_[k] = state;
    changed_.notify_all();
  }
  /// A claim that cannot be given up now ends with this process.
  void release(std::size_t k) const { release(plan_.pieces[k].name); }
  void release(const std::string& piece) const {
    try {
      claims_.release(piece);
    } catch (const Error&) {
    }
  }

  /// Removes what the dead have left.
  void tidy() const {
    for (const auto& [folder, pieces] : by_folder_) {
      const auto names = board_.names_in(folder);
      for (const std::size_t k : pieces) {
        const std::string& name = plan_.pieces[k].name;
        if (names.contains(name + '.' + kDeathsEnding))
          remove_own(board_.path(name, kDeathsEnding));
        if (names.contains(name + ".claim"))
          if (const auto holder = claims_.holder(name)) Claims::forget(*holder);
      }
    }
    bool missing = false;
    for (const std::string& name : names_in_own(board_.worker_path(""), &missing)) {
      const std::string path = board_.worker_path(name);
      if (!is_own_file(path)) continue;
      const auto note = read_worker(path);
      if (note && life_of(note->process) == Life::kDead) remove_own(path);
    }
  }

  WorkPlan plan_;
  SharedWorkOptions options_;
  WorkBoard board_;
  Clock::time_point begin_ = Clock::now();
  std::atomic<int> pieces_done_ = 0;
  std::atomic<double> cost_done_ = 0.0;
  std::atomic<const char*> doing_ = kAtWork;
  std::string mark_before_;  ///< the stamp of the mark when this worker began
  WorkerRecord record_;
  Claims claims_;
  std::map<std::string, std::vector<std::size_t>> by_folder_;
  std::vector<int> owners_;
  std::vector<std::size_t> order_;  ///< in which this worker looks for pieces

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PieceState> states_;
  std::vector<Attempts> attempts_;
  std::deque<std::size_t> candidates_;  ///< that may be taken, by the last look
  std::map<std::size_t, Claims::Holder> orphans_;
  std::set<std::size_t> taken_over_;
  std::map<std::size_t, std::string> failed_before_;
  std::map<std::size_t, std::string> failed_here_;
  bool first_look_ = true;
  bool looked_for_orphans_ = false;
  Clock::time_point next_look_;
  Clock::time_point next_refresh_;
};

SharedWork::SharedWork(const std::string& directory, WorkPlan plan, SharedWorkOptions options)
    : state_(std::make_unique<State>(directory, std::move(plan), std::move(options))) {}
SharedWork::~SharedWork() = default;

const WorkPlan& SharedWork::plan() const {
  return state_->plan();
}
const WorkBoard& SharedWork::board() const {
  return state_->board();
}
bool SharedWork::is_done(std::size_t piece) const {
  return state_->is_done(piece);
}
bool SharedWork::is_elsewhere(std::size_t piece) const {
  return state_->is_elsewhere(piece);
}
void SharedWork::refresh() {
  state_->refresh();
}
std::vector<std::size_t> SharedWork::take(std::size_t most, const Together& together) {
  return state_->take(most, together);
}
bool SharedWork::finish(std::size_t piece) {
  return state_->finish(piece);
}
void SharedWork::fail(std::size_t piece, const std::exception_ptr& error) {
  state_->fail(piece, error);
}
void SharedWork::give_back(std::size_t piece) {
  state_->give_back(piece);
}
void SharedWork::reopen(std::size_t piece) {
  state_->reopen(piece);
}
void SharedWork::persist(const std::function<void()>& action) const {
  state_->persist(action);
}
bool SharedWork::complete() const {
  return missing().empty();
}
std::vector<std::size_t> SharedWork::missing() const {
  return state_->in_state(false);
}
std::vector<WorkFailure> SharedWork::failures() const {
  return state_->failures();
}
bool SharedWork::merge(const std::string& key, const std::function<std::string()>& stamp,
                       const std::function<void()>& write) {
  return state_->merge(key, stamp, write);
}

}  // namespace synergraph
