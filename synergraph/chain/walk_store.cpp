#include "synergraph/chain/walk_store.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/triangular.h"

namespace synergraph {

/// The power after the newest one takes its place.
void WalkStore::square() {
  const int n = walk_.nodes();
  if (spare_.step.rows() == 0)
    spare_ = {Matrix::uninitialised(n, n), std::vector<double>(static_cast<std::size_t>(n))};
  const Matrix& from = step();
  const std::vector<double>& from_leave = level_ == 0 ? walk_.leave : newest_.leave;
  square_upper(from, spare_.step.view(), execution_);
  constexpr int kRowsPerTask = 64;
  const auto tasks = static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for(tasks, n < 1024 ? 1 : execution_.threads, [&](std::size_t task, int) {
    const int begin = static_cast<int>(task) * kRowsPerTask;
    kernels().finish_squared_rows(from, from_leave.data(), spare_.step.view(), spare_.leave.data(),
                                  begin, std::min(n, begin + kRowsPerTask));
  });
  std::swap(newest_, spare_);
  ++level_;
}

/// Packs the newest power.
void WalkStore::keep() {
  const int n = walk_.nodes();
  Packed packed{
      ScratchVector<double>(static_cast<std::size_t>(n) * static_cast<std::size_t>(n + 1) / 2),
      newest_.leave};
  double* to = packed.entries.data();
  for (int j = 0; j < n; ++j) to = std::copy_n(newest_.step.row(j) + j, n - j, to);
  kept_.emplace(level_, std::move(packed));
}

void WalkStore::load(int level) {
  level_ = level;
  if (level == 0) return;
  const Packed& packed = kept_.at(level);
  const int n = walk_.nodes();
  const double* from = packed.entries.data();
  for (int j = 0; j < n; from += n - j, ++j) {
    double* row = newest_.step.row(j);
    std::fill(row + std::max(0, j - kZeroBand), row + j, 0.0);
    std::copy_n(from, n - j, row + j);
  }
  newest_.leave = packed.leave;
}

std::vector<double> WalkStore::survival() const {
  const Matrix& power = step();
  const int sink = walk_.sink();
  std::vector<double> result(static_cast<std::size_t>(sink + 1), 0.0);
  for (int j = 0; j < sink; ++j)
    result[static_cast<std::size_t>(j)] = total(power.row(j) + j, sink - j);
  return result;
}

std::vector<double> WalkStore::arrival() const {
  const int sink = walk_.sink();
  std::vector<double> result;
  for (int j = 0; j <= sink; ++j) result.push_back(step()(j, sink));
  return result;
}

void WalkStore::multiply(int level, const double* in, double* out) {
  const auto found = kept_.find(level);
  if (found != kept_.end())
    kernels().multiply_packed(found->second.entries.data(), walk_.nodes(), in, out);
  else
    multiply_upper(level == 0 ? walk_.step : newest_.step, in, out, execution_.threads);
}

/// Row j from the diagonal on.
const double* WalkStore::row(int level, int j) const {
  if (level == 0) return walk_.step.row(j) + j;
  if (level == level_) return newest_.step.row(j) + j;
  const std::ptrdiff_t before = j;  // rows, of n, n - 1, ... entries
  return kept_.at(level).entries.data() + before * walk_.nodes() - before * (before - 1) / 2;
}

std::vector<double> WalkStore::column(int level, int target) {
  std::vector<double> entries;
  for (int i = 0; i <= target; ++i) entries.push_back(row(level, i)[target - i]);
  return entries;
}

void WalkStore::multiply_row(int level, const double* in, double* out) {
  const int n = nodes();
  std::fill_n(out, n, 0.0);
  for (int i = 0; i < n; ++i)
    if (in[i] != 0.0) add_scaled(row(level, i), in[i], n - i, out + i);
}

void WalkStore::multiply_column(int level, const double* in, int count, double* out) {
  for (int i = 0; i < count; ++i) out[i] = dot(row(level, i), in + i, count - i);
}

void WalkStore::multiply_row_forward(const double* in, double* out) {
  const int n = nodes();
  std::fill_n(out, n, 0.0);
  for (int i = 0; i < n; ++i) add_scaled(walk_.step.row(i) + i + 1, in[i], n - i - 1, out + i + 1);
}

void WalkStore::multiply_column_forward(const double* in, int count, double* out) {
  for (int i = 0; i < count; ++i)
    out[i] = dot(walk_.step.row(i) + i + 1, in + i + 1, count - i - 1);
}

}  // namespace synergraph
