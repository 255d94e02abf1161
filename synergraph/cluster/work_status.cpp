#include "synergraph/cluster/work_status.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "synergraph/cluster/claims.h"
#include "synergraph/cluster/process_identity.h"
#include "synergraph/cluster/sealed_result.h"
#include "synergraph/cluster/worker_record.h"
#include "synergraph/core/error.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"

namespace synergraph {
namespace {

double seconds_of(const std::string& path) {
  struct stat status {};
  if (!own_status(path, status)) return 0.0;
  return static_cast<double>(status.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

/// The time by the clock that gives files their times, which need not be this machine's; nothing
/// where nothing can be written.
std::optional<double> file_system_time(const WorkBoard& board) {
  try {
    const AtomicFile trial(board.worker_path("time"), NamedBy::kProgram);
    return seconds_of(trial.temporary_path());
  } catch (const InputError&) {
    return std::nullopt;
  }
}

struct SeenWorker {
  WorkerNote note;
  WorkerStatus status;
};

std::map<std::string, SeenWorker> workers_on(const WorkBoard& board) {
  std::map<std::string, SeenWorker> workers;
  const std::optional<double> now = file_system_time(board);
  for (const std::string& name : names_in_own(board.worker_path(""))) {
    const std::string path = board.worker_path(name);
    if (!is_own_file(path)) continue;
    const auto note = read_worker(path);
    if (!note) continue;
    SeenWorker worker{*note, {}};
    worker.status.name = fmt::format("{}, process {} on {}", note->place.name(),
                                     note->process.process, note->process.host);
    if (!note->with.empty()) worker.status.name += ", " + note->with;
    worker.status.name = printable(worker.status.name);  // one line, whatever the note says
    worker.status.dead = life_of(note->process) == Life::kDead;
    if (now) worker.status.silent = std::max(0.0, *now - seconds_of(path));
    worker.status.pieces = note->tally.pieces;
    worker.status.doing = printable(note->tally.doing);
    workers.emplace(note->token, std::move(worker));
  }
  return workers;
}

bool is_silent(const SeenWorker& worker) {
  return worker.status.dead || worker.status.silent.value_or(0.0) > worker.note.timeout;
}

/// "12 % an hour", of a share in a second.
std::string format_speed(double speed) {
  double percent = 100.0 * speed;
  const char* unit = "second";
  if (percent < 1.0) {
    percent *= 60.0;
    unit = "minute";
  }
  if (percent < 1.0) {
    percent *= 60.0;
    unit = "hour";
  }
  return fmt::format("{:.3g} % {} {}", percent, *unit == 'h' ? "an" : "a", unit);
}

WorkStatus status_of(const WorkPlan& plan, const WorkBoard& board,
                     std::map<std::string, SeenWorker> workers, const PieceShare& share) {
  WorkStatus status{plan.title, plan.unit, plan.pieces.size()};
  std::map<std::string, std::set<std::string, std::less<>>> folders;
  for (const std::string& folder : board.folders()) folders[folder] = board.names_in(folder);
  double total = 0.0;
  double done = 0.0;
  for (const WorkPiece& piece : plan.pieces) {
    const auto& names = folders[WorkBoard::folder_of(piece.name)];
    const std::string result = piece.name + '.' + piece.result;
    total += piece.cost;
    const bool there = names.contains(result);
    if (there && looks_whole(result_path(board, piece))) {
      ++status.done;
      done += piece.cost;
      continue;
    }
    if (there)
      status.damaged.push_back(result_path(board, piece) + ": the next run measures it again");
    if (share && names.contains(piece.name))
      done += piece.cost * std::clamp(share(board.path(piece.name)), 0.0, 1.0);
    if (names.contains(piece.name + ".claim")) {
      const ClaimChain chain = claim_chain(board, piece.name);
      if (chain.repeats)
        status.damaged.push_back(chain.links.back() +
                                 ": a second claim of the same worker on one piece; "
                                 "the next run takes the piece over");
      const auto worker = workers.find(chain.token);
      if (worker != workers.end()) worker->second.status.at_work_on.push_back(piece.title);
    } else if (names.contains(result + ".failed")) {
      const std::string text = failure_text(board, piece);
      status.failures.push_back(text.substr(0, text.find('\n')));
    }
  }
  if (total > 0.0) status.cost_done = done / total;
  for (auto& [token, worker] : workers) {
    const WorkerTally& tally = worker.note.tally;
    if (!is_silent(worker) && tally.seconds > 0.0 && total > 0.0)
      status.speed += tally.cost / tally.seconds / total;
    status.workers.push_back(std::move(worker.status));
  }
  std::sort(status.workers.begin(), status.workers.end(),
            [](const WorkerStatus& a, const WorkerStatus& b) { return a.name < b.name; });
  if (status.speed > 0.0)
    status.seconds_left = std::max(0.0, 1.0 - status.cost_done) / status.speed;
  return status;
}

}  // namespace

std::vector<WorkStatus> work_status(const std::string& directory, const PieceShare& share) {
  const std::string named = user_directory(directory);
  std::string root = named + "/cells";
  if (!is_own_directory(root + "/workers")) root = named;
  if (!is_own_directory(root + "/workers"))
    throw InputError(
        fmt::format("{}: {}", directory,
                    is_own_directory(named) ? "nothing has begun here yet" : "no such directory"));
  const WorkBoard board(root);
  std::vector<WorkStatus> all;
  for (const std::string& path : plan_paths(board))
    all.push_back(status_of(read_plan(path), board, workers_on(board), share));
  return all;
}

std::string format_status(const WorkStatus& status, std::size_t columns) {
  std::string text = fmt::format("{}\n  {} of {} {} done ({:.1f} % of the work)", status.title,
                                 status.done, status.pieces, status.unit, 100.0 * status.cost_done);
  if (!status.failures.empty()) text += fmt::format(", {} failed", status.failures.size());
  if (!status.damaged.empty()) text += fmt::format(", {} damaged", status.damaged.size());
  if (!status.finished() && status.seconds_left)
    text += fmt::format(", {}, {} left", format_speed(status.speed),
                        format_duration(*status.seconds_left));
  text += '\n';
  for (const WorkerStatus& worker : status.workers) {
    text += fmt::format("  {}: {} done", worker.name, worker.pieces);
    if (worker.dead)
      text += ", dead";
    else if (worker.silent)
      text += fmt::format("{}{}, last sign of life {} ago", worker.doing.empty() ? "" : ", ",
                          worker.doing, format_duration(*worker.silent));
    for (const std::string& piece : worker.at_work_on)
      text += fmt::format("\n    {} {}", worker.dead ? "was at work on" : "at work on", piece);
    text += '\n';
  }
  for (const std::string& failure : status.failures) text += fmt::format("  failed: {}\n", failure);
  for (const std::string& line : status.damaged) text += fmt::format("  damaged: {}\n", line);
  return wrapped(text, columns, 6);
}

}  // namespace synergraph
