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
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

using nlohmann::json;

constexpr std::size_t kLargest = 1U << 16U;
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
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return false;
  errno = ENOSPC;  // of a write that ends too early
  const bool whole = pwrite(file, text.data(), text.size(), at) == std::ssize(text);
  const int reason = errno;
  const bool sent = close(file) == 0;  // a network file system sends it now
  if (!whole) errno = reason;
  return whole && sent;
}

}  // namespace

std::optional<WorkerNote> read_worker(const std::string& path) {
  std::string text;
  try {
    text = read_regular_file(path, kLargest);
  } catch (const InputError&) {
    if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::nullopt;
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
    if (note.token.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
    if (end == std::string::npos) return note;
    note.sign = text.substr(end + 1);
    const json sign = json::parse(note.sign, nullptr, false);
    if (!sign.is_object()) return note;  // just being written
    note.tally = {sign.at("pieces"), sign.at("cost"), sign.at("seconds"), sign.value("doing", "")};
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
    make_directory(board.worker_path(""));  // it was there, and perhaps is gone for a while
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
  unlink(path_.c_str());
}

void WorkerRecord::restore() const {
  if (access(path_.c_str(), F_OK) == 0) return;
  if (write_at(path_, O_CREAT, 0, identity_ + sign())) return;
  const int reason = errno;
  unlink(path_.c_str());  // half of it would be no one's
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
    // Where the directory is gone for a while, the next one will do.
    (void)write_at(path_, 0, static_cast<off_t>(identity_.size()), sign());
  }
}

}  // namespace synergraph
