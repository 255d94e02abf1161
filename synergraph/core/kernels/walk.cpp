#include "synergraph/core/kernels/simd.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/core/triangular.h"

// Turns weights of steps into probabilities, row by row, without ever computing 1 - stay. The
// forward mass of a row is summed on its own, so that a walk that almost always stays keeps its
// digits. Each row is read twice while it is in cache; memory bandwidth limits large matrices.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

/// Copies weights as long as their sum is below the whole, then what is left below it, then zeros;
/// returns the sum up to there.
double cut_row(const double* weights, int count, double whole, double* row) {
  // Blocks that end below the whole in sum are taken as they are; in the block that reaches it,
  // each entry adds to min(whole, sum) all of it, or what is left below.
  constexpr int kBlock = 2 * kDoubles;
  double reached = 0.0;
  int i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    const auto low = load<Doubles>(weights + i);
    const auto high = load<Doubles>(weights + i + kDoubles);
    const double with = reached + sum(low + high);
    if (!(with < whole)) break;
    store(row + i, low);
    store(row + i + kDoubles, high);
    reached = with;
  }
  for (; i < count && reached < whole; ++i) {
    const double weight = weights[i];
    row[i] = smaller(weight, whole - reached);
    reached += weight;
  }
  fill(row + i, row + count, 0.0);
  return reached;
}

}  // namespace

bool normalise_rows(ConstMatrixView weights, MatrixView step, double* leave, int begin, int end) {
  const int n = step.rows;
  bool extreme = false;
  for (int j = begin; j < end; ++j) {
    const double* from = weights.row(j) + j;
    double* row = step.row(j) + j;
    const double forward = total(from + 1, n - j - 1);
    const double mass = from[0] + forward;
    if (mass > 0.0 && !(mass >= kSafeLeast && mass <= kSafeMost)) {
      leave[j] = -1.0;
      extreme = true;
      continue;
    }
    leave[j] = forward > 0.0 ? forward / mass : 0.0;
    const double scale = forward > 0.0 ? 1.0 / mass : 0.0;
    for (int i = 0; i < n - j; ++i) row[i] = from[i] * scale;
    if (!(forward > 0.0)) row[0] = 1.0;  // no way out: it stays, exactly
  }
  return extreme;
}

void cut_rows(ConstMatrixView weights, double whole, MatrixView step, double* leave) {
  const int n = step.rows;
  for (int j = 0; j < n; ++j) {
    const int moves = n - j - 1;
    double* row = step.row(j) + j;
    const double missing = larger(0.0, whole - cut_row(weights.row(j) + j, moves + 1, whole, row));
    leave[j] = total(row + 1, moves) + missing;
    row[moves] += missing;
  }
}

void finish_squared_rows(ConstMatrixView before, const double* leave, MatrixView squared,
                         double* squared_leave, int begin, int end) {
  const int n = squared.rows;
  for (int j = begin; j < end; ++j) {
    double* row = squared.row(j);
    fill(row + larger(0, j - kZeroBand), row + j, 0.0);
    const double left = leave[j] * (2.0 - leave[j]);
    // While most mass stays, the complement is the precise number; later the power itself is.
    row[j] = left <= 0.5 ? 1.0 - left : before(j, j) * before(j, j);
    squared_leave[j] = left;
    const double forward = total(row + j + 1, n - j - 1);
    if (!(forward > 0.0)) continue;
    const double scale = left / forward;
    for (int i = j + 1; i < n; ++i) row[i] *= scale;
  }
}

}  // namespace synergraph::SYNERGRAPH_ISA
