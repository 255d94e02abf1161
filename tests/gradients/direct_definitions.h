#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

/// The metrics by their definitions, in 80-bit numbers and without any of the library's code: full
/// matrices, step by step. Slow, for a few tokens.
namespace direct {

using Real = long double;
using Matrix = std::vector<std::vector<Real>>;

struct System {
  std::vector<Matrix> heads;
  std::vector<Real> weights;  // as given

  std::size_t nodes() const { return heads.front().size(); }
};

inline Matrix combined(const System& system) {
  Real sum = 0;
  for (const Real w : system.weights) sum += w;
  const std::size_t n = system.nodes();
  Matrix d(n, std::vector<Real>(n, 0));
  for (std::size_t h = 0; h < system.heads.size(); ++h)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k <= i; ++k)
        d[i][k] += system.weights[h] / sum * system.heads[h][i][k];
  return d;
}

/// P(j, i) of the graph that ends at the sink; the sink's row is zero.
inline Matrix walk(const Matrix& d, std::size_t sink) {
  Matrix p(sink + 1, std::vector<Real>(sink + 1, 0));
  for (std::size_t j = 0; j < sink; ++j) {
    Real column = 0;
    for (std::size_t i = j; i <= sink; ++i) column += d[i][j];
    for (std::size_t i = j; i <= sink; ++i)
      p[j][i] = column > 0 ? d[i][j] / column : (i == j ? 1 : 0);
  }
  return p;
}

inline Real hitting_time(const Matrix& d, std::size_t sink) {
  const Matrix p = walk(d, sink);
  std::vector<Real> h(sink + 1, 0);
  Real total = 0;
  for (std::size_t j = sink; j-- > 0;) {
    Real sum = 1;
    Real leave = 0;
    for (std::size_t i = j + 1; i <= sink; ++i) {
      sum += p[j][i] * h[i];
      leave += p[j][i];
    }
    h[j] = sum / leave;
    total += h[j];
  }
  return total / static_cast<Real>(sink + 1);
}

/// s_0 .. s_steps, the mean over all start nodes.
inline std::vector<Real> mean_survival(const Matrix& d, std::size_t sink, int steps) {
  const Matrix p = walk(d, sink);
  std::vector<Real> s(sink + 1, 1);
  s[sink] = 0;
  std::vector<Real> means;
  for (int t = 0; t <= steps; ++t) {
    Real sum = 0;
    for (const Real x : s) sum += x;
    means.push_back(sum / static_cast<Real>(sink + 1));
    std::vector<Real> next(sink + 1, 0);
    for (std::size_t j = 0; j < sink; ++j)
      for (std::size_t i = j; i < sink; ++i) next[j] += p[j][i] * s[i];
    s = next;
  }
  return means;
}

inline Real truncated(const Matrix& d, std::size_t sink, int cutoff) {
  Real sum = 0;
  for (const Real s : mean_survival(d, sink, cutoff - 1)) sum += s;
  return sum;
}

/// r_0 .. r_steps.
inline Matrix signals(const Matrix& d, std::size_t sink, int steps) {
  Matrix r(1, std::vector<Real>(sink + 1, 0));
  r[0][sink] = 1;
  for (int t = 0; t < steps; ++t) {
    std::vector<Real> next(sink + 1, 0);
    for (std::size_t i = 0; i <= sink; ++i)
      for (std::size_t k = 0; k <= i; ++k) next[k] += r.back()[i] * d[i][k];
    r.push_back(next);
  }
  return r;
}

inline Real peak(const Matrix& d, std::size_t sink, std::size_t node, int steps) {
  const Matrix r = signals(d, sink, steps);
  Real most = r[1][node];
  for (int t = 2; t <= steps; ++t) most = std::max(most, r[static_cast<std::size_t>(t)][node]);
  return most;
}

/// The formula of the header, term by term.
inline Real minimax(const Matrix& d, std::size_t sink, int steps, Real softness) {
  if (sink == 0) return 1;
  const Matrix r = signals(d, sink, steps);
  if (softness == 0) {
    Real least = 2;
    for (std::size_t j = 0; j < sink; ++j) least = std::min(least, peak(d, sink, j, steps));
    return least;
  }
  const Real beta = 1 / softness;
  Real sum = 0;
  for (std::size_t j = 0; j < sink; ++j) {
    Real powers = 0;
    for (int t = 1; t <= steps; ++t) {
      const Real x = r[static_cast<std::size_t>(t)][j];  // below 0 only in a difference
      powers += beta == 1 ? x : std::pow(std::max(x, Real(0)), beta);
    }
    sum += std::pow(std::pow(powers, softness), -beta);
  }
  return std::pow(sum / static_cast<Real>(sink), -softness);
}

inline Real backward_hitting_time(const Matrix& d, std::size_t sink) {
  std::vector<Real> h(sink + 1, 0);
  for (std::size_t i = 1; i <= sink; ++i) {
    Real row = 0;
    Real leave = 0;
    Real sum = 0;
    for (std::size_t j = 0; j <= i; ++j) row += d[i][j];
    for (std::size_t j = 0; j < i; ++j) {
      leave += d[i][j] / row;
      sum += d[i][j] / row * h[j];
    }
    h[i] = (1 + sum) / leave;
  }
  return h[sink];
}

inline Real stack_fidelity(const std::vector<Matrix>& layers, std::size_t sink, Real residual,
                           Real softness) {
  std::vector<Real> p(sink + 1, 0);
  p[sink] = 1;
  for (std::size_t l = layers.size(); l-- > 0;) {
    std::vector<Real> next(sink + 1, 0);
    for (std::size_t i = 0; i <= sink; ++i)
      for (std::size_t k = 0; k <= i; ++k)
        next[k] += p[i] * ((i == k ? residual : 0) + (1 - residual) * layers[l][i][k]);
    p = next;
  }
  if (sink == 0) return 1;
  if (softness == 0) return *std::min_element(p.begin(), p.end() - 1);
  Real sum = 0;
  for (std::size_t j = 0; j < sink; ++j) sum += std::pow(p[j], -1 / softness);
  return std::pow(sum / static_cast<Real>(sink), -softness);
}

}  // namespace direct
