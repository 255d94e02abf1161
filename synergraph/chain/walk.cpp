#include "synergraph/chain/walk.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/core/triangular.h"

namespace synergraph {
namespace {

/// Rows [begin, end) in proportion to those of `weights`, from their diagonals on. They may be the
/// rows themselves.
void normalise_rows(Walk& walk, ConstMatrixView weights, int begin, int end) {
  const MatrixView step = walk.step.view();
  if (!kernels().normalise_rows(weights, step, walk.leave.data(), begin, end)) return;
  for (int j = begin; j < end; ++j) {
    if (walk.leave[static_cast<std::size_t>(j)] >= 0.0) continue;
    scale_to_safe_range(weights.row(j) + j, step.rows - j, step.row(j) + j);
    kernels().normalise_rows(step, step, walk.leave.data(), j, j + 1);
  }
}

void normalise_rows(Walk& walk, ConstMatrixView weights) {
  normalise_rows(walk, weights, 0, walk.nodes());
}

/// Row j of the published walk of a token that keeps most of its attention to itself: what is left
/// below one is the rest of its attention, to full precision. weight(i) is what i gives to j.
template <class Weight>
void cut_slow_row(Walk& walk, int j, double rest, Weight weight) {
  double* row = walk.step.row(j);
  double sum = 0.0;
  for (int i = j + 1; i < walk.nodes(); ++i) {
    row[i] = std::min(weight(i), std::max(0.0, rest - sum));
    sum += weight(i);
  }
  row[walk.sink()] += std::max(0.0, rest - sum);
  walk.leave[static_cast<std::size_t>(j)] = rest;
}

/// Rows of the published walk of an attention matrix; `weights` holds it transposed.
void cut_rows(Walk& walk, ConstMatrixView attention, ConstMatrixView weights) {
  kernels().cut_rows(weights, 1.0, walk.step.view(), walk.leave.data());
  for (int j = 0; j < walk.sink(); ++j) {
    if (!(attention(j, j) > 0.5)) continue;
    double rest = 0.0;
    for (int k = 0; k < j; ++k) rest += attention(j, k);
    constexpr double kRounding = 1e-12;
    if (std::abs(rest + attention(j, j) - 1.0) <= kRounding)  // otherwise 1 is all that is known
      cut_slow_row(walk, j, rest, [&](int i) { return attention(i, j); });
  }
}

void make_sink_absorbing(Walk& walk) {
  walk.step(walk.sink(), walk.sink()) = 1.0;
  walk.leave[static_cast<std::size_t>(walk.sink())] = 0.0;
}

/// InputError unless it is a square matrix with rows.
int nodes_of(ConstMatrixView attention) {
  if (attention.rows < 1 || attention.rows != attention.cols)
    throw InputError(
        fmt::format("attention is a square matrix, not {} x {}", attention.rows, attention.cols));
  return attention.rows;
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
  normalise_rows(walk, walk.step);
  make_sink_absorbing(walk);
  return walk;
}

Walk walk_of_columns(const MirroredMatrix& attention) {
  const ConstMatrixView columns = attention.view();
  Walk walk = blank_walk(columns.rows);
  normalise_rows(walk, columns);
  make_sink_absorbing(walk);
  return walk;
}

Walk published_walk_of_columns(const MirroredMatrix& attention) {
  const ConstMatrixView columns = attention.view();
  Walk walk = blank_walk(columns.rows);
  cut_rows(walk, columns, columns);
  make_sink_absorbing(walk);
  return walk;
}

void cut_walk(ConstMatrixView columns, const double* rest, double whole, Walk& into) {
  kernels().cut_rows(columns, whole, into.step.view(), into.leave.data());
  for (int j = 0; j < into.sink(); ++j)
    if (columns(j, j) > 0.5 * whole)
      cut_slow_row(into, j, rest[j], [&](int i) { return columns(j, i); });
}

Walk walk_of_attention(ConstMatrixView attention) {
  Walk walk = blank_walk(nodes_of(attention));
  transpose_lower(attention, walk.step.view(),
                  [&](int begin, int end) { normalise_rows(walk, walk.step, begin, end); });
  make_sink_absorbing(walk);
  return walk;
}

Walk published_walk(ConstMatrixView attention) {
  Walk walk = blank_walk(nodes_of(attention));
  transpose_lower(attention, walk.step.view());
  cut_rows(walk, attention, walk.step);
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
  }
  normalise_rows(walk, walk.step);
  return walk;
}

Walk backward_walk(ConstMatrixView diffusion) {
  const int n = nodes_of(diffusion);
  Walk walk = blank_walk(n);
  for (int i = 0; i < n; ++i)
    std::reverse_copy(diffusion.row(i), diffusion.row(i) + i + 1,
                      walk.step.row(n - 1 - i) + n - 1 - i);
  normalise_rows(walk, walk.step);
  make_sink_absorbing(walk);
  return walk;
}

WalkSum::WalkSum(int nodes)
    : step_(nodes, nodes, ConvexSum::Part::kUpper),
      leave_(1, nodes, ConvexSum::Part::kWhole),
      leave_by_node_(nodes, 1, ConvexSum::Part::kWhole) {}

void WalkSum::add(ConstMatrixView step, const double* leave, double weight) {
  step_.add(step, weight);
  leave_.add({leave, 1, step.cols, step.cols}, weight);
}

void WalkSum::add_by_node(const Walk& walk, const double* weights) {
  by_node_ = true;
  step_.add_by_row(walk.step, weights);
  leave_by_node_.add_by_row({walk.leave.data(), walk.nodes(), 1, 1}, weights);
}

Walk WalkSum::take() {
  Walk walk{step_.take(), {}};
  const Matrix leave = by_node_ ? leave_by_node_.take() : leave_.take();
  for (int row = 0; row < leave.rows(); ++row)
    walk.leave.insert(walk.leave.end(), leave.row(row), leave.row(row) + leave.cols());
  return walk;
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

std::vector<double> missing_probability(const Walk& walk) {
  std::vector<double> missing(static_cast<std::size_t>(walk.nodes()), 0.0);
  for (int j = walk.sink() - 1; j >= 0; --j) {
    const auto at = static_cast<std::size_t>(j);
    const double leave = walk.leave[at];
    missing[at] =
        leave > 0.0 ? dot(walk.step.row(j) + j + 1, missing.data() + j + 1, walk.sink() - j) / leave
                    : 1.0;
  }
  return missing;
}

}  // namespace synergraph
