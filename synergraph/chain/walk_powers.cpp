#include "synergraph/chain/walk_powers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/chain/walk_store.h"

namespace synergraph {

WalkPowers::WalkPowers(const Walk& walk, Keep keep, const Execution& execution)
    : store_(std::make_unique<WalkStore>(walk, execution)), execution_(execution) {
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

WalkPowers::WalkPowers(std::unique_ptr<PowerStore> store, std::size_t capacity,
                       const Execution& execution)
    : store_(std::move(store)),
      capacity_(std::max<std::size_t>(capacity, 1)),
      execution_(execution) {}

void WalkPowers::square() {
  store_->square();
  ++squarings_;
}

void WalkPowers::keep() {
  store_->keep();
  kept_.insert(top_level());
}

void WalkPowers::drop(int level) {
  store_->drop(level);
  kept_.erase(level);
}

void WalkPowers::climb() {
  // While climbing, levels are kept at equal distances, wider ones when room is short.
  const int level = top_level();
  if (level > 0 && level % stride_ == 0) {
    if (kept_.size() >= capacity_) {
      stride_ *= 2;
      for (const int each : std::vector<int>(kept_.begin(), kept_.end()))
        if (each % stride_ != 0) drop(each);
    }
    if (level % stride_ == 0 && kept_.size() < capacity_) keep();
  }
  square();
}

/// Makes P^(2^level) the newest power, and keeps some on the way there in the room there is.
void WalkPowers::raise_to(int level) {
  const auto above = kept_.lower_bound(level);
  store_->load(above == kept_.begin() ? 0 : *std::prev(above));
  const int begin = top_level();
  const auto room = static_cast<int>(capacity_ - kept_.size());
  const int spacing = (level - begin + room) / (room + 1);
  while (top_level() < level) {
    square();
    if (top_level() < level && (top_level() - begin) % spacing == 0) keep();
  }
}

bool WalkPowers::holds(int level) const {
  return level == 0 || level == top_level() || kept_.contains(level);
}

void WalkPowers::multiply(int level, const double* in, double* out) {
  execution_.check();
  if (level > 0 && !kept_.contains(level)) {
    for (const int each : std::vector<int>(kept_.upper_bound(level), kept_.end())) drop(each);
    if (top_level() != level) raise_to(level);
  }
  store_->multiply(level, in, out);
}

std::vector<double> multiply_power(WalkPowers& powers, double steps, std::vector<double> v) {
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

std::vector<double> multiply_power(const Walk& walk, double steps, std::vector<double> v,
                                   const Execution& execution) {
  WalkPowers powers(walk, WalkPowers::Keep::kOne, execution);
  return multiply_power(powers, steps, std::move(v));
}

}  // namespace synergraph
