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

/// The work that a worker has done since its start.
struct WorkerTally {
  int pieces = 0;
  double cost = 0.0;
  double seconds = 0.0;
  std::string doing = {};  ///< "waits" or "merges"; otherwise empty
};

/// The content of a worker's file, and of each claim by the worker.
struct WorkerNote {
  std::string token;  ///< unique name of the worker, among all workers at all times
  ProcessIdentity process;
  WorkerPlace place;
  double timeout = 0.0;   ///< seconds of silence after which others may take the worker for dead
  std::string with = {};  ///< resources of the worker, for people
  std::string sign;       ///< sign of life, which changes all the time
  WorkerTally tally;
};

/// Reads the file of a worker. Returns nothing if the file is missing, temporarily incomplete, or a
/// symbolic link, which belongs to nobody. Throws FileError if the file cannot be read.
std::optional<WorkerNote> read_worker(const std::string& path);

/// The file of this worker. A separate thread renews the file, and the destructor removes it.
class WorkerRecord {
 public:
  /// The thread calls `tally` from time to time.
  WorkerRecord(const WorkBoard& board, const WorkerPlace& place, double timeout,
               const std::string& with, std::function<WorkerTally()> tally);
  ~WorkerRecord();
  WorkerRecord(const WorkerRecord&) = delete;
  WorkerRecord& operator=(const WorkerRecord&) = delete;

  const std::string& token() const { return token_; }
  const std::string& path() const { return path_; }
  const std::string& identity() const { return identity_; }  ///< first line of the file
  double timeout() const { return timeout_; }
  /// Creates the file again if it is missing, because somebody may have deleted too much.
  void restore() const;
  /// Writes a change to the file at once, unless the file was written in the last second.
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
