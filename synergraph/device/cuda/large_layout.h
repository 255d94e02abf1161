#pragma once

#include <cstddef>
#include <cstdint>

#include "synergraph/core/float_type.h"
#include "synergraph/device/large/operators.h"

namespace synergraph::cuda {

using large::kSteps;
/// Nodes that are solved together, one step after the other.
inline constexpr int kBlock = 64;
/// Columns of a strip: nodes that one block of threads finishes before the next strip begins.
inline constexpr int kStrip = 256;
/// Rows whose products one block of threads adds up. Sums over more rows add such sums in order.
inline constexpr int kChunk = 1024;

constexpr int strips_of(int nodes) {
  return (nodes + kStrip - 1) / kStrip;
}
constexpr int chunks_of(int nodes) {
  return (nodes + kChunk - 1) / kChunk;
}

/// What part of a matrix is in memory while a strip of columns, or a block of rows, is worked on.
enum class Held {
  kWhole,     ///< all of it: row i, column j is element i * stride + j
  kOneStrip,  ///< rows and columns from `first` on: element (i - first) * stride + j - first
  kRows,      ///< rows from `first` on: element (i - first) * stride + j
};

/// Entries a(i, j) of a lower triangular matrix in the device's memory, times row_scale[i]. `first`
/// is the first column of the strip, or the first row of the block, that is being worked on.
struct Entries {
  const void* data = nullptr;
  FloatType type = FloatType::kFloat64;
  std::int64_t stride = 0;            ///< elements from one row to the next
  const double* row_scale = nullptr;  ///< null: ones
  Held held = Held::kWhole;
  /// Of the published walk: what is left of column j ends with part[j] in row cut[j]. Null: all of
  /// the entries count.
  const int* cut = nullptr;
  const double* part = nullptr;
};

/// What becomes of columns under the published walk; see published_walk(). Null: not wanted.
struct CutColumns {
  int* cut = nullptr;       ///< n: see Entries
  double* part = nullptr;   ///< n
  double* leave = nullptr;  ///< n: the chance to leave
  double* stay = nullptr;   ///< n
};

/// What is found of a matrix in one pass over its rows and one over its columns.
struct MatrixSums {
  double* whole = nullptr;     ///< n: sums of rows of the attention as given, padding included
  double* scale = nullptr;     ///< n: 1 / sum of the row over the keys that are kept
  double* down = nullptr;      ///< n: sums below the diagonal, not scaled
  double* column = nullptr;    ///< n: sums of columns, scaled rows, from the diagonal on
  double* forward = nullptr;   ///< n: the same beyond the diagonal
  double* diagonal = nullptr;  ///< n: scaled
  /// n: what rows leave out, scaled, as a key that is kept before all others (`down` has it, too).
  /// Null: nothing is left out.
  double* missing = nullptr;
  /// Number of rows with an entry that is negative or not finite, or not zero above the diagonal.
  int* bad_rows = nullptr;
  int* rows_that_keep_all = nullptr;  ///< rows but the first that give nothing to earlier nodes
};

/// One matrix whose sums are wanted. Rows and columns 0 .. nodes - 1 of `entries` are kept; the
/// attention as given begins `begin` columns and rows before and ends `after` columns behind them.
struct SumsJob {
  Entries entries;
  int nodes = 0;
  int begin = 0;
  int after = 0;
  bool as_given = false;  ///< rows are not divided by their sums
  MatrixSums sums;
  CutColumns cut;
};

/// One state on its way through a panel of steps,
/// x_{t+1}[j] = c[j] (sum over i > j of a(i, j) x_t[i]) + stay[j] x_t[j].
struct PanelFlow {
  Entries entries;
  int op = 0;  ///< whose entries they are
  int nodes = 0;
  const double* factor = nullptr;  ///< c; null: ones
  const double* stay = nullptr;
  double* now = nullptr;      ///< n: the state before the panel, then the state after it
  double* states = nullptr;   ///< n x kSteps: the states at times 0 .. kSteps - 1 of the panel
  double* partial = nullptr;  ///< chunks x kStrip x kSteps
  int first = 0;              ///< the first step of the panel that counts at the last node
  int count = kSteps;         ///< survival: steps that enter the sum
  // What is found; null: not wanted.
  double* peak = nullptr;  ///< n: the largest state of the panel and of the state after it
  int* place = nullptr;    ///< n: the first step that reaches it to rounding
  int last = kSteps;       ///< the last step for the two below
  double* limited_peak = nullptr;
  int* limited_place = nullptr;
  double* sum = nullptr;       ///< n: sum of the first `count` states
  double* previous = nullptr;  ///< n: the state at the last step of the panel
  double* worst = nullptr;     ///< kSteps + 1: the largest state at every step and after the last
  /// n: what every node gives to the node for missing mass; null: there is none.
  const double* missing = nullptr;
  double* missing_flow = nullptr;  ///< kSteps: what the states give to it
};

/// Hitting times of a walk by columns: h[j] = (mass[j] + sum over i > j of a(i, j) h[i]) /
/// forward[j], for j from the last node but one down; h is 0 at the last.
struct HittingFlow {
  Entries entries;
  int op = 0;  ///< whose entries they are
  int nodes = 0;
  const double* mass = nullptr;  ///< null: ones
  const double* forward = nullptr;
  double* times = nullptr;    ///< n
  double* partial = nullptr;  ///< chunks x kStrip
};

/// The probability of ever passing node `target`: p = 1 there, 0 before, and after it
/// p[i] = (sum over target <= k < i of a(i, k) p[k]) / down[i].
struct PassingFlow {
  Entries entries;  ///< row scales are not used
  int nodes = 0;
  int target = 0;
  const double* down = nullptr;
  double* passing = nullptr;  ///< n
};

/// Heads whose sum is wanted in a strip of columns, in double precision: entry (i, j) of the strip
/// is the sum over heads of weights[h] a_h(i, j), and of columns[h][j] a_h(i, j).
struct CombineJob {
  const Entries* heads = nullptr;  ///< on the device
  int count = 0;
  int nodes = 0;
  const double* weights = nullptr;  ///< count, on the device
  const double* columns =
      nullptr;  ///< count x nodes, on the device; null: the second sum is not wanted
  double* diffusion = nullptr;  ///< nodes x kStrip
  double* walk = nullptr;       ///< nodes x kStrip
};

}  // namespace synergraph::cuda
