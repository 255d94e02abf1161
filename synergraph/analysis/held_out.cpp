#include "synergraph/analysis/held_out.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/statistics/symmetric_sum.h"

namespace synergraph {
namespace {

void add_to(std::vector<double>& sum, const std::vector<double>& numbers) {
  if (sum.empty()) sum.assign(numbers.size(), 0.0);
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += numbers[k];
}

}  // namespace

double relative_size(double a, double b) {
  const double sum = std::abs(a) + std::abs(b);
  return sum > 0.0 ? a / sum : 0.0;
}

void HeldOutSums::add(int sample, CandidateSample numbers) {
  enqueue(sample, std::move(numbers), keeps_);
}

void HeldOutSums::enqueue(int sample, CandidateSample numbers, bool wait) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace(sample, std::move(numbers));
  if (wait) return;
  for (auto next = waiting_.find(next_); next != waiting_.end(); next = waiting_.find(next_)) {
    add_next(next->second);
    waiting_.erase(next);
    ++next_;
  }
}

void HeldOutSums::add_next(const CandidateSample& numbers) {
  group_.all += numbers.all;
  add_to(group_.sizes, numbers.sizes);
  add_to(group_.excesses, numbers.excesses);
  if ((next_ + 1) % sinks_ == 0) close_group();
}

void HeldOutSums::close_group() {
  Half& half = halves_[static_cast<std::size_t>(next_ / sinks_ % 2)];
  const double each = 1.0 / sinks_;
  ++half.count;
  half.all += each * group_.all;
  half.sizes.resize(group_.sizes.size());
  half.excesses.resize(group_.sizes.size());
  half.squares.resize(group_.sizes.size());
  for (std::size_t k = 0; k < group_.sizes.size(); ++k) {
    const double excess = each * group_.excesses[k];
    half.sizes[k] += each * group_.sizes[k];
    half.excesses[k] += excess;
    half.squares[k] += excess * excess;
  }
  group_ = {};
}

void HeldOutSums::take(int sample, PartWriter& part) {
  const auto kept = waiting_.extract(sample);
  CandidateSample numbers = kept.empty() ? CandidateSample() : std::move(kept.mapped());
  part(numbers);
}

void HeldOutSums::restore(int sample, PartReader& part) {
  CandidateSample numbers;
  part(numbers);
  if (numbers.sizes.size() != numbers.excesses.size()) throw InputError("candidates that differ");
  if (!numbers.sizes.empty()) enqueue(sample, std::move(numbers), false);
}

std::optional<JudgedChoice> HeldOutSums::judge(double sign) const {
  const std::size_t count = halves_[0].sizes.size();
  if (count == 0 || halves_[1].count == 0) return std::nullopt;
  std::optional<JudgedChoice> best;
  for (const std::size_t choosing : {0U, 1U}) {
    const Half& seen = halves_[choosing];
    const Half& unseen = halves_[1 - choosing];
    std::optional<std::size_t> chosen;
    for (std::size_t k = 0; k < count; ++k)
      if (sign * seen.sizes[k] > 0.0 &&
          (!chosen || sign * seen.excesses[k] > sign * seen.excesses[*chosen]))
        chosen = k;
    if (!chosen) continue;
    JudgedChoice judged{*chosen};
    judged.size = unseen.all > 0.0 ? unseen.sizes[*chosen] / unseen.all : 0.0;
    if (sign * judged.size > 0.0)
      judged.chance = std::min(1.0, 2.0 * symmetric_sum_chance(sign * unseen.excesses[*chosen],
                                                               unseen.squares[*chosen]));
    if (!best || judged.chance < best->chance) best = judged;
  }
  return best;
}

}  // namespace synergraph
