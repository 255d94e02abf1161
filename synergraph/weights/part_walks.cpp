#include "synergraph/weights/part_walks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/chain/hitting.h"
#include "synergraph/core/array_math.h"
#include "synergraph/weights/corner_pairs.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;
// Longer cutoffs are bounded by the choice at every node alone: all their times would be kept.
constexpr std::int64_t kMostWalkSteps = 2000;

double mean_of(const Vector& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

}  // namespace

std::vector<std::vector<double>> PartWalks::rows(std::int64_t cutoff) const {
  const int n = nodes();
  const auto size = static_cast<std::size_t>(n);
  std::vector<Vector> rows;
  const auto unbounded = [](const Vector& row) {
    return !std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); });
  };
  const auto add_first_step = [&](const Vector& later) {
    if (!linear()) return;
    Vector row(corners(), 0.0);
    for (std::size_t k = 0; k < row.size(); ++k)
      for (int j = 0; j + 1 < n; ++j) row[k] += (1.0 + step(k, j, later.data())) / n;
    rows.push_back(paired(row));
  };
  if (cutoff == 0) {
    Vector low(size, 0.0);
    Vector high(size, 0.0);
    for (int j = n - 2; j >= 0; --j) {
      low[static_cast<std::size_t>(j)] = least_time(j, low.data());
      high[static_cast<std::size_t>(j)] = most_time(j, high.data());
    }
    rows.emplace_back(pair_count(corners()), mean_of(low));
    if (!std::isfinite(mean_of(low))) return rows;
    add_first_step(low);
    if (std::isfinite(mean_of(high))) rows.push_back(paired(difference(low, high)));
    add_planes(cutoff, rows);
    std::erase_if(rows, unbounded);
    return rows;
  }
  // Times with m steps to go, from the first node to the last: a row needs only what has not been
  // replaced. They never fall with m, so those that no longer change are the last.
  std::vector<Vector> low(1, Vector(size, 0.0));
  std::vector<Vector> high = low;
  for (std::int64_t m = 1; m <= cutoff; ++m) {
    Vector down = low.back();
    Vector up = high.back();
    for (int j = 0; j + 1 < n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      down[at] = std::max(down[at], 1.0 + least(j, down.data()));
      up[at] = std::min(static_cast<double>(m), std::max(up[at], 1.0 + most(j, up.data())));
    }
    const bool same = down == low.back() && up == high.back();
    if (cutoff > kMostWalkSteps) {
      low.clear();
      high.clear();
    }
    low.push_back(std::move(down));
    high.push_back(std::move(up));
    if (same) break;
  }
  rows.emplace_back(pair_count(corners()), mean_of(low.back()));
  if (cutoff > kMostWalkSteps || n < 2) return rows;
  const auto before = std::min(low.size() - 1, static_cast<std::size_t>(cutoff - 1));
  add_first_step(low[before]);
  rows.push_back(paired(truncated_difference(low, high, cutoff)));
  add_planes(cutoff, rows);
  std::erase_if(rows, unbounded);
  return rows;
}

/// With Q the walk among the sources, u_s = uniform Q^s at the centre and S_m(i) = E[min(T_i, m)],
/// the mean time is that of the centre plus the sum over s < M of u_s (P - centre) S_{M-1-s}.
PartWalks::Vector PartWalks::truncated_difference(const std::vector<Vector>& low,
                                                  const std::vector<Vector>& high,
                                                  std::int64_t cutoff) const {
  const int n = nodes();
  const auto size = static_cast<std::size_t>(n);
  Vector row(corners(), truncated_hitting_times(centre_, cutoff).mean);
  Vector visits(size, 1.0 / n);  // of the sources, at time s
  visits[static_cast<std::size_t>(n - 1)] = 0.0;
  Vector next(size);
  Vector sum(size, 0.0);  // of visits while the times are the same
  std::vector<Vector> change(corners(), Vector(size, 0.0));
  const auto at = [&](std::int64_t m) {
    return static_cast<std::size_t>(
        std::min<std::int64_t>(m, static_cast<std::int64_t>(low.size()) - 1));
  };
  for (std::int64_t s = 0; s + 1 < cutoff; ++s) {
    for (std::size_t j = 0; j < size; ++j) sum[j] += visits[j];
    const std::size_t now = at(cutoff - 1 - s);
    std::fill(next.begin(), next.end(), 0.0);
    for (int j = 0; j + 1 < n; ++j)
      add_scaled(centre_.step.row(j) + j, visits[static_cast<std::size_t>(j)], n - j,
                 next.data() + j);
    next[static_cast<std::size_t>(n - 1)] = 0.0;
    std::swap(visits, next);
    const bool last = s + 2 == cutoff;
    // What still walks after this changes no time by more than its share of the cutoff.
    const double left =
        total(visits.data(), n) * static_cast<double>(cutoff - s) * static_cast<double>(cutoff);
    const bool over = left < 1e-18;
    if (now == at(cutoff - 2 - s) && !last && !over) continue;
    changes(low[now], high[now], change);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] += dot(sum.data(), change[k].data(), n);
    std::fill(sum.begin(), sum.end(), 0.0);
    if (over && !last) {
      for (double& value : row) value -= left;
      break;
    }
  }
  return row;
}

/// The same without a cutoff: visits of the centre times (P - centre) S.
PartWalks::Vector PartWalks::difference(const Vector& low, const Vector& high) const {
  const int n = nodes();
  const auto size = static_cast<std::size_t>(n);
  std::vector<Vector> change(corners(), Vector(size, 0.0));
  changes(low, high, change);
  Vector row(corners(), hitting_times(centre_).mean);
  Vector arrival(size, 1.0 / n);
  Vector visits(size, 0.0);
  for (int j = 0; j + 1 < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    visits[at] = arrival[at] / centre_.leave[at];
    add_scaled(centre_.step.row(j) + j + 1, visits[at], n - j - 1, arrival.data() + j + 1);
  }
  for (std::size_t k = 0; k < row.size(); ++k) row[k] += dot(visits.data(), change[k].data(), n);
  return row;
}

}  // namespace synergraph
