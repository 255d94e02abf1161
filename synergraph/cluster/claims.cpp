#include "synergraph/cluster/claims.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

constexpr const char* kClaim = "claim";
constexpr int kLongestChain = 1000;
constexpr int kLooks =
    6;  ///< at least so many in its timeout: a look after a long time is one look

/// Of a holder, the so-manieth in its chain.
std::string successor(const Claims::Holder& holder) {
  return holder.token.empty() ? fmt::format("after-unsigned-{}", holder.links.size())
                              : fmt::format("after-{}", holder.token);
}

/// A link that leads nowhere is there, too: no other can be made in its place.
bool is_linked(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

}  // namespace

/// Hard links need a file system that has them.
bool Claims::make_link_once(const std::string& path) const {
  if (link(self_.path().c_str(), path.c_str()) == 0) return true;
  for (const int without_links : {EPERM, EOPNOTSUPP, ENOSYS, EXDEV, EMLINK}) {
    if (errno != without_links) continue;
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return false;
    const std::string& who = self_.identity();
    const bool whole = write(file, who.data(), who.size()) == std::ssize(who);
    if (close(file) != 0 || !whole) throw_system_error(path, "cannot write");
    return true;
  }
  return false;
}

bool Claims::make_link(const std::string& piece, const std::string& path) const {
  if (make_link_once(path)) return true;
  if (errno == ENOENT) {
    board_.make_folder(piece);
    self_.restore();
    if (make_link_once(path)) return true;
  }
  if (errno != EEXIST) throw_system_error(path, "cannot write");
  // A network file system may have lost the answer and asked again.
  const std::optional<WorkerNote> note = read_worker(path);
  return note && note->token == self_.token();
}

bool Claims::take(const std::string& piece) const {
  return make_link(piece, board_.path(piece, kClaim));
}

std::optional<Claims::Holder> Claims::holder(const std::string& piece) const {
  std::string path = board_.path(piece, kClaim);
  Holder holder;
  while (is_linked(path) && holder.deaths < kLongestChain) {
    holder.note = read_worker(path);
    holder.token = holder.note ? holder.note->token : "";
    holder.links.push_back(path);
    path = board_.path(piece, successor(holder));
    if (is_linked(path)) ++holder.deaths;
  }
  if (holder.links.empty()) return std::nullopt;
  return holder;
}

bool Claims::is_dead(const Holder& holder) {
  if (holder.token == self_.token()) return false;
  if (holder.note) {
    const Life life = life_of(holder.note->process);
    if (life != Life::kUnknown) return life == Life::kDead;
  }
  std::string sign;
  if (!holder.token.empty())
    if (const auto seen = read_worker(board_.worker_path(holder.token))) sign = seen->sign;
  const double timeout = holder.note ? holder.note->timeout : self_.timeout();
  const Clock::time_point now = Clock::now();
  const auto [entry, is_new] = sights_.try_emplace(holder.links.back(), Sight{sign, now});
  Sight& sight = entry->second;
  if (is_new) return false;
  const double since = std::chrono::duration<double>(now - sight.looked).count();
  sight.silent = sign == sight.sign ? sight.silent + std::min(since, timeout / kLooks) : 0.0;
  sight.sign = sign;
  sight.looked = now;
  return sight.silent >= timeout;
}

bool Claims::take_over(const std::string& piece, const Holder& dead) const {
  const std::string path = board_.path(piece, successor(dead));
  if (!make_link(piece, path)) return false;
  if (holds(piece)) return true;
  unlink(path.c_str());  // the claim was given up meanwhile: this follows nothing
  return false;
}

bool Claims::holds(const std::string& piece) const {
  const std::optional<Holder> now = holder(piece);
  return now && now->token == self_.token();
}

void Claims::release(const std::string& piece) const {
  const std::optional<Holder> now = holder(piece);
  if (now && now->token == self_.token()) forget(*now);
}

void Claims::forget(const Holder& holder) {
  for (const std::string& link : holder.links) unlink(link.c_str());
}

}  // namespace synergraph
