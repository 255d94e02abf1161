#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "synergraph/analysis/design_score.h"

namespace synergraph {

/// Where a search stands. The future of the search depends on this alone.
struct ChainState {
  explicit ChainState(DesignEdges start) : now(std::move(start)), best(now) {}

  DesignEdges now;
  DesignEdges best;             ///< the most faithful design within the limits so far
  double best_fidelity = -1.0;  ///< of `best` within the search's horizon; -1: there is none yet
  std::int64_t steps = 0;       ///< moves that were tried
  std::int64_t horizon = 0;     ///< of the present design's score; 0: not chosen yet
};

/// One annealing search over the edges of a design. The schedule is a row of cycles, each longer
/// than the one before. A cycle starts at the best design and cools. So a search can go on at any
/// time, and a longer search begins like a shorter one.
class DesignChain {
 public:
  /// `number` tells searches of one seed apart. `state` must outlive the chain.
  DesignChain(ChainState& state, const DesignLimits& limits, std::uint64_t seed,
              std::uint32_t number);

  /// Tries `count` more moves.
  void run(std::int64_t count);

 private:
  struct Edit {
    int head, from, to;
    bool added;
  };
  class Draws;

  void propose(Draws& draws);
  void rewire_sender(Draws& draws);
  void rewire_receiver(Draws& draws);
  void swap_ends(Draws& draws);
  void strengthen(Draws& draws);
  void make_twin(Draws& draws);
  void move_between_heads(Draws& draws);
  bool random_edge(Draws& draws, int& head, int& from, int& to) const;
  bool edit(bool add, int head, int from, int to);
  void undo();
  void remember();

  ChainState& state_;
  DesignLimits limits_;
  std::uint64_t seed_;
  std::uint32_t number_;
  DesignScore score_;
  std::vector<Edit> edits_;
};

}  // namespace synergraph
