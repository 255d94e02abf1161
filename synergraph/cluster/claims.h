#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/cluster/work_board.h"
#include "synergraph/cluster/worker_record.h"

namespace synergraph {

/// The claims of a piece, from the first holder to the present holder.
struct ClaimChain {
  std::string token;  ///< token of the present holder; empty: the holder has not signed
  std::optional<WorkerNote> note;  ///< note of the present holder; empty: the holder has not signed
  std::vector<std::string> links;  ///< the claim files; empty: nobody has claimed the piece
  std::string next;                ///< path for the successor of the last holder
  bool repeats = false;            ///< a worker follows itself: somebody has changed the files
};
ClaimChain claim_chain(const WorkBoard& board, const std::string& piece);

/// Records which worker holds which piece. PIECE.claim is a hard link to the file of the first
/// holder; only one worker can make this link. The successor of a dead holder with the token T
/// makes the link PIECE.after-T, which again only one worker can make. The owner is the end of this
/// chain.
///
/// A worker T may be taken for dead, come back and follow its own successor. The chain then already
/// has PIECE.after-T, and its K-th link is PIECE.after-T-K. Every chain therefore has an end,
/// whoever made its files.
///
/// A worker gives up a claim by removing the first link of the claim; later links then follow
/// nothing. No step depends on an up-to-date list of names, or on the clock of another machine.
class Claims {
 public:
  Claims(const WorkBoard& board, const WorkerRecord& self) : board_(board), self_(self) {}

  /// Claims a piece that nobody has claimed. Returns false if somebody has claimed the piece.
  bool take(const std::string& piece) const;

  /// The worker that has claimed a piece, and the number of earlier holders that died.
  struct Holder : ClaimChain {
    int deaths = 0;
  };
  std::optional<Holder> holder(const std::string& piece) const;

  /// Returns whether a holder is dead. For a holder on this machine, the process table decides. For
  /// another machine, silence decides, as this worker observes it. The holder's own timeout
  /// applies, or this worker's timeout if the holder has not signed. Callers must ask repeatedly.
  bool is_dead(const Holder& holder);
  /// Succeeds a dead holder. Returns false if another worker has done so.
  bool take_over(const std::string& piece, const Holder& dead) const;

  /// Returns whether this worker still holds the piece. Another worker may have taken this worker
  /// for dead.
  bool holds(const std::string& piece) const;
  /// Gives up a piece, if this worker still holds the piece.
  void release(const std::string& piece) const;
  /// Removes a claim and its history, on behalf of the last holder.
  static void forget(const Holder& holder);

 private:
  using Clock = std::chrono::steady_clock;
  /// A worker on another machine, as seen from here.
  struct Sight {
    std::string sign;
    Clock::time_point looked;
    double silent = 0.0;  ///< seconds
  };

  bool make_link(const std::string& piece, const std::string& path) const;
  bool make_link_once(const std::string& path) const;

  const WorkBoard& board_;
  const WorkerRecord& self_;
  std::map<std::string, Sight> sights_;
};

}  // namespace synergraph
