#pragma once

#include <vector>

namespace synergraph {

/// Where the powers P^(2^k) of a walk lie, and what multiplies them: the CPU's memory, or a
/// device's. Which of them are kept, and when, is for WalkPowers.
///
/// One power is the newest. Others are kept beside it. Level 0 is the walk itself, which is always
/// there. Every function that takes a level needs it in memory: the newest, a kept one, or 0.
class PowerStore {
 public:
  PowerStore() = default;
  PowerStore(const PowerStore&) = delete;
  PowerStore& operator=(const PowerStore&) = delete;
  virtual ~PowerStore() = default;

  virtual int nodes() const = 0;

  /// The newest power's square takes its place, with the chance to leave g <- g (2 - g), and every
  /// row's forward entries rescaled to sum to it.
  virtual void square() = 0;
  /// Keeps a copy of the newest power.
  virtual void keep() = 0;
  /// Makes a kept power, or the walk itself, the newest.
  virtual void load(int level) = 0;
  virtual void drop(int level) = 0;
  /// The level of the newest power.
  virtual int level() const = 0;

  /// The survival of the newest power from every node, 0 at the sink, and the chance to have
  /// arrived at the sink, 1 at the sink.
  virtual std::vector<double> survival() const = 0;
  virtual std::vector<double> arrival() const = 0;

  /// out = P^(2^level) in.
  virtual void multiply(int level, const double* in, double* out) = 0;

  // For signals, whose way back is the walk; see SlowSignal.

  /// Row 0 of a power; valid until that power is gone.
  virtual const double* first_row(int level) = 0;
  /// Column `target`, entries 0 to `target`.
  virtual std::vector<double> column(int level, int target) = 0;
  /// out = in P^(2^level), row vectors of all nodes.
  virtual void multiply_row(int level, const double* in, double* out) = 0;
  /// out = P^(2^level) in, column vectors that are zero from `count` on.
  virtual void multiply_column(int level, const double* in, int count, double* out) = 0;
  /// The same by the walk without its diagonal.
  virtual void multiply_row_forward(const double* in, double* out) = 0;
  virtual void multiply_column_forward(const double* in, int count, double* out) = 0;
  /// The chance to leave every node in a step.
  virtual const std::vector<double>& leave() const = 0;
};

}  // namespace synergraph
