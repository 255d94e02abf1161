#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "synergraph/cluster/work_plan.h"
#include "synergraph/cluster/worker_place.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// How a worker takes part; none of it changes a result.
struct SharedWorkOptions {
  WorkerPlace place = {};
  /// Keep neighbouring pieces together, for work that is best done in order.
  bool blocks = false;
  bool dearest_first = false;  ///< also of a worker alone
  /// Stay until all is done, to take over from those that die; otherwise leave when there is
  /// nothing to take.
  bool wait = true;
  /// Seconds without a sign of life after which others, on other machines, take this worker for
  /// dead.
  double timeout = 60.0;
  /// How far a piece has come that somebody has begun, in words: workers that die one after the
  /// other and leave it further on each time do not die of it.
  std::function<std::string(std::size_t piece)> progress = {};
  /// What this worker computes with, for people: "8 threads".
  std::string with = {};
  /// The cost of what this worker has done so far, also of pieces that are not finished; asked from
  /// any thread.
  std::function<double()> cost_done = {};
  /// The merge also goes to standard output: the first worker repeats it where it was made before
  /// this worker began, and by workers that were not started together with it.
  bool prints = false;
  std::function<bool()> stop = {};
  /// Called when this worker has looked at what the others do, with the pieces of theirs that it
  /// waits for.
  std::function<void(std::size_t others)> looked = {};
  std::function<void(const std::string& line)> note = {};  ///< hears what happens
};

/// A piece that failed, and the line that says why.
struct WorkFailure {
  std::size_t piece;
  std::string line;
};

/// The pieces of a plan, shared by all workers that have this object for the same directory: each
/// piece is given to one of them at a time. Pieces are done when their result files are there. A
/// worker alone goes through them in their order unless it is asked not to; of several each has its
/// own part, and then takes what is left. All calls may come from several threads.
class SharedWork {
 public:
  SharedWork(const std::string& directory, WorkPlan plan, SharedWorkOptions options);
  ~SharedWork();  ///< gives back what was neither finished nor failed
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  const WorkPlan& plan() const;
  const WorkBoard& board() const;
  bool is_done(std::size_t piece) const;       ///< as far as it is known
  bool is_elsewhere(std::size_t piece) const;  ///< others work on it, likewise
  /// Looks at what the others do, unless it has just been done; from any thread.
  void refresh();

  /// Whether two pieces may be taken at once.
  using Together = std::function<bool(std::size_t, std::size_t)>;
  /// Some pieces to do now, no more than `most`. Waits while others may die and leave some. None:
  /// there is nothing left to take, or it was asked to stop.
  std::vector<std::size_t> take(std::size_t most = 1, const Together& together = {});
  /// The result is there. False, where there are several workers: it was written to a directory
  /// that is not this one, which was away; the piece is put off.
  bool finish(std::size_t piece);
  /// What went wrong. A FileError, where there are several workers, only puts a piece off, some
  /// times.
  void fail(std::size_t piece, const std::exception_ptr& error);
  void give_back(std::size_t piece);
  /// It is not done after all: its result has gone or was set aside.
  void reopen(std::size_t piece);
  /// Does something with files, again and again where there are several workers and files cannot be
  /// reached for a while.
  void persist(const std::function<void()>& action) const;

  bool complete() const;                     ///< all are done
  std::vector<std::size_t> missing() const;  ///< those that are not
  std::vector<WorkFailure> failures() const;

  /// When all pieces are done: lets one worker at a time `write` what comes of them, and marks it
  /// as written by this key; true: it was this one. A worker alone always writes; of several none
  /// does where the mark is of this key, and the stamp of what was written is still the same: a
  /// line that changes with it, empty where something is missing. Stopped if it was asked to stop.
  bool merge(const std::string& key, const std::function<std::string()>& stamp,
             const std::function<void()>& write);

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// What was merged on a board must be merged again.
void forget_merge(const WorkBoard& board);
/// Renames what lies where a result should be, if something does: NAME.damaged, or with a number
/// where that name is taken.
void set_aside(const std::string& path);
/// "waiting for 2 cells of other workers".
std::string waiting_for(std::size_t pieces, std::string_view noun);

/// The line that an error has for people.
std::string error_line(const std::exception_ptr& error);

}  // namespace synergraph
#pragma GCC visibility pop
