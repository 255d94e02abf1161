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

/// How a worker takes part in shared work. No option changes a result.
struct SharedWorkOptions {
  WorkerPlace place = {};
  /// Keep neighbouring pieces together, for work that is best done in order.
  bool blocks = false;
  bool dearest_first = false;  ///< applies also to a single worker
  /// Stay until all pieces are done, to take over from workers that die. Otherwise leave when no
  /// piece is available.
  bool wait = true;
  /// Seconds without a sign of life after which workers on other machines take this worker for
  /// dead.
  double timeout = 60.0;
  /// The progress of a started piece, as a text. A piece is not blamed for dead workers if each of
  /// them left the piece further advanced.
  std::function<std::string(std::size_t piece)> progress = {};
  /// The resources of this worker, for people: "8 threads".
  std::string with = {};
  /// The total cost that this worker has done so far, including unfinished pieces. Any thread may
  /// call this function.
  std::function<double()> cost_done = {};
  /// The merge also goes to standard output. The first worker repeats a merge that other workers
  /// made before this worker began, unless one launch started them together.
  bool prints = false;
  std::function<bool()> stop = {};
  /// Called after this worker has looked at the other workers, with the number of their pieces that
  /// this worker waits for.
  std::function<void(std::size_t others)> looked = {};
  std::function<void(const std::string& line)> note = {};  ///< receives messages about events
};

/// A failed piece, and the line that says why.
struct WorkFailure {
  std::size_t piece;
  std::string line;
};

/// Shares the pieces of a plan among all workers that have this object for the same directory. Only
/// one worker at a time gets a piece. A piece is done when its result file exists. A single worker
/// takes the pieces in their order unless options say otherwise. Each of several workers first does
/// its own part and then takes remaining pieces. Several threads may call all members at once.
class SharedWork {
 public:
  SharedWork(const std::string& directory, WorkPlan plan, SharedWorkOptions options);
  ~SharedWork();  ///< gives back pieces that neither finished nor failed
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  const WorkPlan& plan() const;
  const WorkBoard& board() const;
  bool is_done(std::size_t piece) const;  ///< as far as this worker knows
  /// Other workers hold the piece, as far as this worker knows.
  bool is_elsewhere(std::size_t piece) const;
  /// Looks at the other workers, unless a thread has just done so. Any thread may call refresh().
  void refresh();

  /// Returns whether a worker may take two pieces at once.
  using Together = std::function<bool(std::size_t, std::size_t)>;
  /// Returns at most `most` pieces to do now. Waits while other workers may die and leave pieces.
  /// Returns no piece if none is left or if the caller asked to stop.
  std::vector<std::size_t> take(std::size_t most = 1, const Together& together = {});
  /// Records that the result exists. With several workers, finish() returns false if this directory
  /// was away and the result went to another directory. The piece is then postponed.
  bool finish(std::size_t piece);
  /// Records an error. With several workers, a FileError only postpones a piece, a limited number
  /// of times.
  void fail(std::size_t piece, const std::exception_ptr& error);
  void give_back(std::size_t piece);
  /// Marks a piece as not done, because its result is gone or was set aside.
  void reopen(std::size_t piece);
  /// Runs an action on files. With several workers, repeats the action while files are temporarily
  /// unreachable.
  void persist(const std::function<void()>& action) const;

  bool complete() const;                     ///< all pieces are done
  std::vector<std::size_t> missing() const;  ///< pieces that are not done
  std::vector<WorkFailure> failures() const;

  /// Merges the results when all pieces are done. One worker at a time calls `write` and marks the
  /// merge with `key`. Returns true if this worker wrote. A single worker always writes. One of
  /// several workers does not write if the mark has this key and `stamp` is unchanged. The stamp is
  /// a line that changes with the written files and is empty if a file is missing. Throws Stopped
  /// when asked to stop.
  bool merge(const std::string& key, const std::function<std::string()>& stamp,
             const std::function<void()>& write);

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Removes the mark of a merge on a board, so that workers merge again.
void forget_merge(const WorkBoard& board);
/// Renames any file at the path of a result to NAME.damaged, or with a number if that name is
/// taken.
void set_aside(const std::string& path);
/// The message "waiting for 2 cells of other workers".
std::string waiting_for(std::size_t pieces, std::string_view noun);

/// The line of an error for people.
std::string error_line(const std::exception_ptr& error);

}  // namespace synergraph
#pragma GCC visibility pop
