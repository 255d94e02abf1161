#include "synergraph/chain/walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/core/simd.h"
#include "synergraph/core/triangular.h"

namespace synergraph {
namespace {

void normalise_row(Walk& walk, int j, const double* weights);

/// Weights whose sum, or its reciprocal, may be no number.
[[gnu::noinline, gnu::cold]] void normalise_extreme_row(Walk& walk, int j, const double* weights) {
  double* row = walk.step.row(j) + j;
  scale_to_safe_range(weights, walk.nodes() - j, row);
  normalise_row(walk, j, row);
}

/// Row j of a walk as a probability distribution in proportion to `weights`, its non-negative
/// weights from the diagonal on: weights[i - j] for the step to i. They may be the row itself.
void normalise_row(Walk& walk, int j, const double* weights) {
  const int moves = walk.sink() - j;
  double* row = walk.step.row(j) + j;
  const double forward = total(weights + 1, moves);
  const double mass = weights[0] + forward;
  if (!in_safe_range(mass) && mass > 0.0) return normalise_extreme_row(walk, j, weights);
  walk.leave[static_cast<std::size_t>(j)] = forward > 0.0 ? forward / mass : 0.0;
  const double scale = forward > 0.0 ? 1.0 / mass : 0.0;
  for (int i = 0; i <= moves; ++i) row[i] = weights[i] * scale;
  if (!(forward > 0.0)) row[0] = 1.0;  // no way out: it stays, exactly
}

/// Row j of the published walk from the attention to j: weights[i - j] is A[i][j].
void cut_row(Walk& walk, int j, const double* weights) {
  const int moves = walk.sink() - j;
  double* row = walk.step.row(j) + j;
  // Blocks that end below one in sum are taken as they are; in the block that reaches one, each
  // entry adds to min(1, sum) all of it, or what is left below one.
  constexpr int kBlock = 2 * kLanes;
  double sum = 0.0;
  int i = 0;
  for (; i + kBlock <= moves + 1; i += kBlock) {
    const Vec low = load(weights + i);
    const Vec high = load(weights + i + kLanes);
    const double with = sum + synergraph::sum(low + high);
    if (!(with < 1.0)) break;
    store(row + i, low);
    store(row + i + kLanes, high);
    sum = with;
  }
  for (; i <= moves && sum < 1.0; ++i) {
    row[i] = std::min(weights[i], 1.0 - sum);
    sum += weights[i];
  }
  std::fill(row + i, row + moves + 1, 0.0);
  const double missing = std::max(0.0, 1.0 - sum);
  walk.leave[static_cast<std::size_t>(j)] = total(row + 1, moves) + missing;
  row[moves] += missing;
}

void make_sink_absorbing(Walk& walk) {
  walk.step(walk.sink(), walk.sink()) = 1.0;
  walk.leave[static_cast<std::size_t>(walk.sink())] = 0.0;
}

Walk empty_walk(int nodes) {
  return {Matrix(nodes, nodes), std::vector<double>(static_cast<std::size_t>(nodes), 0.0)};
}

/// A walk whose entries on and above the diagonal are not set yet.
Walk blank_walk(int nodes) {
  Walk walk{Matrix::uninitialised(nodes, nodes),
            std::vector<double>(static_cast<std::size_t>(nodes))};
  for (int j = 0; j < nodes; ++j) std::fill_n(walk.step.row(j), j, 0.0);
  return walk;
}

}  // namespace

Walk walk_of_graph(const FeedforwardGraph& graph) {
  Walk walk = empty_walk(graph.nodes());
  for (const Edge& edge : graph.edges()) walk.step(edge.from, edge.to) = edge.weight;
  for (int j = 0; j < walk.sink(); ++j) normalise_row(walk, j, walk.step.row(j) + j);
  make_sink_absorbing(walk);
  return walk;
}

Walk walk_of_columns(const MirroredMatrix& attention) {
  const ConstMatrixView columns = attention.view();
  Walk walk = blank_walk(columns.rows);
  for (int j = 0; j < walk.sink(); ++j) normalise_row(walk, j, columns.row(j) + j);
  make_sink_absorbing(walk);
  return walk;
}

Walk published_walk_of_columns(const MirroredMatrix& attention) {
  const ConstMatrixView columns = attention.view();
  Walk walk = blank_walk(columns.rows);
  for (int j = 0; j < walk.sink(); ++j) cut_row(walk, j, columns.row(j) + j);
  make_sink_absorbing(walk);
  return walk;
}

Walk walk_of_attention(ConstMatrixView attention) {
  Walk walk = blank_walk(attention.rows);
  transpose_lower(attention, walk.step.view());
  for (int j = 0; j < walk.sink(); ++j) normalise_row(walk, j, walk.step.row(j) + j);
  make_sink_absorbing(walk);
  return walk;
}

Walk published_walk(ConstMatrixView attention) {
  Walk walk = blank_walk(attention.rows);
  transpose_lower(attention, walk.step.view());
  for (int j = 0; j < walk.sink(); ++j) cut_row(walk, j, walk.step.row(j) + j);
  make_sink_absorbing(walk);
  return walk;
}

Walk walk_of_rows(ConstMatrixView rows) {
  if (rows.rows != rows.cols || rows.rows < 1)
    throw InputError(
        fmt::format("walk: expected a square matrix, got {} x {}", rows.rows, rows.cols));
  Walk walk = empty_walk(rows.rows);
  for (int j = 0; j < rows.rows; ++j) {
    double sum = 0.0;
    for (int i = 0; i < rows.cols; ++i) {
      const double entry = rows(j, i);
      if (!std::isfinite(entry) || entry < 0.0 || (i < j && entry != 0.0))
        throw InputError(
            fmt::format("walk: entry {} in row {}, column {} is not a probability of a "
                        "step forward",
                        entry, j, i));
      walk.step(j, i) = entry;
      sum += entry;
    }
    constexpr double kRowTolerance = 1e-9;
    if (std::abs(sum - 1.0) > kRowTolerance)
      throw InputError(
          fmt::format("walk: row {} sums to {}, expected 1 within {}", j, sum, kRowTolerance));
    normalise_row(walk, j, walk.step.row(j) + j);
  }
  return walk;
}

WalkSum::WalkSum(int nodes)
    : step_(nodes, nodes, ConvexSum::Part::kUpper), leave_(1, nodes, ConvexSum::Part::kWhole) {}

void WalkSum::add(const Walk& walk, double weight) {
  const int n = walk.nodes();
  step_.add(walk.step, weight);
  leave_.add({walk.leave.data(), 1, n, n}, weight);
}

Walk WalkSum::take() {
  Walk walk{step_.take(), {}};
  const Matrix leave = leave_.take();
  walk.leave.assign(leave.row(0), leave.row(0) + leave.cols());
  return walk;
}

Walk combine_walks(const std::vector<const Walk*>& walks, const std::vector<double>& weights) {
  WalkSum sum(walks.front()->nodes());
  for (std::size_t h = 0; h < walks.size(); ++h) sum.add(*walks[h], weights[h]);
  return sum.take();
}

std::vector<bool> reaches_sink(const Walk& walk) {
  std::vector<bool> reaches(static_cast<std::size_t>(walk.nodes()), false);
  reaches[static_cast<std::size_t>(walk.sink())] = true;
  for (int j = walk.sink() - 1; j >= 0; --j) {
    const double* row = walk.step.row(j);
    for (int i = walk.sink(); i > j && !reaches[static_cast<std::size_t>(j)]; --i)
      reaches[static_cast<std::size_t>(j)] = row[i] > 0.0 && reaches[static_cast<std::size_t>(i)];
  }
  return reaches;
}

}  // namespace synergraph
