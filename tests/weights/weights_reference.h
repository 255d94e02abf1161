#pragma once

// What the goals of weights are, straight from their definitions and in long double, for tests.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "synergraph/heads/head.h"
#include "synergraph/heads/head_systems.h"

namespace synergraph::testing_support {

using Real = long double;
using RealMatrix = std::vector<std::vector<Real>>;
using RealVector = std::vector<Real>;

inline HeadSystems one_system(const std::vector<Head>& heads) {
  HeadSystems systems;
  systems.add(heads);
  return systems;
}

inline RealMatrix real_zero(std::size_t n) {
  return RealMatrix(n, RealVector(n, 0.0L));
}

/// sum_h w_h D_h; weights need not be positive.
inline RealMatrix real_diffusion(const std::vector<Head>& heads, std::span<const Real> weights) {
  const auto n = static_cast<std::size_t>(heads.front().diffusion.rows());
  RealMatrix sum = real_zero(n);
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        sum[i][j] +=
            weights[h] * Real{heads[h].diffusion(static_cast<int>(i), static_cast<int>(j))};
  return sum;
}

/// (D^t)(sink, .) for t = 0 .. steps.
inline RealMatrix real_signals(const RealMatrix& diffusion, int steps) {
  const std::size_t n = diffusion.size();
  RealMatrix signal(1, RealVector(n, 0.0L));
  signal[0][n - 1] = 1.0L;
  for (int t = 0; t < steps; ++t) {
    RealVector next(n, 0.0L);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) next[j] += signal.back()[i] * diffusion[i][j];
    signal.push_back(std::move(next));
  }
  return signal;
}

/// The probability that the way back from the sink ends in `node`, which keeps what it gets.
inline Real real_absorption(const RealMatrix& diffusion, int node) {
  const std::size_t n = diffusion.size();
  RealVector passing(n, 0.0L);
  passing[static_cast<std::size_t>(node)] = 1.0L;
  for (std::size_t i = static_cast<std::size_t>(node) + 1; i < n; ++i) {
    Real down = 0.0L;
    Real sum = 0.0L;
    for (std::size_t k = 0; k < i; ++k) {
      down += diffusion[i][k];
      sum += diffusion[i][k] * passing[k];
    }
    passing[i] = down != 0.0L ? sum / down : 0.0L;
  }
  return passing[n - 1];
}

/// The walk of the columns, each divided by its sum.
inline RealMatrix real_columns(const RealMatrix& diffusion) {
  const std::size_t n = diffusion.size();
  RealMatrix walk = real_zero(n);
  for (std::size_t j = 0; j < n; ++j) {
    Real sum = 0.0L;
    for (std::size_t i = j; i < n; ++i) sum += diffusion[i][j];
    for (std::size_t i = j; i < n; ++i) walk[j][i] = sum > 0.0L ? diffusion[i][j] / sum : 0.0L;
    if (!(sum > 0.0L)) walk[j][j] = 1.0L;
  }
  return walk;
}

inline RealMatrix real_published(const RealMatrix& diffusion) {
  const std::size_t n = diffusion.size();
  RealMatrix walk = real_zero(n);
  for (std::size_t j = 0; j < n; ++j) {
    Real before = 0.0L;
    Real sum = 0.0L;
    for (std::size_t i = j; i < n; ++i) {
      sum += diffusion[i][j];
      const Real cut = std::min(1.0L, sum);
      walk[j][i] = cut - before;
      before = cut;
    }
    walk[j][n - 1] += 1.0L - before;
  }
  return walk;
}

/// sum_h w_h P_h of the heads' own walks.
inline RealMatrix real_per_head(const std::vector<Head>& heads, std::span<const Real> weights) {
  const auto n = static_cast<std::size_t>(heads.front().diffusion.rows());
  RealMatrix walk = real_zero(n);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    RealVector alone(heads.size(), 0.0L);
    alone[h] = 1.0L;
    RealMatrix own = real_columns(real_diffusion(heads, alone));
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i)
        walk[j][i] +=
            weights[h] *
            (heads[h].graph_walk
                 ? Real{heads[h].graph_walk->step(static_cast<int>(j), static_cast<int>(i))}
                 : own[j][i]);
  }
  return walk;
}

inline RealMatrix real_walk(const std::vector<Head>& heads, std::span<const Real> weights,
                            Normalization normalization) {
  if (normalization == Normalization::kPerHead) return real_per_head(heads, weights);
  const RealMatrix diffusion = real_diffusion(heads, weights);
  return normalization == Normalization::kPooled ? real_columns(diffusion)
                                                 : real_published(diffusion);
}

/// 1 - mean E[min(T, cutoff)] / cutoff.
inline Real real_speed(const RealMatrix& walk, int cutoff) {
  const std::size_t n = walk.size();
  RealVector survival(n, 1.0L);
  survival[n - 1] = 0.0L;
  Real sum = 0.0L;
  for (int t = 0; t < cutoff; ++t) {
    for (const Real s : survival) sum += s;
    for (std::size_t j = 0; j + 1 < n; ++j) {
      Real next = 0.0L;
      for (std::size_t i = j; i < n; ++i) next += walk[j][i] * survival[i];
      survival[j] = next;
    }
  }
  return 1.0L - sum / static_cast<Real>(n) / static_cast<Real>(cutoff);
}

/// Mean E[T]; every node must leave.
inline Real real_hitting(const RealMatrix& walk) {
  const std::size_t n = walk.size();
  RealVector time(n, 0.0L);
  Real sum = 0.0L;
  for (std::size_t j = n - 1; j-- > 0;) {
    Real leave = 0.0L;
    Real later = 1.0L;
    for (std::size_t i = j + 1; i < n; ++i) {
      leave += walk[j][i];
      later += walk[j][i] * time[i];
    }
    time[j] = later / leave;
    sum += time[j];
  }
  return sum / static_cast<Real>(n);
}

/// 1 - mean E[min(T, cutoff)] / cutoff if every node chooses its head at every step, and whether
/// all those times, with any number of steps to go, fall from each node to the next.
struct RealSpeedBound {
  Real speed = 0.0L;
  bool falling = true;
};
inline RealSpeedBound real_speed_bound(const std::vector<Head>& heads, Normalization normalization,
                                       int cutoff) {
  std::vector<RealMatrix> walks;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    RealVector alone(heads.size(), 0.0L);
    alone[h] = 1.0L;
    walks.push_back(real_walk(heads, alone, normalization));
  }
  const std::size_t n = walks.front().size();
  RealSpeedBound bound;
  RealVector time(n, 0.0L);
  for (int m = 0; m < cutoff; ++m) {
    RealVector next(n, 0.0L);
    for (std::size_t j = 0; j + 1 < n; ++j) {
      next[j] = static_cast<Real>(cutoff);
      for (const RealMatrix& walk : walks) {
        Real sum = 1.0L;
        for (std::size_t i = j; i < n; ++i) sum += walk[j][i] * time[i];
        next[j] = std::min(next[j], sum);
      }
    }
    time = std::move(next);
    for (std::size_t j = 0; j + 1 < n; ++j) bound.falling = bound.falling && time[j] >= time[j + 1];
  }
  Real sum = 0.0L;
  for (const Real t : time) sum += t;
  bound.speed = 1.0L - sum / static_cast<Real>(n) / static_cast<Real>(cutoff);
  return bound;
}

/// The derivative at 0, by the five-point rule; its error is of order step^4.
template <class Function>
Real derivative(Function function, Real step) {
  return (function(-2.0L * step) - 8.0L * function(-step) + 8.0L * function(step) -
          function(2.0L * step)) /
         (12.0L * step);
}

/// (1 - e) w + e e_h.
inline RealVector towards(std::span<const double> weights, std::size_t head, Real e) {
  RealVector to;
  for (const double w : weights) to.push_back((1.0L - e) * Real{w});
  to[head] += e;
  return to;
}

/// The bound if every node chooses its head at every step, over so many steps, of the weakest node.
inline Real real_fidelity_bound(const std::vector<Head>& heads, int nodes, int steps) {
  const auto n = static_cast<std::size_t>(heads.front().diffusion.rows());
  Real least = 1.0L;
  for (std::size_t node = 0; node < static_cast<std::size_t>(nodes); ++node) {
    RealVector state(n, 0.0L);
    state[node] = 1.0L;
    Real most = 0.0L;
    for (int t = 0; t < steps; ++t) {
      RealVector next(n, 0.0L);
      for (std::size_t i = 0; i < n; ++i)
        for (const Head& head : heads) {
          Real sum = 0.0L;
          for (std::size_t k = 0; k <= i; ++k)
            sum += Real{head.diffusion(static_cast<int>(i), static_cast<int>(k))} * state[k];
          next[i] = std::max(next[i], sum);
        }
      state = std::move(next);
      most = std::max(most, state[n - 1]);
    }
    least = std::min(least, most);
  }
  return least;
}

}  // namespace synergraph::testing_support
