#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "synergraph/cluster/process_identity.h"
#include "synergraph/cluster/work_board.h"
#include "synergraph/cluster/worker_place.h"

namespace synergraph {

/// What a worker has done since it began.
struct WorkerTally {
  int pieces = 0;
  double cost = 0.0;
  double seconds = 0.0;
  std::string doing = {};  ///< "waits" or "merges", if it does
};

/// What a worker's file says of it, and what each of its claims says of its holder.
struct WorkerNote {
  std::string token;  ///< its name, unlike that of any other worker at any time
  ProcessIdentity process;
  WorkerPlace place;
  double timeout = 0.0;   ///< seconds of silence after which it may be taken for dead
  std::string with = {};  ///< what it computes with, for people
  std::string sign;       ///< of life: changes all the time
  WorkerTally tally;
};

/// Reads it; nothing where there is no such file or, for a moment, no whole one, and for a symbolic
/// link, which is nobody's. FileError where it
/// cannot be read.
std::optional<WorkerNote> read_worker(const std::string& path);

/// This worker's file, which goes with it; renewed from a thread of its own.
class WorkerRecord {
 public:
  /// `tally` is asked for now and then, from that thread.
  WorkerRecord(const WorkBoard& board, const WorkerPlace& place, double timeout,
               const std::string& with, std::function<WorkerTally()> tally);
  ~WorkerRecord();
  WorkerRecord(const WorkerRecord&) = delete;
  WorkerRecord& operator=(const WorkerRecord&) = delete;

  const std::string& token() const { return token_; }
  const std::string& path() const { return path_; }
  const std::string& identity() const { return identity_; }  ///< the file's first line
  double timeout() const { return timeout_; }
  /// Makes the file unless it is there: somebody may have tidied up too much.
  void restore() const;
  /// Something has changed: the file says so at once, unless it was written in the last second.
  void renew();

 private:
  void beat();
  std::string sign() const;

  std::string token_;
  std::string path_;
  std::string identity_;
  std::function<WorkerTally()> tally_;
  double timeout_;
  long beats_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool due_ = false;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace synergraph
