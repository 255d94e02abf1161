#pragma once

#include <span>
#include <vector>

#include "synergraph/chain/mixing_rules.h"

namespace synergraph {

/// Sums over the rows and columns of one operator, an n x n diffusion or the walk along its
/// columns.
struct OperatorSums {
  std::vector<double> column;    ///< sums of columns, from the diagonal on
  std::vector<double> forward;   ///< the same beyond the diagonal
  std::vector<double> diagonal;  ///< diagonal entries
  bool all_go_down = true;       ///< every row but the first gives something to earlier nodes
  /// Of diffusions, after the first sweep, where some row keeps all or the sink keeps nothing: see
  /// absorption_probability() and last_arrival(). Empty: all of the signal ends at node 0, and
  /// never all of it.
  std::vector<double> absorbed = {};
  std::vector<double> last_arrival = {};
  /// Of published walks: what each node passes on to later ones.
  std::vector<double> published_leave = {};
};

/// What a panel of steps found of an operator's signal. Pointers are valid until the next sweep.
struct SignalPanel {
  const double* peak = nullptr;   ///< the largest of the states that count
  const int* place = nullptr;     ///< the first step that reaches it to rounding
  const double* after = nullptr;  ///< the last state that counts
};

/// What a panel found of survivals.
struct SurvivalPanel {
  const double* sum = nullptr;       ///< of the first SweepTask::count states
  const double* previous = nullptr;  ///< the state at the last step of the panel
  const double* after = nullptr;     ///< the state after it
  const double* worst = nullptr;     ///< steps() + 1: the largest state at every step
};

/// What a sweep is to do with an operator.
struct SweepTask {
  int op = 0;
  bool signal = false;
  bool survival = false;
  bool hitting = false;
  bool published = false;  ///< survival of the published walk
  bool lifted = false;     ///< survivals times 2^kLift
  bool arrival = false;
  int count = 0;            ///< survivals of the panel that enter the sum
  int published_count = 0;  ///< the same of the published walk
  int last = 0;             ///< the last step of the panel that counts for the signal
};

/// The operators of one system of heads, which an engine follows through time a panel of steps at
/// a time. The operators are the
/// heads, their combined diffusion, and the convex sum of their walks; of one head, the head alone.
class PanelOperators {
 public:
  PanelOperators() = default;
  PanelOperators(const PanelOperators&) = delete;
  PanelOperators& operator=(const PanelOperators&) = delete;
  virtual ~PanelOperators() = default;

  virtual int nodes() const = 0;
  virtual int heads() const = 0;
  /// Steps of a panel.
  virtual int steps() const = 0;
  int combined() const { return heads() == 1 ? 0 : heads(); }
  int per_head() const { return heads() == 1 ? 0 : heads() + 1; }
  int operators() const { return heads() == 1 ? 1 : heads() + 2; }

  virtual const OperatorSums& sums(int op) const = 0;

  /// One panel for these tasks.
  virtual void sweep(std::span<const SweepTask> tasks) = 0;
  virtual SignalPanel signal(int op) const = 0;
  virtual SurvivalPanel survival(int op) const = 0;
  /// Mean hitting times; infinite where the sink is out of reach.
  virtual const double* hitting(int op) const = 0;
  /// Begins the signal again, at time 0.
  virtual void restart_signal(int op) = 0;
  /// The signal of node j at step k of the newest panel.
  virtual double signal_at(int op, int j, int k) const = 0;

  struct PassingTask {
    int op = 0;
    int target = 0;
  };
  /// Passing probabilities of the target of each task, in order, one list a task: see
  /// passing_probability().
  virtual std::vector<std::vector<double>> passing(std::span<const PassingTask> tasks) = 0;

  virtual SurvivalPanel published(int op) const = 0;
  /// The worst lifted survival, or the least arrival, at every step.
  virtual const double* followed(int op, mixing_rules::Followed of) const = 0;
  /// Whether signal_at() still has the newest panel of this operator.
  virtual bool keeps_states(int op) const = 0;
  /// Whether states of the signal were set to zero because they were tiny; and how to begin again
  /// without that.
  virtual bool flushed(int op) const = 0;
  virtual void restart_with_tiny(int op) = 0;
};

}  // namespace synergraph
