#include "synergraph/chain/walk_powers.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/simd.h"
#include "synergraph/core/triangular.h"

namespace synergraph {
namespace {

// Memory for the powers of one walk; beyond it levels are recomputed. 4 GiB hold all that 4096
// nodes need.
constexpr double kBudgetBytes = 4.0 * (1 << 30);

}  // namespace

WalkPowers::WalkPowers(const Walk& walk, int threads) : threads_(threads) {
  const double bytes = 8.0 * static_cast<double>(walk.nodes()) * static_cast<double>(walk.nodes());
  capacity_ = static_cast<std::size_t>(std::clamp(kBudgetBytes / bytes, 6.0, 2000.0));
  levels_.push_back(Power{walk.step, walk.leave});
}

WalkPowers::Power WalkPowers::squared(const Power& power) const {
  const int n = power.step.rows();
  Power result{Matrix(n, n), std::vector<double>(power.leave.size())};
  square_upper(power.step, result.step.view(), threads_);
  for (int j = 0; j < n; ++j) {
    double* row = result.step.row(j);
    const auto at = static_cast<std::size_t>(j);
    const double leave = power.leave[at] * (2.0 - power.leave[at]);
    // While most mass stays, the complement is the precise number; later the power itself is.
    const double stay = power.step(j, j);
    row[j] = leave <= 0.5 ? 1.0 - leave : stay * stay;
    result.leave[at] = leave;
    const double forward = total(row + j + 1, n - j - 1);
    if (forward > 0.0) {
      const double scale = leave / forward;
      for (int i = j + 1; i < n; ++i) row[i] *= scale;
    }
  }
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
