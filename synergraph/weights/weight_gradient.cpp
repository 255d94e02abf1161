#include "synergraph/weights/weight_gradient.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "synergraph/core/array_math.h"
#include "synergraph/core/propagation.h"
#include "synergraph/core/triangular.h"
#include "synergraph/diffusion/absorption.h"
#include "synergraph/weights/power_adjoint.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

// What is left of a walk when nothing that follows from it changes a digit.
constexpr double kNothing = 0x1.0p-80;

// Beyond so many steps, powers are squared.
constexpr double kMostGradientSteps = 1024.0;

/// Makes the diagonals 0: takes what row i has there from all of the row.
void take_from_rows(Matrix& adjoint) {
  for (int i = 0; i < adjoint.rows(); ++i) {
    const double shift = adjoint(i, i);
    for (int k = i; k < adjoint.cols(); ++k) adjoint(i, k) -= shift;
  }
}

/// The same for a matrix whose columns are the rows of what it is the derivative of. Entries above
/// the first row that anything arrives in are shifted, too.
void take_from_columns(Matrix& adjoint) {
  const Vector shift = [&] {
    Vector diagonal;
    for (int i = 0; i < adjoint.rows(); ++i) diagonal.push_back(adjoint(i, i));
    return diagonal;
  }();
  for (int k = 0; k < adjoint.rows(); ++k)
    for (int i = k; i < adjoint.cols(); ++i) adjoint(k, i) -= shift[static_cast<std::size_t>(i)];
}

/// e_node U^time e_sink with U = D transposed.
Matrix signal_by_steps(ConstMatrixView diffusion, int node, int steps) {
  const int n = diffusion.rows;
  // signal[s] = e_sink D^s, column[s] = D^s e_node.
  Matrix signal(steps, n);
  Matrix column(steps, n);
  signal(0, n - 1) = 1.0;
  column(0, node) = 1.0;
  for (int s = 1; s < steps; ++s) {
    const double* from = signal.row(s - 1);
    multiply_upper(diffusion, from, signal.row(s), 1);  // the mirrored half
    const double* before = column.row(s - 1) + node;
    for (int i = node; i < n; ++i)
      column(s, i) = dot(diffusion.row(i) + node, before, i - node + 1);
  }
  Matrix adjoint(n, n);
  for (int k = node; k < n; ++k)
    for (int s = 0; s < steps; ++s) {
      const double amount = column(steps - 1 - s, k);
      if (amount != 0.0) add_scaled(signal.row(s) + k, amount, n - k, adjoint.row(k) + k);
    }
  return adjoint;
}

Matrix signal_by_powers(ConstMatrixView diffusion, int node, double time) {
  const int levels = std::ilogb(time) + 1;
  PowerAdjoint powers(diffusion, levels);
  const auto has = [&](int level) {
    return std::fmod(std::floor(std::ldexp(time, -level)), 2.0) == 1.0;
  };
  const auto count = static_cast<std::size_t>(diffusion.rows);
  std::vector<Vector> left(static_cast<std::size_t>(levels));  // before each power
  Vector row(count, 0.0);
  row[static_cast<std::size_t>(node)] = 1.0;
  for (int level = 0; level < levels; ++level) {
    if (!has(level)) continue;
    left[static_cast<std::size_t>(level)] = row;
    row = powers.times_left(row, level);
  }
  Vector column(count, 0.0);
  column.back() = 1.0;
  for (int level = levels - 1; level >= 0; --level) {
    if (!has(level)) continue;
    powers.add(level, left[static_cast<std::size_t>(level)], column);
    column = powers.times_right(level, column);
  }
  return powers.take();
}

/// Of the probability V(sink) that the way back ends in `node`: with A(i) the probability that it
/// comes through i, the change of a row i changes V(sink) by A(i) / down(i) times that of V.
Matrix absorption_adjoint(ConstMatrixView diffusion, int node) {
  const int n = diffusion.rows;
  const Vector passing = passing_probability(diffusion, node);
  Vector arrival(static_cast<std::size_t>(n), 0.0);
  arrival.back() = 1.0;
  Matrix adjoint(n, n);
  for (int i = n - 1; i > node; --i) {
    const double* row = diffusion.row(i);
    const double down = total(row, i);
    const double here = arrival[static_cast<std::size_t>(i)];
    if (!(down > 0.0) || here == 0.0) continue;
    add_scaled(row, here / down, i, arrival.data());
    for (int k = 0; k < i; ++k)
      adjoint(k, i) = here / down *
                      (passing[static_cast<std::size_t>(k)] - passing[static_cast<std::size_t>(i)]);
  }
  return adjoint;
}

/// The walk among the sources.
ConstMatrixView among_sources(const Walk& walk) {
  ConstMatrixView view = walk.step.view();
  view.rows = view.cols = walk.sink();
  return view;
}

/// x_t[j] for t < count, a row a node, until nothing is left of them.
Matrix time_series(ConstMatrixView upper, double start, int count) {
  const int n = upper.rows;
  const Vector begin(static_cast<std::size_t>(n), start);
  Matrix series(n, count);
  Propagation states(upper, begin.data());
  while (states.time() < count) {
    const auto first = static_cast<int>(states.time());
    states.advance(count - first);
    double largest = 0.0;
    for (int j = 0; j < n; ++j) {
      double* to = series.row(j) + first;
      states.find(j, 0, std::min(states.length(), count - first), [&](double value) {
        *to++ = value;
        return false;
      });
      largest = std::max(largest, states.current(j));
    }
    if (largest < kNothing * start) break;
  }
  return series;
}

/// sum over a <= M - 2 of u_a (x) S_{M-1-a}: u_a = uniform Q^a, S_m the sum of Q^b 1 over b < m.
Matrix truncated_by_steps(ConstMatrixView sources, double start, int cutoff) {
  const int n = sources.rows;
  // Backwards u_a is a propagation, too: by Q transposed, the nodes in reverse order.
  Matrix turned(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) turned(n - 1 - i, n - 1 - j) = sources(j, i);
  Matrix visits = time_series(turned, start, cutoff - 1);
  Matrix sums = time_series(sources, 1.0, cutoff - 1);  // S_1, S_2, ...
  for (int j = 0; j < n; ++j) {
    for (int m = 1; m < cutoff - 1; ++m) sums(j, m) += sums(j, m - 1);
    std::reverse(visits.row(j), visits.row(j) + cutoff - 1);
  }
  Matrix adjoint(n, n);
  for (int j = 0; j < n; ++j) {
    const double* of_node = visits.row(n - 1 - j);
    int first = 0;  // those before are long gone
    while (first < cutoff - 1 && of_node[first] < kNothing * start) ++first;
    for (int i = j; i < n; ++i)
      adjoint(j, i) = dot(of_node + first, sums.row(i) + first, cutoff - 1 - first);
  }
  return adjoint;
}

/// S(2^(k+1)) = S(2^k) + Q^(2^k) S(2^k) and, bit by bit, S(m + 2^k) = S(2^k) + Q^(2^k) S(m).
Matrix truncated_by_powers(ConstMatrixView sources, double start, std::int64_t cutoff) {
  const auto count = static_cast<std::size_t>(sources.rows);
  const int levels = std::ilogb(static_cast<double>(cutoff)) + 1;
  const auto has = [&](int level) { return ((cutoff >> level) & 1) != 0; };
  PowerAdjoint powers(sources, levels);
  std::vector<Vector> doubled;  // S(2^k)
  std::vector<Vector> sum;      // of the bits below k
  doubled.emplace_back(count, 1.0);
  sum.emplace_back(count, 0.0);
  const auto later = [&](int level, const Vector& of) {
    Vector out = powers.times_right(level, of);
    for (std::size_t j = 0; j < count; ++j) out[j] += doubled[static_cast<std::size_t>(level)][j];
    return out;
  };
  for (int level = 0; level < levels; ++level) {
    sum.push_back(has(level) ? later(level, sum.back()) : sum.back());
    if (level + 1 < levels) doubled.push_back(later(level, doubled.back()));
  }
  const auto add = [](Vector& to, const Vector& from) {
    for (std::size_t j = 0; j < to.size(); ++j) to[j] += from[j];
  };
  Vector of_sum(count, start);
  Vector of_doubled(count, 0.0);
  for (int level = levels - 1; level >= 0; --level) {
    const auto at = static_cast<std::size_t>(level);
    if (level + 1 < levels) {
      powers.add(level, of_doubled, doubled[at]);
      add(of_doubled, powers.times_left(of_doubled, level));
    }
    if (!has(level)) continue;
    powers.add(level, of_sum, sum[at]);
    add(of_doubled, of_sum);
    of_sum = powers.times_left(of_sum, level);
  }
  return powers.take();
}

}  // namespace

Matrix signal_adjoint(const MirroredMatrix& diffusion, int node, double time) {
  const ConstMatrixView view = diffusion.view();
  if (!std::isfinite(time)) return absorption_adjoint(view, node);
  Matrix adjoint = time > kMostGradientSteps ? signal_by_powers(view, node, time)
                                             : signal_by_steps(view, node, static_cast<int>(time));
  take_from_columns(adjoint);
  return adjoint;
}

Matrix truncated_adjoint(const Walk& walk, std::int64_t cutoff) {
  const int n = walk.nodes();
  Matrix adjoint(n, n);
  if (n < 2 || cutoff < 2) return adjoint;
  const ConstMatrixView sources = among_sources(walk);
  const Matrix inner = static_cast<double>(cutoff) > kMostGradientSteps
                           ? truncated_by_powers(sources, 1.0 / n, cutoff)
                           : truncated_by_steps(sources, 1.0 / n, static_cast<int>(cutoff));
  for (int j = 0; j < n - 1; ++j) std::copy_n(inner.row(j), n - 1, adjoint.row(j));
  take_from_rows(adjoint);
  return adjoint;
}

Matrix hitting_adjoint(const Walk& walk, const std::vector<double>& times) {
  const int n = walk.nodes();
  Matrix adjoint(n, n);
  // arrival[j]: the chance to come through j from a start node drawn at random.
  Vector arrival(static_cast<std::size_t>(n), 1.0 / n);
  for (int j = 0; j < walk.sink(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double visits = arrival[at] / walk.leave[at];
    add_scaled(walk.step.row(j) + j + 1, visits, n - j - 1, arrival.data() + j + 1);
    for (int i = j + 1; i < n; ++i)
      adjoint(j, i) = visits * (times[static_cast<std::size_t>(i)] - times[at]);
  }
  return adjoint;
}

}  // namespace synergraph
