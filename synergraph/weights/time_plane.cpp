#include "synergraph/weights/time_plane.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synergraph/core/array_math.h"
#include "synergraph/core/matrix.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

class Planes {
 public:
  Planes(std::span<const Walk> corners, std::span<const Vector> masses,
         std::span<const double> shares, Vector give)
      : corners_(corners),
        masses_(masses),
        shares_(shares),
        give_(std::move(give)),
        count_(static_cast<int>(corners.size())),
        nodes_(corners.front().nodes()),
        plane_(count_, nodes_),
        gain_(count_, count_) {}

  /// Without a cutoff. False where times are infinite.
  bool solve();
  /// One more step to go; false where there is no plane.
  bool step();
  /// Means over the nodes.
  Vector means() const {
    Vector result;
    for (int k = 0; k < count_; ++k) result.push_back(total(plane_.row(k), nodes_) / nodes_);
    return result;
  }

 private:
  double mass(int k, int j) const {
    return masses_.empty() ? 1.0
                           : masses_[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)];
  }
  bool touch(int j, const Vector& p, Vector& x) const;

  std::span<const Walk> corners_;
  std::span<const Vector> masses_;
  std::span<const double> shares_;
  Vector give_;  // how readily a corner is lowered
  int count_;
  int nodes_;
  Matrix plane_;  // a_k, a row a corner
  Matrix gain_;   // 1 + what a step of corner k gives of plane l
};

/// The values at node j; false where there is no plane.
bool Planes::touch(int j, const Vector& p, Vector& x) const {
  const auto limit = [&](int k, int l) {
    return mass(k, j) * gain_(k, l) + mass(l, j) * gain_(l, k);
  };
  // sum_l b_l (c_kl - p_k x_l - p_l x_k) = 0 for all k.
  double p_mean = 0.0;
  double c_mean = 0.0;
  for (int k = 0; k < count_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    p_mean += shares_[at] * p[at];
    x[at] = 0.0;
    for (int l = 0; l < count_; ++l) x[at] += shares_[static_cast<std::size_t>(l)] * limit(k, l);
    c_mean += shares_[at] * x[at];
  }
  if (!(p_mean > 0.0)) return false;
  const double x_mean = 0.5 * c_mean / p_mean;
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = (x[k] - p[k] * x_mean) / p_mean;
  // What is lowered breaks no other pair.
  for (int k = 0; k < count_; ++k)
    for (int l = 0; l <= k; ++l) {
      const auto a = static_cast<std::size_t>(k);
      const auto b = static_cast<std::size_t>(l);
      const double above = p[a] * x[b] + p[b] * x[a] - limit(k, l);
      const double effect = p[b] * give_[a] + p[a] * give_[b];
      if (!(above > 0.0) || !(effect > 0.0)) continue;
      x[a] -= above * give_[a] / effect;
      if (k != l) x[b] -= above * give_[b] / effect;
    }
  return true;
}

bool Planes::solve() {
  Vector p(corners_.size());
  Vector x(corners_.size());
  for (int j = nodes_ - 2; j >= 0; --j) {
    for (int k = 0; k < count_; ++k) {
      const Walk& walk = corners_[static_cast<std::size_t>(k)];
      p[static_cast<std::size_t>(k)] = mass(k, j) * walk.leave[static_cast<std::size_t>(j)];
      for (int l = 0; l < count_; ++l)
        gain_(k, l) = 1.0 + dot(walk.step.row(j) + j + 1, plane_.row(l) + j + 1, nodes_ - j - 1);
    }
    if (!touch(j, p, x)) return false;
    for (int k = 0; k < count_; ++k) plane_(k, j) = x[static_cast<std::size_t>(k)];
  }
  return true;
}

bool Planes::step() {
  Vector p(corners_.size());
  Vector x(corners_.size());
  // From the first node to the last: a row needs only what has not been replaced.
  for (int j = 0; j + 1 < nodes_; ++j) {
    double heaviest = 0.0;
    for (int k = 0; k < count_; ++k) {
      heaviest = std::max(heaviest, p[static_cast<std::size_t>(k)] = mass(k, j));
      for (int l = 0; l < count_; ++l)
        gain_(k, l) = 1.0 + dot(corners_[static_cast<std::size_t>(k)].step.row(j) + j,
                                plane_.row(l) + j, nodes_ - j);
    }
    if (heaviest > 0.0 && !touch(j, p, x)) return false;
    // Where nobody attends to the node, it stays.
    for (int k = 0; k < count_; ++k) {
      double& value = x[static_cast<std::size_t>(k)];
      const double stays = 1.0 + plane_(k, j);
      if (heaviest == 0.0)
        value = stays;
      else if (mass(k, j) == 0.0)
        value = std::min(value, stays);
      plane_(k, j) = value;
    }
  }
  return true;
}

Vector one_plane(std::span<const Walk> corners, std::span<const Vector> masses,
                 std::span<const double> shares, Vector give, std::int64_t cutoff) {
  Planes planes(corners, masses, shares, std::move(give));
  if (cutoff == 0 && !planes.solve()) return {};
  for (std::int64_t m = 0; m < cutoff; ++m)
    if (!planes.step()) return {};
  Vector means = planes.means();
  for (const double mean : means)
    if (!std::isfinite(mean)) return {};
  return means;
}

}  // namespace

std::vector<double> time_plane(std::span<const Walk> corners,
                               std::span<const std::vector<double>> masses,
                               std::span<const double> shares, std::int64_t cutoff) {
  // Corners that are high above the lowest can be lowered at no cost: which ones, the times that
  // are not cut tell soon enough.
  Vector give(corners.size(), 1.0);
  Vector first = one_plane(corners, masses, shares, give, 0);
  if (!first.empty()) {
    const auto [low, high] = std::minmax_element(first.begin(), first.end());
    for (std::size_t k = 0; k < give.size(); ++k)
      give[k] = first[k] - *low + 0.03 * (*high - *low) + 1e-300;
  }
  Vector plane = one_plane(corners, masses, shares, give, cutoff);
  if (cutoff > 0 || first.empty() || plane.empty()) return plane;
  const auto least = [](const Vector& a) { return *std::min_element(a.begin(), a.end()); };
  return least(plane) > least(first) ? plane : first;
}

}  // namespace synergraph
