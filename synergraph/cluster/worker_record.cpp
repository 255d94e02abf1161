#include "synergraph/cluster/worker_record.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

using nlohmann::json;

constexpr std::size_t kLargest = 1U << 16U;
constexpr std::size_t kLongestToken = 64;
constexpr double kLongestTimeout = 1e6;  ///< seconds: nobody waits longer for what a file says
constexpr int kBeatsToTimeout = 6;
constexpr int kAttemptsToBegin = 10;

std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string identity_line(const std::string& token, const WorkerPlace& place, double timeout,
                          const std::string& with) {
  const ProcessIdentity self = this_process();
  return json{{"token", token},      {"host", self.host},   {"boot", self.boot},
              {"space", self.space}, {"pid", self.process}, {"start", self.start},
              {"rank", place.rank},  {"size", place.size},  {"timeout", timeout},
              {"with", with}}
             .dump() +
         '\n';
}

bool write_at(const std::string& path, int flags, off_t at, const std::string& text) {
  Descriptor file = open_own(path, O_WRONLY | flags);
  if (!file) return false;
  errno = ENOSPC;  // of a write that ends too early
  const bool whole = pwrite(file.get(), text.data(), text.size(), at) == std::ssize(text);
  const int reason = errno;
  const bool sent = close(file.release()) == 0;  // a network file system sends it now
  if (!whole) errno = reason;
  return whole && sent;
}

}  // namespace

std::optional<WorkerNote> read_worker(const std::string& path) {
  std::string text;
  try {
    text = read_regular_file(path, kLargest);
  } catch (const InputError&) {
    struct stat status {};
    const bool there = own_status(path, status);
    if (there ? S_ISLNK(status.st_mode) : errno == ENOENT) return std::nullopt;
    throw;
  }
  const std::size_t end = text.find('\n');
  const json who = json::parse(text.substr(0, end), nullptr, false);
  try {
    WorkerNote note;
    note.token = who.at("token").get<std::string>();
    note.process = {who.at("host"), who.at("boot"), who.at("space"), who.at("pid"),
                    who.at("start")};
    note.place = {who.at("rank"), who.at("size")};
    note.timeout = who.at("timeout");
    note.with = who.value("with", "");
    // A process of no number would seem to live for ever.
    const bool possible = note.token.size() <= kLongestToken &&
                          note.token.find_first_not_of("0123456789abcdef") == std::string::npos &&
                          note.process.process > 0 && note.timeout >= 0.0 &&
                          note.timeout <= kLongestTimeout;
    if (!possible) return std::nullopt;
    if (end == std::string::npos) return note;
    note.sign = text.substr(end + 1);
    const json sign = json::parse(note.sign, nullptr, false);
    if (!sign.is_object()) return note;  // just being written
    const WorkerTally tally = {sign.at("pieces"), sign.at("cost"), sign.at("seconds"),
                               sign.value("doing", "")};
    if (tally.pieces >= 0 && tally.cost >= 0.0 && tally.seconds >= 0.0) note.tally = tally;
    return note;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

WorkerRecord::WorkerRecord(const WorkBoard& board, const WorkerPlace& place, double timeout,
                           const std::string& with, std::function<WorkerTally()> tally)
    : token_(new_token()),
      path_(board.worker_path(token_)),
      identity_(identity_line(token_, place, timeout, with)),
      tally_(std::move(tally)),
      timeout_(timeout) {
  for (int attempt = 1;; ++attempt) {
    try {
      restore();
      break;
    } catch (const FileError&) {
      if (attempt == kAttemptsToBegin) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    make_directory(board.worker_path(""),
                   NamedBy::kProgram);  // it was there, and perhaps is gone for a while
  }
  thread_ = std::thread([this] { beat(); });
}

WorkerRecord::~WorkerRecord() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  thread_.join();
  remove_own(path_);
}

void WorkerRecord::restore() const {
  if (is_own_file(path_)) return;
  if (write_at(path_, O_CREAT, 0, identity_ + sign())) return;
  const int reason = errno;
  remove_own(path_);  // half of it would be no one's
  errno = reason;
  throw_system_error(path_, "cannot write");
}

void WorkerRecord::renew() {
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || std::chrono::steady_clock::now() - last_ < std::chrono::seconds(1)) return;
    due_ = true;
  }
  ending_.notify_all();
}

std::string WorkerRecord::sign() const {
  const WorkerTally tally = tally_();
  const std::string text = json{
      {"beat", beats_},
      {"pieces", tally.pieces},
      {"cost", tally.cost},
      {"seconds", tally.seconds},
      {"doing", tally.doing}}.dump();
  return fmt::format("{:<160}\n", text);  // of one length: what was there before is overwritten
}

void WorkerRecord::beat() {
  std::unique_lock lock(mutex_);
  const auto interval = std::chrono::duration<double>(timeout_ / kBeatsToTimeout);
  for (;;) {
    ending_.wait_for(lock, interval, [this] { return ended_ || due_; });
    if (ended_) return;
    due_ = false;
    last_ = std::chrono::steady_clock::now();
    ++beats_;
    try {
      // Where the directory is gone for a while, the next one will do.
      (void)write_at(path_, 0, static_cast<off_t>(identity_.size()), sign());
    } catch (const InputError&) {  // somebody put something else in its place: the worker goes on
    }
  }
}

}  // namespace synergraph
