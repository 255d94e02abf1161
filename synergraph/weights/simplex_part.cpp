#include "synergraph/weights/simplex_part.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synergraph/weights/corner_pairs.h"

namespace synergraph {

using Vector = std::vector<double>;

std::vector<double> Part::weights_at(const std::vector<double>& of_corners) const {
  Vector weights(corners.front().size(), 0.0);
  for (std::size_t k = 0; k < corners.size(); ++k)
    for (std::size_t h = 0; h < weights.size(); ++h) weights[h] += of_corners[k] * corners[k][h];
  return weights;
}

Part whole_simplex(const std::vector<double>& centre) {
  Part whole;
  for (std::size_t h = 0; h < centre.size(); ++h) {
    whole.corners.emplace_back(centre.size(), 0.0);
    whole.corners.back()[h] = 1.0;
  }
  whole.centre = whole.shares = centre;
  return whole;
}

std::pair<Part, Part> halves(const Part& part, Near near) {
  const std::size_t count = part.corners.size();
  const auto length = [&](std::size_t i, std::size_t k) {
    double sum = 0.0;
    for (std::size_t h = 0; h < count; ++h)
      sum += std::pow(part.corners[i][h] - part.corners[k][h], 2.0);
    return sum;
  };
  std::size_t a = 0;
  std::size_t b = 1;
  double most = -1.0;
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < k; ++i) {
      const double one = part.shares[i] + 0.01;
      const double other = part.shares[k] + 0.01;
      // At times the longest edge itself, so that all become short.
      const double factor = part.cuts % 4 == 3      ? 1.0
                            : near == Near::kOneEnd ? std::max(one, other)
                                                    : one + other;
      const double score = factor * length(i, k);
      if (score > most * (1.0 + 1e-9)) {
        most = score;
        a = i;
        b = k;
      }
    }
  std::pair<Part, Part> result{part, part};
  Vector middle = part.corners[a];
  for (std::size_t h = 0; h < middle.size(); ++h)
    middle[h] = 0.5 * (middle[h] + part.corners[b][h]);
  ++result.first.cuts;
  ++result.second.cuts;
  result.first.corners[a] = middle;
  result.second.corners[b] = middle;
  // The half that has the centre keeps it: a b_a + b b_b = m (2 b_a) + b (b_b - b_a). The other
  // takes the middle of its corners.
  const auto shift = [&](Part& half, std::size_t from, std::size_t to) {
    if (part.centre[to] >= part.centre[from]) {
      half.centre[to] -= half.centre[from];
      half.centre[from] *= 2.0;
    } else {
      half.centre.assign(half.centre.size(), 1.0 / static_cast<double>(half.centre.size()));
    }
  };
  shift(result.first, a, b);
  shift(result.second, b, a);
  return result;
}

std::vector<Part> fan(const Part& part) {
  std::vector<Part> parts;
  const Vector centre = part.weights_at(part.centre);
  for (std::size_t k = 0; k < part.corners.size(); ++k) {
    if (part.centre[k] == 0.0) continue;
    parts.push_back(part);
    parts.back().corners[k] = centre;
    parts.back().centre.assign(part.corners.size(), 0.0);
    parts.back().centre[k] = 1.0;
  }
  return parts;
}

// Any convex combination of the rows of each group bounds the game by the largest entry of their
// mean. Columns, pairs of corners, are taken in as they turn out to be the largest.
void bound_by_rows(Part& part, const std::vector<WeightPiece>& rows, std::size_t groups) {
  constexpr int kRounds = 8;
  const std::size_t corners = part.corners.size();
  const std::size_t columns = pair_count(corners);
  std::vector<std::size_t> taken;
  for (std::size_t k = 0; k < corners; ++k) taken.push_back(pair_index(k, k));
  part.nodes.assign(groups, {});
  for (int round = 0; round < kRounds; ++round) {
    const double share = 1.0 / static_cast<double>(taken.size());
    std::vector<WeightPiece> some = rows;
    for (std::size_t p = 0; p < rows.size(); ++p) {
      some[p].slope.clear();
      for (const std::size_t c : taken) some[p].slope.push_back(rows[p].slope[c]);
      some[p].value = share * std::accumulate(some[p].slope.begin(), some[p].slope.end(), 0.0);
    }
    const auto size = static_cast<int>(taken.size());
    const ModelStep step =
        best_step(some, groups, Vector(taken.size(), -share), Matrix(size, size));
    Vector sums(groups, 0.0);
    for (std::size_t p = 0; p < rows.size(); ++p)
      sums[rows[p].group] += std::max(0.0, step.multiplier[p]);
    Vector mean(columns, 0.0);
    std::vector<std::vector<int>> nodes(groups);
    for (std::size_t p = 0; p < rows.size(); ++p) {
      const double of_group = std::max(0.0, step.multiplier[p]) / sums[rows[p].group];
      for (std::size_t c = 0; c < columns; ++c)
        mean[c] += of_group * rows[p].slope[c] / static_cast<double>(groups);
      std::vector<int>& list = nodes[rows[p].group];
      if (of_group > 0.01 && rows[p].node >= 0 &&
          std::find(list.begin(), list.end(), rows[p].node) == list.end())
        list.push_back(rows[p].node);
    }
    const auto largest = std::max_element(mean.begin(), mean.end());
    if (std::isnan(std::accumulate(mean.begin(), mean.end(), 0.0))) return;
    part.bound = std::min(part.bound, *largest);
    part.nodes = std::move(nodes);
    part.shares.assign(corners, 0.0);
    for (std::size_t c = 0; c < taken.size(); ++c) {
      const auto [k, l] = pair_at(taken[c]);
      part.shares[k] += 0.5 * std::max(0.0, share + step.step[c]);
      part.shares[l] += 0.5 * std::max(0.0, share + step.step[c]);
    }
    // The largest columns that are not in yet.
    std::vector<std::size_t> more;
    for (std::size_t c = 0; c < columns; ++c)
      if (mean[c] > step.value + 1e-6 * std::abs(step.value) &&
          std::find(taken.begin(), taken.end(), c) == taken.end())
        more.push_back(c);
    if (more.empty()) break;
    std::sort(more.begin(), more.end(), [&](std::size_t a, std::size_t b) {
      return mean[a] > mean[b] || (mean[a] == mean[b] && a < b);
    });
    more.resize(std::min(more.size(), 2 * corners));
    taken.insert(taken.end(), more.begin(), more.end());
  }
}

}  // namespace synergraph
