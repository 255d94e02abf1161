#include "synergraph/heads/cross_head_share.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "synergraph/chain/walk_powers.h"
#include "synergraph/core/array_math.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/propagation.h"
#include "synergraph/diffusion/slow_signal.h"
#include "synergraph/heads/row_shares.h"

namespace synergraph {
namespace {

// Steps taken one by one; beyond, powers are squared.
constexpr double kMostSharedSteps = 4096.0;
// Parts of a signal this far below the whole, as logarithms, are lost in its rounding: 2^-60.
constexpr double kLost = -42.0;
// Numbers kept for one sum over paths.
constexpr double kMostKept = 1 << 23;

/// (D^time)(sink, node).
double signal_after(const MirroredMatrix& diffusion, double time, int node,
                    const Execution& execution) {
  const ConstMatrixView part = diffusion.from(node);  // what the way from the sink can touch
  const auto count = static_cast<std::size_t>(part.rows);
  if (time > kMostSharedSteps) {
    std::vector<double> target(static_cast<std::size_t>(diffusion.nodes()), 0.0);
    target[count - 1] = 1.0;
    return multiply_power(way_back(diffusion.view()), time, std::move(target), execution).front();
  }
  ScratchVector<double> start(count, 0.0);
  start.back() = 1.0;
  const auto steps = static_cast<std::int64_t>(time);
  Propagation states(part, start.data());
  while (states.time() < steps) states.advance(steps - states.time());
  return states.at(0, static_cast<int>(steps - (states.time() - states.length())));
}

/// D = sum_h w_h D_h.
Matrix combine(const MirroredHeads& heads, const std::vector<double>& weights,
               const Matrix& by_row = {}) {
  return convex_sum_of_lower(
      heads(0).nodes(), weights, [&](int h) { return heads(h).view(); }, by_row);
}

double share_of(double cross, double pure) {
  return cross / (cross + pure);
}

/// By the step of the first change: s steps in head h, one in another, the rest in any. With
/// p_s = w_h^s e_sink D_h^s and c_q = D^q e_node, that is the sum over heads h, g != h and s of
/// p_s (w_g D_g) c_{t-1-s}. Heads come one at a time, each is paired with the sum of those before.
/// Weights of rows are multiplied into the heads.
double share_by_first_change(const MirroredHeads& heads, const std::vector<double>& weights,
                             const Matrix& by_row, int node, int steps) {
  const MirroredMatrix combined(combine(heads, weights, by_row));
  const int count = combined.nodes() - node;
  const auto apply = [&](ConstMatrixView lower, const double* in, double factor, double* out) {
    for (int i = 0; i < count; ++i) out[i] = factor * dot(lower.row(i), in, i + 1);
  };
  Matrix after(steps, count);  // c_q
  after(0, 0) = 1.0;
  for (int q = 1; q < steps; ++q) apply(combined.from(node), after.row(q - 1), 1.0, after.row(q));

  Matrix before_sum(steps + 1, count);  // of p_s, over the heads so far
  Matrix change_sum(steps, count);      // of w_g D_g c_q
  Matrix before(steps + 1, count);
  Matrix change(steps, count);
  double cross = 0.0;
  double pure = 0.0;
  for (std::size_t h = 0; h < weights.size(); ++h) {
    if (!(weights[h] > 0.0)) continue;
    const auto number = static_cast<int>(h);
    const bool scale = by_row.rows() > 0;
    const double weight = scale ? 1.0 : weights[h];
    const MirroredMatrix scaled(scale ? scaled_rows(heads(number).view(), by_row.row(number))
                                      : Matrix());
    const ConstMatrixView head = (scale ? scaled : heads(number)).from(node);
    before(0, count - 1) = 1.0;
    for (int s = 0; s < steps; ++s)
      for (int j = 0; j < count; ++j)
        before(s + 1, j) = weight * dot(head.row(j) + j, before.row(s) + j, count - j);
    for (int q = 0; q < steps; ++q) apply(head, after.row(q), weight, change.row(q));
    for (int s = 1; s < steps; ++s)
      cross += dot(before_sum.row(s), change.row(steps - 1 - s), count) +
               dot(before.row(s), change_sum.row(steps - 1 - s), count);
    pure += before(steps, 0);
    for (int s = 0; s < steps; ++s)
      for (int j = 0; j < count; ++j) {
        before_sum(s, j) += before(s, j);
        change_sum(s, j) += change(s, j);
      }
  }
  return share_of(cross, pure);
}

/// A walk on pairs of a node and whether the path has left the head of `one`. At a node the path
/// stays in that head with weight(node), and leaves it with rest(node).
template <class Weight, class Rest>
Walk walk_on_pairs(const Walk& one, const Walk& others, const Walk& all, const Weight& weight,
                   const Rest& rest) {
  const int n = all.nodes();
  Walk pairs{Matrix(2 * n, 2 * n), std::vector<double>(static_cast<std::size_t>(2 * n), 0.0)};
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double mass = weight(i) + rest(i);
    for (int k = i; k < n; ++k) {
      pairs.step(i, k) = weight(i) / mass * one.step(i, k);
      pairs.step(i, n + k) = rest(i) / mass * others.step(i, k);
      pairs.step(n + i, n + k) = all.step(i, k);
    }
    pairs.leave[at] = (weight(i) * one.leave[at] + rest(i)) / mass;
    pairs.leave[static_cast<std::size_t>(n) + at] = all.leave[at];
  }
  return pairs;
}

/// The chances, as a vector, of a path that is at one pair.
std::vector<double> all_at(int pair, int n) {
  std::vector<double> v(static_cast<std::size_t>(2 * n), 0.0);
  v[static_cast<std::size_t>(pair)] = 1.0;
  return v;
}

/// By powers, for times so long that only the heaviest head can hold a path: a walk on pairs of a
/// node and whether the path has left that head.
double share_by_powers(const MirroredHeads& heads, const std::vector<double>& weights, int node,
                       double time, const Execution& execution) {
  const auto heaviest =
      static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  const double weight = weights[heaviest];
  std::vector<double> rest = weights;
  rest[heaviest] = 0.0;
  const double other_weight = std::accumulate(rest.begin(), rest.end(), 0.0);
  const Walk one = way_back(heads(static_cast<int>(heaviest)).view());
  const Walk others = way_back(combine(heads, rest));
  const Walk all = way_back(combine(heads, weights));
  const int n = all.nodes();
  const Walk pairs = walk_on_pairs(
      one, others, all, [=](int) { return weight; }, [=](int) { return other_weight; });
  const auto arrives = [&](int target) {
    return multiply_power(pairs, time, all_at(target, n), execution).front();
  };
  const int target = n - 1 - node;
  return share_of(arrives(n + target), arrives(target));
}

/// The same by powers where weights depend on the row, so that any head may hold paths: a first
/// step in a head, then a walk on pairs as above, for one head after the other.
double share_by_row_powers(const MirroredHeads& heads, const std::vector<double>& weights,
                           const Matrix& by_row, int node, double time,
                           const Execution& execution) {
  const Walk all = way_back(combine(heads, weights, by_row));
  const int n = all.nodes();
  double cross = 0.0;
  double pure = 0.0;
  for (int h = 0; h < by_row.rows(); ++h) {
    Matrix rest = by_row;
    std::vector<double> others(static_cast<std::size_t>(n), 0.0);  // 1 - w_h, of the way's nodes
    std::fill_n(rest.row(h), n, 0.0);
    for (int g = 0; g < rest.rows(); ++g)
      for (int i = 0; i < n; ++i) others[static_cast<std::size_t>(n - 1 - i)] += rest(g, i);
    for (int i = 0; i < n; ++i)  // a row without others: any will do, with weight 0
      if (!(others[static_cast<std::size_t>(n - 1 - i)] > 0.0)) rest(h, i) = 1.0;
    const Walk one = way_back(heads(h).view());
    const Walk other = way_back(combine(heads, weights, rest));
    const Walk pairs = walk_on_pairs(
        one, other, all, [&](int i) { return by_row(h, n - 1 - i); },
        [&](int i) { return others[static_cast<std::size_t>(i)]; });
    const auto arrives = [&](int target) {
      const std::vector<double> v = multiply_power(pairs, time - 1.0, all_at(target, n), execution);
      return dot(pairs.step.row(0), v.data(), n);
    };
    const int target = n - 1 - node;
    cross += arrives(n + target);
    pure += arrives(target);
  }
  return share_of(cross, pure);
}

/// diag(weights) * diffusion, with a first node more that takes what the weights leave out: its
/// rows sum to one.
MirroredMatrix with_lost_mass(const MirroredMatrix& diffusion, const Matrix& by_row, int h) {
  const int n = diffusion.nodes();
  Matrix part(n + 1, n + 1);
  part(0, 0) = 1.0;
  for (int i = 0; i < n; ++i) {
    for (int g = 0; g < by_row.rows(); ++g)
      if (g != h) part(i + 1, 0) += by_row(g, i);
    for (int j = 0; j <= i; ++j) part(i + 1, j + 1) = by_row(h, i) * diffusion.view()(i, j);
  }
  return MirroredMatrix(std::move(part));
}

/// The limit of (D^t)(sink, node) of a node that keeps what it gets.
double signal_in_the_limit(const MirroredMatrix& diffusion, int node) {
  const ConstMatrixView lower = diffusion.view();
  std::vector<double> reaches(static_cast<std::size_t>(lower.rows), 0.0);
  reaches[static_cast<std::size_t>(node)] = 1.0;
  for (int i = node + 1; i < lower.rows; ++i) {
    const double passed = total(lower.row(i), i);
    if (passed > 0.0)
      reaches[static_cast<std::size_t>(i)] = dot(lower.row(i), reaches.data(), i) / passed;
  }
  return reaches.back();
}

}  // namespace

CrossHeadShare::CrossHeadShare(const std::vector<double>& weights, const Matrix& by_row, int node,
                               double time, double whole, const Execution& execution)
    : weights_(weights),
      by_row_(by_row),
      node_(node),
      time_(time),
      whole_(whole),
      execution_(execution) {
  const auto heads =
      std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; });
  if (!(whole > 0.0))
    share_ = std::numeric_limits<double>::quiet_NaN();
  else if (heads == 1 || time <= 1.0)
    share_ = 0.0;  // there is nothing to change to, or no step to do it in
  else if (std::isinf(time) && by_row.rows() == 0)
    share_ = 1.0;  // in the limit no path has stayed in one head
}

void CrossHeadShare::add_by_row(int h, const MirroredMatrix& diffusion) {
  double least_loss = 1.0;  // 1 - w_h, of the row that keeps most in this head
  for (int i = node_; i < by_row_.cols(); ++i) {
    double others = 0.0;
    for (int g = 0; g < by_row_.rows(); ++g)
      if (g != h) others += by_row_(g, i);
    least_loss = std::min(least_loss, others);
  }
  if (time_ * std::log1p(-least_loss) < std::log(whole_) + kLost) return;
  const MirroredMatrix part = with_lost_mass(diffusion, by_row_, h);
  if (!std::isinf(time_))
    pure_ += signal_after(part, time_, node_ + 1, execution_);
  else if (part.view()(node_ + 1, node_ + 1) == 1.0)
    pure_ += signal_in_the_limit(part, node_ + 1);
}

/// log(w_h^t) where that part of the signal matters.
std::optional<double> CrossHeadShare::stays(int h) const {
  const double weight = weights_[static_cast<std::size_t>(h)];
  if (share_ || !(weight > 0.0)) return std::nullopt;
  // Of a weight near one the complement has the digits that w^t needs.
  double others = 0.0;
  for (std::size_t g = 0; g < weights_.size(); ++g)
    if (g != static_cast<std::size_t>(h)) others += weights_[g];
  const double stays =
      time_ * (others < 0.5 ? std::log1p(-others / (weight + others)) : std::log(weight));
  // A part that is lost in the rounding of the whole need not be followed.
  if (stays < std::log(whole_) + kLost) return std::nullopt;
  return stays;
}

void CrossHeadShare::add(int h, const MirroredMatrix& diffusion) {
  if (!share_ && by_row_.rows() > 0) return add_by_row(h, diffusion);
  if (const auto stay = stays(h))
    pure_ += std::exp(*stay) * signal_after(diffusion, time_, node_, execution_);
}

void CrossHeadShare::add_signal(int h, double signal) {
  if (const auto stay = stays(h)) pure_ += std::exp(*stay) * signal;
}

std::optional<double> CrossHeadShare::share_within(double part) const {
  if (share_) return share_;
  if (!(pure_ <= part * whole_)) return std::nullopt;
  return 1.0 - pure_ / whole_;
}

double CrossHeadShare::share(const MirroredHeads& heads) const {
  if (const auto known = share_within(0.5)) return *known;  // no digit is lost
  if (std::isinf(time_)) return std::max(0.0, 1.0 - pure_ / whole_);
  const double kept = 4.0 * time_ * (heads(0).nodes() - node_);
  if (time_ <= kMostSharedSteps && kept <= kMostKept)
    return share_by_first_change(heads, weights_, by_row_, node_, static_cast<int>(time_));
  return by_row_.rows() > 0
             ? share_by_row_powers(heads, weights_, by_row_, node_, time_, execution_)
             : share_by_powers(heads, weights_, node_, time_, execution_);
}

}  // namespace synergraph
