#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/graph/design_edges.h"

namespace synergraph {

/// What a design must keep.
struct DesignLimits {
  std::int64_t edges = 0;            ///< most edges of all heads together
  std::int64_t averaged_mixing = 0;  ///< most steps of T_avg (L1); at least 1
  std::int64_t mixing = 0;           ///< most steps of T_mix; 0: no limit
  double eps = 0.25;                 ///< threshold of both
};

/// The numbers of heads with equal weights, D = mean_h D_h and P = mean_h P_h, kept up to date
/// while edges change. A change of edges alters only nodes that come before it on the way of the
/// signal: those whose states did not change are not computed again. States of a node for all steps
/// lie side by side, so an edge is read once for all of them.
///
/// The fidelity counts peaks within a horizon, so it is never above the true one.
class DesignScore {
 public:
  DesignScore(const DesignEdges& edges, const DesignLimits& limits, std::int64_t most_steps);

  /// Computes everything anew. horizon 0: one that shows every peak if the limit on steps allows.
  void start(std::int64_t horizon = 0);

  /// A change of edges of the DesignEdges: call touch() for every edge that was added or removed,
  /// then update(), then accept() or reject(); before reject() returns, the edges must be as
  /// before.
  void touch(int head, int from, int to);
  /// Returns false as soon as the design breaks a limit on times (unless it did before and does so
  /// less), or as soon as its badness is above `most`.
  bool update(double most);
  void accept();
  void reject();

  /// The mean over the sources of (c / phi_j)^kSharpness: less is better; see fidelity_of().
  double badness() const { return now_.badness; }
  double minimax() const { return now_.minimax; }
  int weakest() const { return now_.weakest; }
  /// phi of a node.
  double fidelity(int j) const { return peak_[static_cast<std::size_t>(signal_.slot(j))]; }
  /// By how much the survival is above the limits on times, as a ratio; at most 1: it is not.
  double slowness() const { return now_.slowness; }
  /// T_avg, if at most the limit; the limit plus 1 otherwise.
  std::int64_t averaged_mixing_time() const;
  /// Whether all signals have passed all nodes within the horizon.
  bool complete() const;
  std::int64_t horizon() const { return signal_.steps; }

  static constexpr int kSharpness = 32;
  /// The power mean of the fidelities that belongs to a badness.
  static double mean_fidelity(double badness, int nodes);

 private:
  /// The states of every node for all steps, on two sides: the present ones, and those of a change
  /// that may be rejected.
  struct States {
    std::int64_t steps = 0;
    ScratchVector<double> values;
    std::vector<unsigned char> side;   // the present side of each node
    std::vector<unsigned char> dirty;  // nodes to compute again
    std::vector<int> changed;          // nodes whose side was changed

    void resize(int nodes, std::int64_t wanted);
    std::int32_t slot(int j) const { return j * 2 + side[static_cast<std::size_t>(j)]; }
    std::int32_t other(int j) const { return j * 2 + 1 - side[static_cast<std::size_t>(j)]; }
    double* of(std::int32_t slot) { return values.data() + slot * steps; }
    const double* of(std::int32_t slot) const { return values.data() + slot * steps; }
    void turn(int j);
    void undo();
  };
  struct Touched {
    int head, from, to;
    double heard;
  };

  double& hear(int head, int i) {
    return hear_[static_cast<std::size_t>(head) * static_cast<std::size_t>(n_) +
                 static_cast<std::size_t>(i)];
  }
  double heard_share(int head, int i) const;
  /// All steps of a node that takes `weights_` of the nodes at `slots_`, into `out`: the largest.
  double advance(const States& states, double stay, double start, double* out) const;
  void compute_signal(int j);
  void compute_walk(int j);
  void judge_walk();
  bool sweep_signal(double most);
  void sweep_walk();
  void restart_signal(std::int64_t steps);
  bool keeps(int j) const;
  std::int64_t shortest_horizon() const;

  const DesignEdges& edges_;
  DesignLimits limits_;
  std::int64_t most_steps_;
  int n_;
  double share_;              // of a head
  std::vector<double> hear_;  // share / indegree, for each head and node
  States signal_, walk_;
  std::vector<double> peak_, visits_, bad_;  // for the sides of signal_
  std::vector<Touched> touched_;
  std::vector<std::int32_t> slots_;
  std::vector<double> weights_;
  struct Numbers {
    double badness = 0.0, minimax = 0.0, slowness = 0.0;
    int weakest = 0;
  } now_, before_;
};

}  // namespace synergraph
