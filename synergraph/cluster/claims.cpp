#include "synergraph/cluster/claims.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "synergraph/io/own_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

constexpr const char* kClaim = "claim";
constexpr int kLooks =
    6;  ///< at least so many in its timeout: a look after a long time is one look

/// A link that leads nowhere is there, too: no other can be made in its place.
bool is_linked(const std::string& path) {
  struct stat status {};
  return own_status(path, status);
}

}  // namespace

ClaimChain claim_chain(const WorkBoard& board, const std::string& piece) {
  ClaimChain chain;
  std::set<std::string> seen;
  std::set<std::string> tokens;
  for (std::string path = board.path(piece, kClaim);;) {
    if (!is_linked(path)) {
      chain.next = std::move(path);
      return chain;
    }
    chain.note = read_worker(path);
    chain.token = chain.note ? chain.note->token : "";
    chain.links.push_back(path);
    seen.insert(std::move(path));
    if (chain.token.empty()) {
      path = board.path(piece, fmt::format("after-unsigned-{}", chain.links.size()));
      continue;
    }
    if (!tokens.insert(chain.token).second) chain.repeats = true;
    path = board.path(piece, "after-" + chain.token);
    if (seen.contains(path))
      path = board.path(piece, fmt::format("after-{}-{}", chain.token, chain.links.size()));
  }
}

/// Hard links need a file system that has them.
bool Claims::make_link_once(const std::string& path) const {
  if (link_own(self_.path(), path)) return true;
  for (const int without_links : {EPERM, EOPNOTSUPP, ENOSYS, EXDEV, EMLINK}) {
    if (errno != without_links) continue;
    Descriptor file = open_own(path, O_WRONLY | O_CREAT | O_EXCL);
    if (!file) return false;
    const std::string& who = self_.identity();
    const bool whole = write(file.get(), who.data(), who.size()) == std::ssize(who);
    if (close(file.release()) != 0 || !whole) throw_system_error(path, "cannot write");
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
  ClaimChain chain = claim_chain(board_, piece);
  if (chain.links.empty()) return std::nullopt;
  const int deaths = static_cast<int>(chain.links.size()) - 1;
  return Holder{std::move(chain), deaths};
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
  if (!make_link(piece, dead.next)) return false;
  if (holds(piece)) return true;
  remove_own(dead.next);  // the claim was given up meanwhile: this follows nothing
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
  for (const std::string& link : holder.links) remove_own(link);
}

}  // namespace synergraph
