#include "synergraph/diffusion/quick_minimax.h"

#include <algorithm>
#include <vector>

#include "synergraph/core/array_math.h"
#include "synergraph/core/propagation.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/core/triangular.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/diffusion/peak_rules.h"

namespace synergraph {
namespace {

// Of a diffusion that needs more, digits would be lost in stepping.
constexpr std::int64_t kMostSteps = 200;
// What is smaller may have lost digits to underflow, or to what is flushed.
constexpr double kLeast = 1e-200;

/// Follows the signal at the sink: see FidelityTracker, which does so for every node.
class MinimaxSearch {
 public:
  MinimaxSearch(const DiffusionWeights& diffusion, const FidelityOptions& options)
      : diffusion_(diffusion),
        options_(options),
        nodes_(diffusion.columns.rows),
        chosen_(nodes_ - (options.nodes == FidelityNodes::kSources ? 1 : 0)),
        memory_(5 * static_cast<std::size_t>(nodes_)) {
    if (!options.from.empty()) from_ = minimax_nodes(options, nodes_);
  }

  std::optional<double> run();

 private:
  bool fixed() const { return options_.horizon > 0; }
  bool set_factors();
  void look(const Propagation& states);
  int smallest() const;
  bool certify(int j, const Propagation& states);

  double* part(int index) const { return memory_.data() + std::ptrdiff_t{index} * nodes_; }
  double* scale() const { return part(0); }
  double* stay() const { return part(1); }
  double* phi() const { return part(2); }
  double* inverse_down() const { return part(3); }
  double* passing() const { return part(4); }

  const DiffusionWeights& diffusion_;
  const FidelityOptions& options_;
  int nodes_;
  int chosen_;             // nodes that count come before this one
  std::vector<int> from_;  // those of them that count; empty: all
  mutable ScratchVector<double> memory_;
};

bool MinimaxSearch::set_factors() {
  const double inverse = 1.0 / diffusion_.whole;
  bool good = in_safe_range(diffusion_.whole);
  for (int j = 0; j < nodes_; ++j) {
    const double down = diffusion_.down[j];
    scale()[j] = inverse;
    stay()[j] = down > 0.0 ? diffusion_.columns(j, j) * inverse : 1.0;
    inverse_down()[j] = down > 0.0 ? 1.0 / down : 0.0;
    good = good && (j == 0 || fixed() ? down == 0.0 || in_safe_range(down) : in_safe_range(down));
  }
  return good;
}

/// Maxima over the newest panel, as far as it counts, and over the state after it.
void MinimaxSearch::look(const Propagation& states) {
  const std::int64_t begin = states.time() - states.length();
  const bool whole = !fixed() || states.time() <= options_.horizon;
  const int sink = nodes_ - 1;
  const auto look_one_by_one = [&](int j, int first, int end) {
    states.find(j, first, end, [&](double value) {
      phi()[j] = std::max(phi()[j], value);
      return false;
    });
  };
  if (whole) {
    states.raise_to_panel(std::min(chosen_, begin == 0 ? sink : nodes_), phi());
    if (begin == 0 && chosen_ > sink) look_one_by_one(sink, 1, states.length());  // not the start
    for (int j = 0; j < chosen_; ++j) phi()[j] = std::max(phi()[j], states.current(j));
  } else {
    const auto end = static_cast<int>(options_.horizon - begin) + 1;
    for (int j = 0; j < chosen_; ++j) look_one_by_one(j, begin == 0 && j == sink ? 1 : 0, end);
  }
}

int MinimaxSearch::smallest() const {
  if (!from_.empty()) {
    double least = phi()[from_.front()];
    for (const int j : from_) least = std::min(least, phi()[j]);
    auto weak = from_.begin();
    while (!peak_rules::is_smallest(phi()[*weak], least)) ++weak;
    return *weak;
  }
  const double least = *std::min_element(phi(), phi() + chosen_);
  int first = 0;
  while (!peak_rules::is_smallest(phi()[first], least)) ++first;
  return first;
}

/// Can node j's fidelity change no more?
bool MinimaxSearch::certify(int j, const Propagation& states) {
  if (j == 0 && !fixed()) return true;
  double above = 0.0;
  for (int i = j; i < nodes_; ++i) above += states.current(i);
  if (peak_rules::is_final(above, phi()[j])) return true;
  // What is ever passed on to j.
  passing()[j] = 1.0;
  forward_substitute(diffusion_.columns, inverse_down(), j, passing());
  double ever = 0.0;
  for (int i = j; i < nodes_; ++i) ever += states.current(i) * passing()[i];
  return peak_rules::is_final(ever, phi()[j]);
}

std::optional<double> MinimaxSearch::run() {
  if (nodes_ == 1) return 1.0;
  // Panels end behind the last step.
  if (options_.step_limit < kMostSteps + Propagation::panel() || !set_factors())
    return std::nullopt;
  std::fill_n(phi(), nodes_, 0.0);
  std::fill_n(passing(), nodes_, 0.0);
  passing()[nodes_ - 1] = 1.0;  // the start
  Propagation states(diffusion_.columns, scale(), stay(), passing());
  states.flush_tiny();
  for (;;) {
    std::int64_t steps = states.time() == 0 ? peak_rules::kFirstSteps : Propagation::panel();
    if (fixed()) steps = std::min(steps, options_.horizon - states.time());
    states.advance(steps);
    look(states);
    if (!fixed()) phi()[0] = 1.0;  // all of the signal ends there
    const int j = smallest();
    const bool final = (fixed() && states.time() >= options_.horizon) || certify(j, states);
    if (final && phi()[j] >= kLeast) return phi()[j];
    if (final || states.time() >= kMostSteps) return std::nullopt;
  }
}

}  // namespace

std::optional<double> quick_minimax(const DiffusionWeights& diffusion,
                                    const FidelityOptions& options) {
  return MinimaxSearch(diffusion, options).run();
}

}  // namespace synergraph
