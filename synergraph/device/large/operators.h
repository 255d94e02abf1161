#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/execution.h"

namespace synergraph::large {

/// Steps of a panel: what one sweep over a matrix advances a state by.
inline constexpr int kSteps = 64;

/// Sums of one operator. Where there is a node for missing mass, it is not one of the nodes here:
/// nothing comes from it but its own, so that the measurement adds it (`missing`).
struct OperatorSums {
  std::vector<double> column;    ///< of the walk: mass of every node, what it keeps included
  std::vector<double> forward;   ///< of that, what it gives to later nodes
  std::vector<double> diagonal;  ///< of that, what it keeps
  std::vector<double> whole;     ///< of a head: sums of its rows as they were given
  /// What every row gives to the node for missing mass; empty: there is no such node.
  std::vector<double> missing;
  double missing_mass = 1.0;     ///< of the walk: mass of the node for missing mass
  double missing_forward = 0.0;  ///< of that, what it gives to later nodes
  double missing_own = 1.0;      ///< of that, what it keeps
  int bad_rows = 0;
  bool all_go_down = true;  ///< every row but the first node's gives something to earlier nodes

  /// Whether a node other than the last gives nothing to later ones.
  bool has_trap() const;
};

/// What a panel of steps found of an operator's signal or survival. Pointers are valid until the
/// next sweep.
struct SignalPanel {
  const double* peak = nullptr;
  const int* place = nullptr;
  const double* after = nullptr;
  /// The same as peak and place, over the steps up to SweepTask::last.
  const double* limited_peak = nullptr;
  const int* limited_place = nullptr;
  const double* missing = nullptr;  ///< kSteps: what the state gives to the node for missing mass
};
struct SurvivalPanel {
  const double* sum = nullptr;
  const double* previous = nullptr;
  const double* after = nullptr;
  const double* worst = nullptr;  ///< kSteps + 1
  const double* missing = nullptr;
};

/// What a sweep is to do with an operator.
struct SweepTask {
  int op = 0;
  bool signal = false;
  bool survival = false;
  /// Hitting times; where the walk has traps, instead the chances to end in one.
  bool hitting = false;
  int count = kSteps;  ///< survivals of the panel that enter the sum
  int last = kSteps;   ///< the last step for the limited peak
};

/// The operators of one system, on a device: its heads, their combined diffusion, the convex sum of
/// their walks, and the published walks of heads and diffusion. Functions return when they are
/// done.
class Operators {
 public:
  Operators() = default;
  Operators(const Operators&) = delete;
  Operators& operator=(const Operators&) = delete;
  virtual ~Operators() = default;

  /// Without the node for missing mass.
  virtual int nodes() const = 0;
  virtual int heads() const = 0;
  /// Numbers of the operators behind the heads. With one head there are none.
  int combined() const { return heads() == 1 ? 0 : heads(); }
  int per_head() const { return heads() == 1 ? 0 : heads() + 1; }
  int operators() const { return heads() == 1 ? 1 : heads() + 2; }
  /// The published walk of a head, or of all heads together, which has no signal of its own.
  int published(int op) const { return operators() + op; }

  virtual const OperatorSums& sums(int op) const = 0;

  /// One sweep over the matrices for these tasks.
  virtual void sweep(std::span<const SweepTask> tasks) = 0;
  virtual SignalPanel signal(int op) const = 0;
  virtual SurvivalPanel survival(int op) const = 0;
  virtual const double* hitting(int op) const = 0;
  /// Begins the signal again, at time 0.
  virtual void restart_signal(int op) = 0;
  /// The signal of node j at step k of the newest panel, and after it for k = kSteps.
  virtual double signal_at(int op, int j, int k) const = 0;

  struct PassingTask {
    int op = 0;
    int target = 0;
  };
  /// Passing probabilities of the target of each task, in order, one list a task.
  virtual std::vector<std::vector<double>> passing(std::span<const PassingTask> tasks) = 0;

  /// The powers of an operator's walk, or of its signal's way back, with the node for missing mass.
  /// Null where there is too little memory for them. Valid until the next sweep.
  enum class PowersOf { kWalk, kSignal };
  virtual std::unique_ptr<WalkPowers> powers(int op, PowersOf of, const Execution& execution) = 0;
};

}  // namespace synergraph::large
