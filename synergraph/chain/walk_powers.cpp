#include "synergraph/chain/walk_powers.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/parallel.h"
#include "synergraph/core/simd.h"
#include "synergraph/core/triangular.h"

namespace synergraph {
namespace {

// Memory for the powers of one walk; beyond it levels are recomputed. 4 GiB hold all that 4096
// nodes need.
constexpr double kBudgetBytes = 4.0 * (1 << 30);

/// Makes row j of a squared walk exact where the product is not: the chance to stay from its
/// complement, the forward entries to sum to it. `stay` and `leave` are those before squaring;
/// returns the new leave.
double finish_row(double* row, int j, int n, double stay, double leave) {
  std::fill(row + std::max(0, j - kZeroBand), row + j, 0.0);
  const double left = leave * (2.0 - leave);
  // While most mass stays, the complement is the precise number; later the power itself is.
  row[j] = left <= 0.5 ? 1.0 - left : stay * stay;
  const double forward = total(row + j + 1, n - j - 1);
  if (forward > 0.0) {
    const double scale = left / forward;
    for (int i = j + 1; i < n; ++i) row[i] *= scale;
  }
  return left;
}

}  // namespace

WalkPowers::WalkPowers(const Walk& walk, int threads) : threads_(threads) {
  const double bytes = 8.0 * static_cast<double>(walk.nodes()) * static_cast<double>(walk.nodes());
  capacity_ = static_cast<std::size_t>(std::clamp(kBudgetBytes / bytes, 6.0, 2000.0));
  levels_.push_back(Power{walk.step, walk.leave});
}

WalkPowers::Power WalkPowers::squared(const Power& power) const {
  const int n = power.step.rows();
  Power result{Matrix::uninitialised(n, n), std::vector<double>(power.leave.size())};
  square_upper(power.step, result.step.view(), threads_);
  constexpr int kRowsPerTask = 64;
  const auto tasks = static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for(tasks, n < 1024 ? 1 : threads_, [&](std::size_t task, int) {
    const int begin = static_cast<int>(task) * kRowsPerTask;
    for (int j = begin; j < std::min(n, begin + kRowsPerTask); ++j)
      result.leave[static_cast<std::size_t>(j)] = finish_row(
          result.step.row(j), j, n, power.step(j, j), power.leave[static_cast<std::size_t>(j)]);
  });
  return result;
}

void WalkPowers::climb() {
  levels_.emplace_back(squared(*levels_.back()));
  thin_out();
}

void WalkPowers::thin_out() {
  const auto kept = [&] {
    return static_cast<std::size_t>(
        std::count_if(levels_.begin(), levels_.end(), [](const auto& l) { return l.has_value(); }));
  };
  while (kept() > capacity_) {
    stride_ *= 2;
    for (int level = 0; level < top_level(); ++level)
      if (level % stride_ != 0) levels_[static_cast<std::size_t>(level)].reset();
  }
}

std::vector<double> WalkPowers::survival() const {
  const Matrix& step = levels_.back()->step;
  const int sink = step.rows() - 1;
  std::vector<double> result(static_cast<std::size_t>(sink + 1), 0.0);
  for (int j = 0; j < sink; ++j)
    result[static_cast<std::size_t>(j)] = total(step.row(j) + j, sink - j);
  return result;
}

const Matrix& WalkPowers::at(int level) {
  levels_.resize(static_cast<std::size_t>(level) + 1);
  int from = level;
  while (!levels_[static_cast<std::size_t>(from)]) --from;
  for (; from < level; ++from)
    levels_[static_cast<std::size_t>(from) + 1] = squared(*levels_[static_cast<std::size_t>(from)]);
  return levels_.back()->step;
}

}  // namespace synergraph
