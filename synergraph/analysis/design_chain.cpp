#include "synergraph/analysis/design_chain.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "synergraph/analysis/design_start.h"
#include "synergraph/core/random.h"

namespace synergraph {
namespace {

constexpr std::int64_t kFirstCycle = 2048;  // moves
constexpr std::int64_t kRefresh = 512;      // moves between choices of the horizon
// In units of the logarithm of the mean fidelity, times the number of nodes: a move changes few.
constexpr double kWarm = 0.03, kCold = 0.0003;
constexpr double kCooler = 0.7;  // first temperature of a cycle to the one before

std::size_t element(std::int64_t k) {
  return static_cast<std::size_t>(k);
}

/// The temperature of a move, and whether it is the first of its cycle.
double temperature(std::int64_t step, bool& first) {
  std::int64_t length = kFirstCycle;
  double warm = kWarm;
  while (step >= length) {
    step -= length;
    length *= 2;
    warm = std::max(warm * kCooler, 4.0 * kCold);
  }
  first = step == 0;
  return warm * std::pow(kCold / warm, static_cast<double>(step) / static_cast<double>(length));
}

}  // namespace

/// The random numbers of one move: a function of the seed, the search and the move.
class DesignChain::Draws {
 public:
  Draws(const RandomStream& stream, std::int64_t step)
      : stream_(stream), block_(static_cast<std::uint64_t>(step) << 8U) {}
  int below(std::int64_t bound) {
    if (next_ == 4) {
      words_ = stream_.words(block_++);
      next_ = 0;
    }
    const std::uint64_t word = words_[next_++];
    return static_cast<int>((word * static_cast<std::uint64_t>(bound)) >> 32U);
  }
  double uniform() { return stream_.uniforms(block_++)[0]; }
  template <class List>
  int of(const List& list) {
    return static_cast<int>(list[element(below(static_cast<std::int64_t>(list.size())))]);
  }

 private:
  const RandomStream& stream_;
  std::uint64_t block_;
  std::array<std::uint32_t, 4> words_{};
  std::size_t next_ = 4;
};

DesignChain::DesignChain(ChainState& state, const DesignLimits& limits, std::uint64_t seed,
                         std::uint32_t number)
    : state_(state),
      limits_(limits),
      seed_(seed),
      number_(number),
      score_(state.now, limits, search_horizon(state.now.nodes())) {
  score_.start(state.horizon);
  state_.horizon = score_.horizon();
  remember();
}

void DesignChain::run(std::int64_t count) {
  const RandomStream stream(seed_, Purpose::kDesign, number_ + 1);
  for (const std::int64_t end = state_.steps + count; state_.steps < end; ++state_.steps) {
    bool first = false;
    const double warmth = temperature(state_.steps, first);
    if (first && state_.best_fidelity >= 0.0) state_.now = state_.best;
    if (first || state_.steps % kRefresh == 0) {
      score_.start();
      state_.horizon = score_.horizon();
    }
    Draws draws(stream, state_.steps);
    const double luck = draws.uniform();
    edits_.clear();
    propose(draws);
    if (edits_.empty()) continue;
    for (const Edit& e : edits_) score_.touch(e.head, e.from, e.to);
    const double most =
        score_.slowness() > 1.0
            ? std::numeric_limits<double>::infinity()
            : score_.badness() *
                  std::pow(1.0 - luck, -DesignScore::kSharpness * warmth / state_.now.nodes());
    if (score_.update(most)) {
      score_.accept();
      remember();
    } else {
      undo();
      score_.reject();
    }
  }
}

void DesignChain::remember() {
  if (score_.slowness() > 1.0 || !(score_.minimax() > state_.best_fidelity)) return;
  state_.best = state_.now;
  state_.best_fidelity = score_.minimax();
}

bool DesignChain::edit(bool add, int head, int from, int to) {
  if (from >= to || from < 0 || to >= state_.now.nodes()) return false;
  if (state_.now.has(head, from, to) == add) return false;
  if (add)
    state_.now.add(head, from, to);
  else
    state_.now.remove(head, from, to);
  edits_.push_back({head, from, to, add});
  return true;
}

void DesignChain::undo() {
  std::reverse(edits_.begin(), edits_.end());
  for (const auto& e : edits_) {
    if (e.added)
      state_.now.remove(e.head, e.from, e.to);
    else
      state_.now.add(e.head, e.from, e.to);
  }
  edits_.clear();
}

bool DesignChain::random_edge(Draws& draws, int& head, int& from, int& to) const {
  constexpr int kTries = 8;
  for (int k = 0; k < kTries; ++k) {
    head = draws.below(state_.now.heads());
    to = 1 + draws.below(state_.now.nodes() - 1);
    if (state_.now.senders(head, to).empty()) continue;
    from = draws.of(state_.now.senders(head, to));
    return true;
  }
  return false;
}

void DesignChain::propose(Draws& draws) {
  if (state_.now.nodes() < 2) return;
  const int kind = draws.below(100);
  int h = 0;
  int from = 0;
  int to = 0;
  if (kind < 22) {
    rewire_sender(draws);
  } else if (kind < 40) {
    rewire_receiver(draws);
  } else if (kind < 50) {
    swap_ends(draws);
  } else if (kind < 60) {
    if (random_edge(draws, h, from, to)) edit(false, h, from, to);
  } else if (kind < 72) {
    // An edge between a node and what a neighbour of its neighbour hears, or any edge.
    h = draws.below(state_.now.heads());
    to = 1 + draws.below(state_.now.nodes() - 1);
    from = draws.below(to);
    if (draws.below(2) == 0 && !state_.now.senders(h, to).empty()) {
      const int shared = draws.of(state_.now.senders(h, to));
      const int other = draws.of(state_.now.receivers(h, shared));
      from = draws.of(state_.now.senders(h, other));
    }
    edit(true, h, from, to);
  } else if (kind < 88 || (kind >= 94 && state_.now.heads() == 1)) {
    strengthen(draws);
  } else if (kind < 94) {
    make_twin(draws);
  } else {
    move_between_heads(draws);
  }
  if (state_.now.count() > limits_.edges) undo();
}

void DesignChain::rewire_sender(Draws& draws) {
  int h = 0;
  int from = 0;
  int to = 0;
  if (!random_edge(draws, h, from, to)) return;
  int instead = draws.below(to);
  if (draws.below(2) == 0) {
    const int other = draws.of(state_.now.receivers(h, from));
    instead = draws.of(state_.now.senders(h, other));
  }
  if (edit(true, h, instead, to)) edit(false, h, from, to);
}

void DesignChain::rewire_receiver(Draws& draws) {
  int h = 0;
  int from = 0;
  int to = 0;
  if (!random_edge(draws, h, from, to)) return;
  int instead = from + 1 + draws.below(state_.now.nodes() - 1 - from);
  if (draws.below(2) == 0) {
    const int other = draws.of(state_.now.senders(h, to));
    instead = draws.of(state_.now.receivers(h, other));
  }
  if (edit(true, h, from, instead)) edit(false, h, from, to);
}

void DesignChain::swap_ends(Draws& draws) {
  int h = 0;
  int a = 0;
  int b = 0;
  if (!random_edge(draws, h, a, b)) return;
  // The other edge: of a node that hears a node with a common hearer, or any.
  int c = 0;
  int d = 1 + draws.below(state_.now.nodes() - 1);
  if (draws.below(2) == 0)
    d = draws.of(state_.now.receivers(h, draws.of(state_.now.senders(h, b))));
  if (state_.now.senders(h, d).empty()) return;
  c = draws.of(state_.now.senders(h, d));
  if (a == c || b == d || a >= d || c >= b) return;
  if (state_.now.has(h, a, d) || state_.now.has(h, c, b)) return;
  edit(true, h, a, d);
  edit(true, h, c, b);
  edit(false, h, a, b);
  edit(false, h, c, d);
}

void DesignChain::strengthen(Draws& draws) {
  // The weakest node, or the weaker of two: another node hears it, in place of the loudest it
  // hears.
  int weak = score_.weakest();
  if (draws.below(2) == 0) {
    const int a = draws.below(state_.now.nodes() - 1);
    const int b = draws.below(state_.now.nodes() - 1);
    weak = score_.fidelity(a) < score_.fidelity(b) ? a : b;
  }
  const int h = draws.below(state_.now.heads());
  int to = weak + 1 + draws.below(state_.now.nodes() - 1 - weak);
  const auto& hearers = state_.now.receivers(h, weak);
  if (!hearers.empty() && draws.below(4) != 0) {
    const int hearer = draws.of(hearers);
    const int beside = draws.of(state_.now.senders(h, hearer));
    to = draws.of(state_.now.receivers(h, beside));
  }
  if (!edit(true, h, weak, to) || draws.below(4) == 0) return;
  const auto& heard = state_.now.senders(h, to);
  int loud = draws.of(heard);
  for (int k = 0; k < 2; ++k)
    if (const int other = draws.of(heard); score_.fidelity(other) > score_.fidelity(loud))
      loud = other;
  if (loud != weak) edit(false, h, loud, to);
}

void DesignChain::make_twin(Draws& draws) {
  const int n = state_.now.nodes();
  if (n < 3) return;
  const int node = draws.below(n - 1);
  const int reach = 1 + draws.below(3);
  const int model = draws.below(2) == 0 ? node - reach : node + reach;
  if (model < 0 || model >= n - 1) return;
  for (int h = 0; h < state_.now.heads(); ++h) {
    const std::vector<std::int32_t> old_senders = state_.now.senders(h, node);
    const std::vector<std::int32_t> old_receivers = state_.now.receivers(h, node);
    const std::vector<std::int32_t> senders = state_.now.senders(h, model);
    const std::vector<std::int32_t> receivers = state_.now.receivers(h, model);
    const auto in = [](const std::vector<std::int32_t>& list, std::int32_t value) {
      return std::binary_search(list.begin(), list.end(), value);
    };
    for (const std::int32_t j : old_senders)
      if (!in(senders, j)) edit(false, h, j, node);
    for (const std::int32_t j : senders)
      if (j != node) edit(true, h, j, node);
    for (const std::int32_t i : old_receivers)
      if (!in(receivers, i)) edit(false, h, node, i);
    for (const std::int32_t i : receivers)
      if (i != node) edit(true, h, node, i);
  }
}

void DesignChain::move_between_heads(Draws& draws) {
  int h = 0;
  int from = 0;
  int to = 0;
  if (!random_edge(draws, h, from, to)) return;
  const int other = draws.below(state_.now.heads());
  if (other != h && edit(true, other, from, to)) edit(false, h, from, to);
}

}  // namespace synergraph
