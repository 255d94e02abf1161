#include "synergraph/weights/part_signals.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "synergraph/core/array_math.h"
#include "synergraph/core/triangular.h"
#include "synergraph/weights/corner_pairs.h"
#include "synergraph/weights/policy.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;
constexpr double kRounding = 1e-13;
// Steps that are followed in a part; later ones are covered by what can still arrive.
constexpr int kMostSteps = 200;

double largest_of(const Vector& a) {
  return *std::max_element(a.begin(), a.end());
}

Vector last_column(const Matrix& values) {
  Vector column;
  for (int k = 0; k < values.rows(); ++k) column.push_back(values(k, values.cols() - 1));
  return column;
}

/// The signal at the centre, and what the corners make of it: r_s D_k - r_{s+1}.
class CentreSignal {
 public:
  CentreSignal(std::span<const ConstMatrixView> corners, ConstMatrixView centre)
      : corners_(corners), centre_(centre), signal_(1, Vector(size(), 0.0)) {
    signal_[0].back() = 1.0;
  }

  const Vector& signal(int t) {
    while (static_cast<int>(signal_.size()) <= t) {
      Vector next(size());
      multiply_upper(centre_, signal_.back().data(), next.data(), 1);
      signal_.push_back(std::move(next));
    }
    return signal_[static_cast<std::size_t>(t)];
  }

  /// For corner k: its changes, and their absolute values.
  struct Change {
    Vector by, size;
  };
  const std::vector<Change>& changes(int s) {
    while (static_cast<int>(changes_.size()) <= s) {
      const int at = static_cast<int>(changes_.size());
      signal(at + 1);
      std::vector<Change> all;
      for (const ConstMatrixView& corner : corners_) {
        Change change{Vector(size()), Vector(size())};
        multiply_upper(corner, signal(at).data(), change.by.data(), 1);
        for (std::size_t i = 0; i < size(); ++i) {
          change.by[i] -= signal_[static_cast<std::size_t>(at) + 1][i];
          change.size[i] = std::abs(change.by[i]);
        }
        all.push_back(std::move(change));
      }
      changes_.push_back(std::move(all));
    }
    return changes_[static_cast<std::size_t>(s)];
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(centre_.rows); }

  std::span<const ConstMatrixView> corners_;
  ConstMatrixView centre_;
  std::vector<Vector> signal_;
  std::vector<std::vector<Change>> changes_;
};

/// The rows of one node.
class NodeRows {
 public:
  NodeRows(std::span<const ConstMatrixView> corners, CentreSignal& centre, int node,
           const FidelityOptions& options)
      : corners_(corners), centre_(centre), node_(node), options_(options) {}

  void follow();
  Vector by_policy() const;
  Vector by_difference();

 private:
  Vector difference(int t);
  Vector second_step(const Matrix& values) const;
  static void raise(Vector& to, const Vector& by) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = std::max(to[k], by[k]);
  }

  std::span<const ConstMatrixView> corners_;
  CentreSignal& centre_;
  int node_;
  const FidelityOptions& options_;
  std::vector<Vector> middle_, radius_;  // of D^m e_node, from `node` on
  std::vector<Vector> policy_;           // of every time from 1 on, by pairs
  Vector tail_;                          // of all later times, by pairs
  double here_ = 0.0;                    // the largest signal at the centre
};

/// (D_k D_l x)(sink) from the values (D_l x)(i), both ways round.
Vector NodeRows::second_step(const Matrix& values) const {
  const int count = values.cols() - node_;
  Vector pairs;
  for (int l = 0; l < values.rows(); ++l)
    for (int k = 0; k <= l; ++k) {
      const auto row = [&](int c) {
        return corners_[static_cast<std::size_t>(c)].row(values.cols() - 1) + node_;
      };
      const double there = dot(row(k), values.row(l) + node_, count);
      pairs.push_back(k == l ? there : 0.5 * (there + dot(row(l), values.row(k) + node_, count)));
    }
  return pairs;
}

void NodeRows::follow() {
  const auto size = static_cast<std::size_t>(corners_.front().rows);
  const auto from = static_cast<std::size_t>(node_);
  Vector most(size, 0.0);
  most[from] = 1.0;
  Vector least = most;
  Vector later = passing_bounds(corners_, node_).most;
  const bool fixed = options_.horizon > 0;
  const auto steps =
      static_cast<int>(fixed ? std::min<std::int64_t>(options_.horizon, kMostSteps) : kMostSteps);
  Matrix values(static_cast<int>(corners_.size()), corners_.front().rows);
  Matrix late = values;
  for (int t = 1; t <= steps; ++t) {
    Vector middle, radius;
    for (std::size_t i = from; i < size; ++i) {
      middle.push_back(0.5 * (most[i] + least[i]));
      radius.push_back(0.5 * (most[i] - least[i]));
    }
    middle_.push_back(std::move(middle));
    radius_.push_back(std::move(radius));
    policy_.push_back(t == 1 ? Vector() : second_step(values));
    advance_most(corners_, node_, most, values);
    if (t == 1) policy_.front() = paired(last_column(values));
    advance_least(corners_, node_, least);
    here_ = std::max(here_, centre_.signal(t)[from]);
    if (t == options_.horizon) {
      tail_.assign(policy_.front().size(), 0.0);
      return;
    }
    advance_most(corners_, node_, later, late);
    tighten_later(node_, most, later);
    tail_ = paired(last_column(late));
    if (largest_of(tail_) <= here_ * (1.0 + kRounding)) return;
  }
}

Vector NodeRows::by_policy() const {
  Vector row = tail_;
  for (const Vector& policy : policy_) raise(row, policy);
  return row;
}

/// At time t, by the difference from the centre.
Vector NodeRows::difference(int t) {
  const auto from = static_cast<std::size_t>(node_);
  const auto count = static_cast<int>(middle_.front().size());
  Vector row(corners_.size(), centre_.signal(t)[from]);
  for (int s = 0; s < t; ++s) {
    const auto& changes = centre_.changes(s);
    const auto m = static_cast<std::size_t>(t - 1 - s);
    for (std::size_t k = 0; k < row.size(); ++k)
      row[k] += dot(changes[k].by.data() + from, middle_[m].data(), count) +
                dot(changes[k].size.data() + from, radius_[m].data(), count);
  }
  return row;
}

Vector NodeRows::by_difference() {
  Vector row = tail_;
  for (std::size_t at = 0; at < policy_.size(); ++at) {
    Vector bound = policy_[at];
    // Times that matter nowhere need no better bound; the first is known exactly.
    if (at > 0 && largest_of(bound) > here_) {
      const Vector better = difference(static_cast<int>(at) + 1);
      if (largest_of(better) < largest_of(bound)) bound = paired(better);
    }
    raise(row, bound);
  }
  return row;
}

/// Of a node that keeps all it gets: the chance V that the way back ends there. With A(i) the
/// chance that it comes through i and down(i) what i passes on, at the centre,
///   V(sink) = V_centre(sink) + sum_k b_k sum_i A(i) / down(i) sum_{l<i} (D_k - C)(i, l) (V(l) -
///   V(i)).
Vector passing_row(std::span<const ConstMatrixView> corners, ConstMatrixView centre, int node) {
  const int n = centre.rows;
  const PassingBounds passing = passing_bounds(corners, node);
  Vector middle, radius;
  for (std::size_t i = 0; i < passing.most.size(); ++i) {
    middle.push_back(0.5 * (passing.most[i] + passing.least[i]));
    radius.push_back(0.5 * (passing.most[i] - passing.least[i]));
  }
  Vector arrival(static_cast<std::size_t>(n), 0.0);
  arrival[static_cast<std::size_t>(n - 1)] = 1.0;
  Vector row(corners.size(), 0.0);
  for (int i = n - 1; i > node; --i) {
    const auto at = static_cast<std::size_t>(i);
    const double down = total(centre.row(i), i);
    if (!(down > 0.0) || arrival[at] == 0.0) continue;
    const double visits = arrival[at] / down;
    if (!std::isfinite(visits)) return Vector(corners.size(), passing.most.back());
    add_scaled(centre.row(i), visits, i, arrival.data());
    for (std::size_t k = 0; k < corners.size(); ++k) {
      double sum = 0.0;
      for (int l = 0; l < i; ++l) {
        const double by = corners[k](i, l) - centre(i, l);
        const auto to = static_cast<std::size_t>(l);
        sum += by * (middle[to] - middle[at]) + std::abs(by) * (radius[to] + radius[at]);
      }
      row[k] += visits * sum;
    }
  }
  for (double& value : row) value += arrival[static_cast<std::size_t>(node)];
  return row;
}

}  // namespace

std::vector<WeightPiece> signal_rows(std::span<const ConstMatrixView> corners,
                                     const MirroredMatrix& centre, std::span<const int> nodes,
                                     const FidelityOptions& options, std::size_t group) {
  std::vector<WeightPiece> rows;
  CentreSignal signal(corners, centre.view());
  for (const int node : nodes) {
    const bool keeps = !(total(centre.view().row(node), node) > 0.0);
    if (keeps && options.horizon == 0) {
      rows.push_back({group, 0.0, paired(passing_row(corners, centre.view(), node)), node});
      Vector passing = passing_bounds(corners, node).most;
      Matrix values(static_cast<int>(corners.size()), centre.nodes());
      advance_most(corners, node, passing, values);
      rows.push_back({group, 0.0, paired(last_column(values)), node});
      continue;
    }
    NodeRows of_node(corners, signal, node, options);
    of_node.follow();
    rows.push_back({group, 0.0, of_node.by_policy(), node});
    rows.push_back({group, 0.0, of_node.by_difference(), node});
  }
  return rows;
}

}  // namespace synergraph
