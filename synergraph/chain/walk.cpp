#include "synergraph/chain/walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/simd.h"
#include "synergraph/core/triangular.h"

namespace synergraph {
namespace {

/// Makes row j, with any non-negative entries from the diagonal on, a probability distribution.
void normalise_row(Walk& walk, int j) {
  const int n = walk.nodes();
  double* row = walk.step.row(j);
  const double forward = total(row + j + 1, n - j - 1);
  const double mass = row[j] + forward;
  if (!(mass > 0.0)) {  // no way out, no way to stay: it stays
    row[j] = 1.0;
    walk.leave[static_cast<std::size_t>(j)] = 0.0;
    return;
  }
  const double scale = 1.0 / mass;
  for (int i = j; i < n; ++i) row[i] *= scale;
  walk.leave[static_cast<std::size_t>(j)] = forward / mass;
}

void make_sink_absorbing(Walk& walk) {
  walk.step(walk.sink(), walk.sink()) = 1.0;
  walk.leave[static_cast<std::size_t>(walk.sink())] = 0.0;
}

Walk empty_walk(int nodes) {
  return {Matrix(nodes, nodes), std::vector<double>(static_cast<std::size_t>(nodes), 0.0)};
}

/// A walk whose row j is column j of the attention matrix, from the diagonal on, not normalised
/// yet.
Walk columns_as_rows(ConstMatrixView attention) {
  Walk walk = empty_walk(attention.rows);
  transpose_lower(attention, walk.step.view());
  return walk;
}

}  // namespace

Walk walk_of_graph(const FeedforwardGraph& graph) {
  Walk walk = empty_walk(graph.nodes());
  for (const Edge& edge : graph.edges()) walk.step(edge.from, edge.to) = edge.weight;
  for (int j = 0; j < walk.sink(); ++j) normalise_row(walk, j);
  make_sink_absorbing(walk);
  return walk;
}

Walk walk_of_attention(ConstMatrixView attention) {
  Walk walk = columns_as_rows(attention);
  for (int j = 0; j < walk.sink(); ++j) normalise_row(walk, j);
  make_sink_absorbing(walk);
  return walk;
}

Walk published_walk(ConstMatrixView attention) {
  Walk walk = columns_as_rows(attention);
  const int sink = walk.sink();
  for (int j = 0; j < sink; ++j) {
    double* row = walk.step.row(j);
    double sum = 0.0;  // of the entries so far, as they are
    double leave = 0.0;
    for (int i = j; i <= sink; ++i) {
      const double entry = row[i];
      // What this entry adds to min(1, sum): all of it, or what is left below one.
      const double room = std::max(0.0, 1.0 - sum);
      row[i] = std::min(entry, room);
      sum += entry;
      if (i > j) leave += row[i];
    }
    const double missing = std::max(0.0, 1.0 - sum);
    row[sink] += missing;
    walk.leave[static_cast<std::size_t>(j)] = leave + missing;
  }
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
    normalise_row(walk, j);
  }
  return walk;
}

Walk combine_walks(const std::vector<const Walk*>& walks, const std::vector<double>& weights) {
  const int n = walks.front()->nodes();
  Walk combined = empty_walk(n);
  for (std::size_t h = 0; h < walks.size(); ++h) {
    const double weight = weights[h];
    for (int j = 0; j < n; ++j) {
      const double* from = walks[h]->step.row(j);
      double* to = combined.step.row(j);
      for (int i = j; i < n; ++i) to[i] += weight * from[i];
      combined.leave[static_cast<std::size_t>(j)] +=
          weight * walks[h]->leave[static_cast<std::size_t>(j)];
    }
  }
  for (int j = 0; j < n; ++j)
    if (combined.leave[static_cast<std::size_t>(j)] == 0.0) combined.step(j, j) = 1.0;
  return combined;
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
