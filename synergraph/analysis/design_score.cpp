#include "synergraph/analysis/design_score.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "synergraph/core/sparse_propagation.h"

namespace synergraph {
namespace {

/// Walks are judged with this much to spare, so that sums in another order agree.
constexpr double kMargin = 1e-9;
/// Fidelities below this share of 1/n count as this share: their power stays finite.
constexpr double kLeastShare = 1e-9;

std::size_t place_of(std::int64_t k) {
  return static_cast<std::size_t>(k);
}

std::int64_t whole_panels(std::int64_t steps) {
  return (steps + kSparseSteps - 1) / kSparseSteps * kSparseSteps;
}

double power(double x) {
  static_assert(DesignScore::kSharpness == 32);
  for (int k = 0; k < 5; ++k) x *= x;
  return x;
}

}  // namespace

void DesignScore::States::resize(int nodes, std::int64_t wanted) {
  steps = wanted;
  values.resize(place_of(2 * std::int64_t{nodes} * wanted));
  side.assign(place_of(nodes), 0);
  dirty.assign(place_of(nodes), 1);
  changed.clear();
}

void DesignScore::States::turn(int j) {
  side[place_of(j)] ^= 1U;
  changed.push_back(j);
}

void DesignScore::States::undo() {
  for (const int j : changed) side[place_of(j)] ^= 1U;
  changed.clear();
}

DesignScore::DesignScore(const DesignEdges& edges, const DesignLimits& limits,
                         std::int64_t most_steps)
    : edges_(edges),
      limits_(limits),
      most_steps_(whole_panels(most_steps)),
      n_(edges.nodes()),
      share_(1.0 / edges.heads()),
      hear_(place_of(n_) * place_of(edges.heads())),
      peak_(place_of(n_) * 2),
      visits_(place_of(n_) * 2),
      bad_(place_of(n_) * 2) {}

double DesignScore::heard_share(int head, int i) const {
  return share_ / (1.0 + static_cast<double>(edges_.senders(head, i).size()));
}

double DesignScore::mean_fidelity(double badness, int nodes) {
  return std::exp(-std::log(badness) / kSharpness) / nodes;
}

void DesignScore::start(std::int64_t horizon) {
  touched_.clear();
  for (int h = 0; h < edges_.heads(); ++h)
    for (int i = 0; i < n_; ++i) hear(h, i) = heard_share(h, i);
  walk_.resize(n_, whole_panels(std::max(limits_.averaged_mixing, limits_.mixing) + 1));
  sweep_walk();
  if (horizon > 0) {
    restart_signal(horizon);
  } else {
    for (std::int64_t steps = 2 * kSparseSteps;; steps *= 2) {
      restart_signal(std::min(steps, most_steps_));
      if (steps >= most_steps_ || complete()) break;
    }
    if (const std::int64_t enough = shortest_horizon(); enough < signal_.steps)
      restart_signal(enough);
  }
  accept();
}

void DesignScore::restart_signal(std::int64_t steps) {
  std::fill(peak_.begin(), peak_.end(), -1.0);  // no node has this: all sides are set anew
  signal_.resize(n_, steps);
  sweep_signal(std::numeric_limits<double>::infinity());
}

void DesignScore::touch(int head, int from, int to) {
  touched_.push_back({head, from, to, hear(head, to)});
}

bool DesignScore::update(double most) {
  before_ = now_;
  for (const Touched& t : touched_) {
    signal_.dirty[place_of(t.from)] = 1;
    walk_.dirty[place_of(t.from)] = 1;
    const double heard = heard_share(t.head, t.to);
    if (heard == t.heard) continue;
    hear(t.head, t.to) = heard;
    signal_.dirty[place_of(t.to)] = 1;
    for (const std::int32_t j : edges_.senders(t.head, t.to)) signal_.dirty[place_of(j)] = 1;
  }
  sweep_walk();
  if (now_.slowness > 1.0 && now_.slowness >= before_.slowness) return false;
  return sweep_signal(most);
}

void DesignScore::accept() {
  touched_.clear();
  signal_.changed.clear();
  walk_.changed.clear();
}

void DesignScore::reject() {
  std::reverse(touched_.begin(), touched_.end());
  for (const auto& t : touched_) hear(t.head, t.to) = t.heard;
  touched_.clear();
  signal_.undo();
  walk_.undo();
  std::fill(signal_.dirty.begin(), signal_.dirty.end(), 0);
  std::fill(walk_.dirty.begin(), walk_.dirty.end(), 0);
  now_ = before_;
}

void DesignScore::sweep_walk() {
  double total = 0.0;
  double worst = 0.0;
  const std::int64_t worst_at = limits_.mixing > 0 ? limits_.mixing : limits_.averaged_mixing;
  for (int j = n_ - 1; j >= 0; --j) {
    if (walk_.dirty[place_of(j)] != 0) compute_walk(j);
    const double* states = walk_.of(walk_.slot(j));
    total += states[limits_.averaged_mixing];
    worst = std::max(worst, states[worst_at]);
  }
  // Below the threshold, not at it: the definition of T_avg.
  now_.slowness = total / n_ / (0.5 * limits_.eps * (1.0 - kMargin));
  if (limits_.mixing > 0)
    now_.slowness = std::max(now_.slowness, worst / (limits_.eps * (1.0 - kMargin)));
}

void DesignScore::compute_walk(int j) {
  walk_.dirty[place_of(j)] = 0;
  const std::int32_t into = walk_.other(j);
  double* out = walk_.of(into);
  if (j == n_ - 1) {
    std::fill(out, out + walk_.steps, 0.0);
  } else {
    slots_.clear();
    weights_.clear();
    double stay = 0.0;
    for (int h = 0; h < edges_.heads(); ++h) {
      const auto& receivers = edges_.receivers(h, j);
      const double step = share_ / (1.0 + static_cast<double>(receivers.size()));
      stay += step;
      for (const std::int32_t i : receivers) {
        if (i == n_ - 1) continue;  // it has arrived
        slots_.push_back(walk_.slot(i));
        weights_.push_back(step);
      }
    }
    advance(walk_, stay, 1.0, out);
  }
  const double* old = walk_.of(walk_.slot(j));
  if (std::memcmp(old, out, place_of(walk_.steps) * sizeof(double)) == 0) return;
  walk_.turn(j);
  for (int h = 0; h < edges_.heads(); ++h)
    for (const std::int32_t sender : edges_.senders(h, j)) walk_.dirty[place_of(sender)] = 1;
}

bool DesignScore::sweep_signal(double most) {
  const double bound = most * std::max(1, n_ - 1);
  double bad = 0.0;
  now_.minimax = 1.0;
  now_.weakest = 0;
  for (int j = n_ - 1; j >= 0; --j) {
    if (signal_.dirty[place_of(j)] != 0) compute_signal(j);
    if (j == n_ - 1) continue;
    const auto slot = place_of(signal_.slot(j));
    bad += bad_[slot];
    if (bad > bound) return false;
    if (peak_[slot] <= now_.minimax) {
      now_.minimax = peak_[slot];
      now_.weakest = j;
    }
  }
  now_.badness = bad / std::max(1, n_ - 1);
  return true;
}

double DesignScore::advance(const States& states, double stay, double start, double* out) const {
  NodeSteps node;
  node.states = states.values.data();
  node.stride = states.steps;
  node.slot = slots_.data();
  node.weight = weights_.data();
  node.edges = static_cast<int>(slots_.size());
  node.stay = stay;
  node.start = start;
  node.steps = static_cast<int>(states.steps);
  node.out = out;
  return advance_node(node);
}

void DesignScore::compute_signal(int j) {
  signal_.dirty[place_of(j)] = 0;
  slots_.clear();
  weights_.clear();
  double stay = 0.0;
  double leave = 0.0;
  double arriving = j == n_ - 1 ? 1.0 : 0.0;
  for (int h = 0; h < edges_.heads(); ++h) {
    stay += hear(h, j);
    leave += hear(h, j) * static_cast<double>(edges_.senders(h, j).size());
    for (const std::int32_t i : edges_.receivers(h, j)) {
      slots_.push_back(signal_.slot(i));
      weights_.push_back(hear(h, i));
      arriving += weights_.back() * visits_[place_of(slots_.back())];
    }
  }
  const bool kept = !(leave > 0.0);
  const std::int32_t into = signal_.other(j);
  double* const out = signal_.of(into);
  const double largest = advance(signal_, kept ? 1.0 : stay, j == n_ - 1 ? 1.0 : 0.0, out);
  // A node that keeps what it gets has all of it in the end.
  const double peak = kept ? arriving : largest;
  const double visits = kept ? arriving : arriving / leave;
  const std::int32_t old = signal_.slot(j);
  if (peak_[place_of(old)] == peak && visits_[place_of(old)] == visits &&
      std::memcmp(signal_.of(old), out, place_of(signal_.steps) * sizeof(double)) == 0)
    return;
  peak_[place_of(into)] = peak;
  visits_[place_of(into)] = visits;
  bad_[place_of(into)] = power(1.0 / std::max(peak * n_, kLeastShare));
  signal_.turn(j);
  for (int h = 0; h < edges_.heads(); ++h)
    for (const std::int32_t sender : edges_.senders(h, j)) signal_.dirty[place_of(sender)] = 1;
}

std::int64_t DesignScore::averaged_mixing_time() const {
  for (std::int64_t t = 0; t <= limits_.averaged_mixing; ++t) {
    double total = 0.0;
    for (int j = n_ - 1; j >= 0; --j) total += walk_.of(walk_.slot(j))[t];
    if (total / n_ < 0.5 * limits_.eps * (1.0 - kMargin)) return t;
  }
  return limits_.averaged_mixing + 1;
}

bool DesignScore::complete() const {
  double ahead = 0.0;
  for (int j = n_ - 1; j >= 0; --j) {
    if (keeps(j)) continue;  // what it has got stays
    ahead += signal_.of(signal_.slot(j))[signal_.steps - 1];
    if (j < n_ - 1 && ahead > fidelity(j)) return false;
  }
  return true;
}

bool DesignScore::keeps(int j) const {
  for (int h = 0; h < edges_.heads(); ++h)
    if (!edges_.senders(h, j).empty()) return false;
  return true;
}

std::int64_t DesignScore::shortest_horizon() const {
  // The last step at which some node's signal peaks, and time for changes to move it.
  std::int64_t last = 0;
  for (int j = 0; j + 1 < n_; ++j) {
    if (keeps(j)) continue;
    const double* states = signal_.of(signal_.slot(j));
    const double* most = std::max_element(states, states + signal_.steps);
    last = std::max(last, static_cast<std::int64_t>(most - states));
  }
  return whole_panels(last + 1 + std::max<std::int64_t>(4, last / 8));
}

}  // namespace synergraph
