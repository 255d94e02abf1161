#include "synergraph/diffusion/slow_signal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/diffusion/absorption.h"

namespace synergraph {
namespace {

constexpr int kHighest = 1022;  // 2^1023 is the largest power of two that is a number

/// Spans looked at on one level before the search is given up. Mostly there are two or three; a
/// plateau that begins where stepping ended has thousands, short ones.
std::size_t most_spans(int nodes) {
  constexpr double kWork = 1 << 26;  // multiply-adds
  return static_cast<std::size_t>(std::clamp(kWork / nodes / nodes, 512.0, 16384.0));
}

}  // namespace

Walk way_back(ConstMatrixView diffusion) {
  const int n = diffusion.rows;
  Walk walk{Matrix(n, n), std::vector<double>(static_cast<std::size_t>(n), 0.0)};
  for (int i = 0; i < n; ++i) {
    const double* row = diffusion.row(i);
    double* to = walk.step.row(n - 1 - i);
    const double down = total(row, i);
    if (!(down > 0.0)) {
      to[n - 1 - i] = 1.0;
      continue;
    }
    const double mass = down + row[i];
    walk.leave[static_cast<std::size_t>(n - 1 - i)] = down / mass;
    for (int j = 0; j <= i; ++j) to[n - 1 - j] = row[j] / mass;
  }
  return walk;
}

SlowSignal::SlowSignal(ConstMatrixView diffusion, const Execution& execution)
    : execution_(execution),
      walk_(way_back(diffusion)),
      powers_(std::make_unique<WalkPowers>(walk_, WalkPowers::Keep::kAll, execution)),
      passing_([diffusion](int node) { return passing_probability(diffusion, node); }) {
  begin();
}

SlowSignal::SlowSignal(std::unique_ptr<WalkPowers> powers, Passing passing,
                       const Execution& execution)
    : execution_(execution), powers_(std::move(powers)), passing_(std::move(passing)) {
  begin();
}

/// The bounds of the first octave.
void SlowSignal::begin() {
  const double* first = store().first_row(0);
  Vector one(first, first + nodes());
  Vector two(one.size());
  multiply_row(one, 0, two);
  for (std::size_t i = 0; i < two.size(); ++i) one[i] = std::max(one[i], two[i]);
  most_.push_back(std::move(one));
}

double SlowSignal::power_of_two(int level) {
  return std::ldexp(1.0, level);
}

/// out = in * D^(2^level), a row vector; false where that power is not in memory.
bool SlowSignal::multiply_row(const Vector& in, int level, Vector& out) const {
  execution_.check();
  if (!powers_->holds(level)) return false;
  store().multiply_row(level, in.data(), out.data());
  return true;
}

/// out = D^(2^level) * in, a column vector as long as it is not zero.
bool SlowSignal::multiply_column(const Vector& in, int level, Vector& out) const {
  execution_.check();
  if (!powers_->holds(level)) return false;
  out.resize(in.size());
  store().multiply_column(level, in.data(), static_cast<int>(in.size()), out.data());
  return true;
}

bool SlowSignal::read_signal(int level, Vector& signal) const {
  if (!powers_->holds(level)) return false;
  const double* row = store().first_row(level);
  std::reverse_copy(row, row + nodes(), signal.begin());
  return true;
}

/// The next power, and the bounds between it and the one after it. False where there is no room.
bool SlowSignal::climb() {
  const int level = powers_->top_level();
  if (exhausted_ || level >= kHighest) return false;
  powers_->climb();
  // Every lower power is needed: one that had to be given up ends the climb for good.
  exhausted_ = !powers_->holds(level) || !tighten(level);
  if (exhausted_) return false;
  // Times 2^(level+1) .. 2^(level+2) are 2^level or 2^(level+1) later than those of the last
  // bounds.
  Vector sooner(most_.back().size());
  Vector later(most_.back().size());
  multiply_row(most_.back(), level, sooner);
  multiply_row(most_.back(), level + 1, later);
  for (std::size_t i = 0; i < later.size(); ++i) sooner[i] = std::max(sooner[i], later[i]);
  most_.push_back(std::move(sooner));
  return true;
}

/// |r (D - 1)| of a signal r, and its rounding: by how much each node's signal changes in a step.
SlowSignal::Vector SlowSignal::changes(const Vector& signal) const {
  Vector in(signal.size());
  store().multiply_row_forward(signal.data(), in.data());
  const Vector& leave = store().leave();
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const double out = signal[i] * leave[i];
    in[i] = std::abs(in[i] - out) + 1e-15 * (in[i] + out);
  }
  return in;
}

/// The bounds of a level from the signal at both of its ends: between them no node's signal changes
/// faster than the changes at the beginning, carried on for up to 2^level steps, allow. What fast
/// nodes did long ago does not matter to these. False where a lower power is not in memory.
bool SlowSignal::tighten(int level) {
  const double* first = store().first_row(level);
  const double* last = store().first_row(level + 1);
  Vector most = changes({first, first + nodes()});
  Vector later(most.size());
  for (int k = 0; k < level; ++k) {
    if (!multiply_row(most, k, later)) return false;
    for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], later[i]);
  }
  for (std::size_t i = 0; i < most.size(); ++i) {
    const double middle = first[i] + (last[i] - first[i]) / 2.0;
    const double reach = power_of_two(level) * most[i] / 2.0;
    double& above = most_[static_cast<std::size_t>(level)][i];
    above = std::min(above, (middle + reach) * (1.0 + 1e-15));
  }
  fastest_.push_back(std::move(most));
  return true;
}

std::vector<double> SlowSignal::bounds(double begin) const {
  // At any later time the signal at j or above it, of which j's can come.
  Vector bound(most_.front().size(), 0.0);
  double above = 0.0;
  Vector signal(bound.size());
  read_signal(powers_->top_level(), signal);
  for (std::size_t j = bound.size(); j-- > 0;) bound[j] = above += signal[j];
  for (int level = std::max(0, std::ilogb(std::max(1.0, begin)));
       level < static_cast<int>(most_.size()); ++level)
    for (std::size_t j = 0; j < bound.size(); ++j)
      bound[j] = std::max(bound[j], most_[static_cast<std::size_t>(level)][bound.size() - 1 - j]);
  return bound;
}

Peak SlowSignal::peak(int node, double begin, const Peak& so_far, double enough) {
  Peak peak = so_far;
  // Later than the last power: what will ever be passed on to the node.
  const Vector passing = passing_(node);
  Vector signal(passing.size());
  double later = 1.0;
  do {
    read_signal(powers_->top_level(), signal);
    if (!(latest() > begin)) continue;
    peak.raise(signal[static_cast<std::size_t>(node)], latest(), kPrecision);
    later = dot(signal.data() + node, passing.data() + node, nodes() - node);
  } while (later > peak.value * (1.0 + kPrecision) && climb());
  if (peak.value > enough) return peak;
  if (!search(node, begin, peak, enough)) {
    for (const Vector& most : most_)
      later = std::max(later, most[most.size() - 1 - static_cast<std::size_t>(node)]);
    peak.upper = std::clamp(later, peak.value, peak.upper);
  } else if (!(peak.value > enough)) {
    polish(node, begin, peak);
    peak.upper = later <= peak.value * (1.0 + kPrecision) ? peak.value : later;
  }
  return peak;
}

/// The search leaves a time whose signal is the peak's to its precision. Up to a few million steps
/// the first that is the peak's to rounding is found by looking at all times around it.
void SlowSignal::polish(int node, double begin, Peak& peak) const {
  constexpr double kLatest = 0x1.0p22;
  if (!(peak.time > begin && peak.time <= kLatest)) return;
  const double reach = std::ceil(4e-6 * peak.time) + 1.0;  // signals are flat: 2 sqrt(kPrecision)
  const double first = std::max(begin, peak.time - reach);
  Vector column(static_cast<std::size_t>(nodes() - node), 0.0);
  column.back() = 1.0;
  Vector next;
  for (int level = 0; power_of_two(level) <= first; ++level)
    if (std::fmod(std::floor(first / power_of_two(level)), 2.0) == 1.0) {
      if (!multiply_column(column, level, next)) return;
      std::swap(column, next);
    }
  Peak found{column.front(), first};
  for (double time = first + 1.0; time <= peak.time + reach; time += 1.0) {
    multiply_column(column, 0, next);
    std::swap(column, next);
    found.raise(column.front(), time, 1e-14);
  }
  if (found.value < peak.value * (1.0 - kPrecision)) return;
  peak.value = std::max(peak.value, found.value);
  peak.time = found.time;
}

/// The signal at the beginning of a span, and how it may go on: its change in step s is r_(A+s)
/// times (D - 1) c, and r_(A+s) is r_A but for s times the fastest change of the octave before.
void SlowSignal::look_at(Span& span, int octave, Peak& peak) const {
  const auto count = static_cast<int>(span.column.size());
  const double* signal = store().first_row(octave - 1);
  const Vector& leave = store().leave();
  Vector flow(span.column.size());
  store().multiply_column_forward(span.column.data(), count, flow.data());
  const Vector& fastest = fastest_[static_cast<std::size_t>(octave - 1)];
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double in = flow[at];
    const double out = leave[at] * span.column[at];
    span.change += signal[i] * (in - out);
    span.bending += fastest[at] * std::abs(in - out);
    span.rounding += 1e-15 * signal[i] * (in + out);
  }
  span.value = dot(signal, span.column.data(), count);
  peak.raise(span.value, span.begin, kPrecision);
}

/// Halves the spans of the times 2^octave .. 2^(octave + 1) that may hold the peak until none is
/// left. False where memory or patience does not suffice.
bool SlowSignal::search_octave(int octave, int target, Peak& peak, double enough) const {
  std::vector<Span> spans;
  for (const int level : {octave - 1, octave}) {
    if (!powers_->holds(level)) return false;
    Span span{level == octave ? 1.5 * power_of_two(octave) : power_of_two(octave),
              store().column(level, target)};
    look_at(span, octave, peak);
    spans.push_back(std::move(span));
  }
  for (int level = octave - 1; level >= 0 && !spans.empty(); --level) {
    const double length = power_of_two(level);
    std::erase_if(spans, [&](const Span& span) {
      return span.bound(length) <= peak.value * (1.0 + kPrecision);
    });
    if (spans.size() > most_spans(nodes())) return false;
    if (level == 0 || peak.value > enough) break;
    const std::size_t count = spans.size();
    for (std::size_t k = 0; k < count; ++k) {
      Span later{spans[k].begin + length / 2.0, {}};
      if (!multiply_column(spans[k].column, level - 1, later.column)) return false;
      look_at(later, octave, peak);
      spans.push_back(std::move(later));
    }
  }
  return true;
}

/// Searches all octaves from the one of `begin` on; then `peak` has the value of the peak.
bool SlowSignal::search(int node, double begin, Peak& peak, double enough) const {
  const int target = nodes() - 1 - node;
  const int first_octave = std::max(1, std::ilogb(std::max(2.0, begin)));
  for (int octave = powers_->top_level() - 1; octave >= first_octave; --octave) {
    const double most = most_[static_cast<std::size_t>(octave)][static_cast<std::size_t>(target)];
    if (most <= peak.value * (1.0 + kPrecision)) continue;
    if (!search_octave(octave, target, peak, enough)) return false;
    if (peak.value > enough) break;
  }
  return true;
}

}  // namespace synergraph
