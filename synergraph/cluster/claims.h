#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/cluster/work_board.h"
#include "synergraph/cluster/worker_record.h"

namespace synergraph {

/// The claims of a piece, from the first holder to the one that has it now.
struct ClaimChain {
  std::string token;               ///< of the one that has it now; empty: it has not signed
  std::optional<WorkerNote> note;  ///< likewise
  std::vector<std::string> links;  ///< the files; none: nobody has claimed the piece
  std::string next;                ///< where the successor of the last one would be
  bool repeats = false;            ///< a worker comes after itself: somebody has changed the files
};
ClaimChain claim_chain(const WorkBoard& board, const std::string& piece);

/// Who works on which piece. PIECE.claim is the first holder's file, by a hard link, which only one
/// worker can make. The successor of a dead holder with the token T is PIECE.after-T, which again
/// only one can make; the owner is the end of this chain. Where the chain has that file already, as
/// when T is taken for dead, comes back and follows its own successor, the K-th link of the chain
/// is PIECE.after-T-K: every chain has an end, whoever made its files. A claim is given up by
/// removing its first link: what followed it follows nothing then. No step depends on a list of
/// names being up to date, nor on a clock of another machine.
class Claims {
 public:
  Claims(const WorkBoard& board, const WorkerRecord& self) : board_(board), self_(self) {}

  /// Claims a piece that nobody has claimed; false where somebody has.
  bool take(const std::string& piece) const;

  /// The worker that has claimed a piece, and how many have died of it before.
  struct Holder : ClaimChain {
    int deaths = 0;
  };
  std::optional<Holder> holder(const std::string& piece) const;

  /// Whether a holder is dead: by the table of processes if it is one of this machine, else by its
  /// silence for as long as it says itself (or, where it has not signed, as this worker says of
  /// itself), seen from here. Ask again and again.
  bool is_dead(const Holder& holder);
  /// Follows a dead holder; false where somebody else does.
  bool take_over(const std::string& piece, const Holder& dead) const;

  /// Whether the piece is still this worker's. Another may have taken this one for dead.
  bool holds(const std::string& piece) const;
  /// Gives up a piece, if it is still this worker's.
  void release(const std::string& piece) const;
  /// Forgets a claim and its history, for the holder that came last.
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
