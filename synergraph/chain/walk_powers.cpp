#include "synergraph/chain/walk_powers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/triangular.h"

namespace synergraph {

WalkPowers::WalkPowers(const Walk& walk, Keep keep, const Execution& execution)
    : walk_(walk), execution_(execution) {
  if (keep == Keep::kOne) return;
  const auto n = static_cast<double>(walk.nodes());
  const double whole = 8.0 * n * n;
  const double packed = 4.0 * n * (n + 1.0);
  const auto memory = static_cast<double>(execution.memory.bytes());
  capacity_ = static_cast<std::size_t>(std::clamp((memory - 2.0 * whole) / packed, 1.0, 2000.0));
  constexpr double kLevels = 60.0;  // few walks need more
  memory_ = execution.memory.lease(static_cast<std::size_t>(
      2.0 * whole + std::min(kLevels, static_cast<double>(capacity_)) * packed));
}

/// The power after the newest one takes its place.
void WalkPowers::square() {
  const int n = walk_.nodes();
  if (spare_.step.rows() == 0)
    spare_ = {Matrix::uninitialised(n, n), std::vector<double>(static_cast<std::size_t>(n))};
  const Matrix& from = step();
  square_upper(from, spare_.step.view(), execution_);
  constexpr int kRowsPerTask = 64;
  const auto tasks = static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for(tasks, n < 1024 ? 1 : execution_.threads, [&](std::size_t task, int) {
    const int begin = static_cast<int>(task) * kRowsPerTask;
    kernels().finish_squared_rows(from, leave().data(), spare_.step.view(), spare_.leave.data(),
                                  begin, std::min(n, begin + kRowsPerTask));
  });
  std::swap(newest_, spare_);
  ++level_;
  ++squarings_;
}

void WalkPowers::climb() {
  // While climbing, levels are kept at equal distances, wider ones when room is short.
  if (level_ > 0 && level_ % stride_ == 0) {
    if (kept_.size() >= capacity_) {
      stride_ *= 2;
      std::erase_if(kept_, [&](const auto& entry) { return entry.first % stride_ != 0; });
    }
    if (level_ % stride_ == 0 && kept_.size() < capacity_) keep();
  }
  square();
}

/// Packs the newest power.
void WalkPowers::keep() {
  const int n = walk_.nodes();
  Packed packed{
      ScratchVector<double>(static_cast<std::size_t>(n) * static_cast<std::size_t>(n + 1) / 2),
      newest_.leave};
  double* to = packed.entries.data();
  for (int j = 0; j < n; ++j) to = std::copy_n(newest_.step.row(j) + j, n - j, to);
  kept_.emplace(level_, std::move(packed));
}

/// Makes a kept power, or the walk itself, the newest.
void WalkPowers::load(int level) {
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

/// Makes P^(2^level) the newest power, and keeps some on the way there in the room there is.
void WalkPowers::raise_to(int level) {
  const auto above = kept_.lower_bound(level);
  load(above == kept_.begin() ? 0 : std::prev(above)->first);
  const int begin = level_;
  const auto room = static_cast<int>(capacity_ - kept_.size());
  const int spacing = (level - begin + room) / (room + 1);
  while (level_ < level) {
    square();
    if (level_ < level && (level_ - begin) % spacing == 0) keep();
  }
}

std::vector<double> WalkPowers::survival() const {
  const Matrix& power = step();
  const int sink = walk_.sink();
  std::vector<double> result(static_cast<std::size_t>(sink + 1), 0.0);
  for (int j = 0; j < sink; ++j)
    result[static_cast<std::size_t>(j)] = total(power.row(j) + j, sink - j);
  return result;
}

std::vector<double> WalkPowers::arrival() const {
  const int sink = walk_.sink();
  std::vector<double> result;
  for (int j = 0; j <= sink; ++j) result.push_back(step()(j, sink));
  return result;
}

const double* WalkPowers::row(int level, int j) const {
  if (level == 0) return walk_.step.row(j) + j;
  if (level == level_) return newest_.step.row(j) + j;
  const auto found = kept_.find(level);
  const std::ptrdiff_t before = j;  // rows, of n, n - 1, ... entries
  return found == kept_.end()
             ? nullptr
             : found->second.entries.data() + before * walk_.nodes() - before * (before - 1) / 2;
}

void WalkPowers::multiply(int level, const double* in, double* out) {
  execution_.check();
  const auto found = kept_.find(level);
  if (found != kept_.end()) {
    kernels().multiply_packed(found->second.entries.data(), walk_.nodes(), in, out);
    return;
  }
  if (level == 0) {
    multiply_upper(walk_.step, in, out, execution_.threads);
    return;
  }
  kept_.erase(kept_.upper_bound(level), kept_.end());
  if (level_ != level) raise_to(level);
  multiply_upper(step(), in, out, execution_.threads);
}

std::vector<double> multiply_power(const Walk& walk, double steps, std::vector<double> v,
                                   const Execution& execution) {
  WalkPowers powers(walk, WalkPowers::Keep::kOne, execution);
  std::vector<double> next(v.size());
  for (; steps > 0.0; steps = std::floor(steps / 2.0)) {
    if (std::fmod(steps, 2.0) == 1.0) {
      powers.multiply(powers.top_level(), v.data(), next.data());
      std::swap(v, next);
    }
    if (steps >= 2.0) powers.climb();
  }
  return v;
}

}  // namespace synergraph
