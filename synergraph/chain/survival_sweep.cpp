#include "synergraph/chain/survival_sweep.h"

#include <algorithm>
#include <utility>

#include "synergraph/core/simd.h"

namespace synergraph {
namespace {

/// The walk among the sources: all nodes but the sink.
ConstMatrixView among_sources(const Walk& walk) {
  ConstMatrixView view = walk.step.view();
  view.rows = view.cols = walk.sink();
  return view;
}

}  // namespace

SurvivalSweep::SurvivalSweep(const Walk& walk)
    : walk_(walk),
      sources_(walk.sink()),
      start_(static_cast<std::size_t>(walk.nodes()), 1.0),
      states_(among_sources(walk), start_.data()) {}

double SurvivalSweep::worst(int k) const {
  double worst = 0.0;
  for (int j = 0; j < sources_; ++j) worst = std::max(worst, states_.at(j, k));
  return worst;
}

double SurvivalSweep::worst_current() const {
  double worst = 0.0;
  for (int j = 0; j < sources_; ++j) worst = std::max(worst, states_.current(j));
  return worst;
}

double SurvivalSweep::worst_moving() const {
  double worst = 0.0;
  for (int j = 0; j < sources_; ++j)
    if (!stuck(j)) worst = std::max(worst, states_.current(j));
  return worst;
}

TruncatedSum::TruncatedSum(int nodes, std::int64_t cutoff)
    : cutoff_(cutoff), sum_(static_cast<std::size_t>(nodes), 0.0) {}

void TruncatedSum::add(const SurvivalSweep& sweep) {
  const Propagation& states = sweep.states();
  const auto sources = static_cast<int>(sum_.size()) - 1;
  const std::int64_t begin = states.time() - states.length();
  const auto count = static_cast<int>(std::min<std::int64_t>(states.length(), cutoff_ - begin));
  for (int j = 0; j < sources; ++j) {
    double& sum = sum_[static_cast<std::size_t>(j)];
    if (count == states.length()) {
      sum += total(states.unordered(j), count);
    } else {
      states.find(j, 0, count, [&](double value) {
        sum += value;
        return false;
      });
    }
  }
}

bool TruncatedSum::complete(const SurvivalSweep& sweep) const {
  const std::int64_t time = sweep.states().time();
  if (time >= cutoff_ || sum_.size() < 2) return true;
  if (time == 0) return false;
  // s_t never grows and every sum is at least s_0 = 1, so a rest below 2^-54 cannot change it.
  // Nodes that are never left do not matter here: take() knows their sums.
  return static_cast<double>(cutoff_ - time) * sweep.worst_moving() < 0x1.0p-54;
}

std::vector<double> TruncatedSum::take(const SurvivalSweep& sweep) {
  for (std::size_t j = 0; j + 1 < sum_.size(); ++j)
    if (sweep.stuck(static_cast<int>(j))) sum_[j] = static_cast<double>(cutoff_);
  return std::move(sum_);
}

HittingTimes summarise_hitting(std::vector<double> times) {
  HittingTimes result;
  result.node = std::move(times);
  result.mean = total(result.node.data(), static_cast<int>(result.node.size())) /
                static_cast<double>(result.node.size());
  const auto worst = std::max_element(result.node.begin(), result.node.end());
  result.max = *worst;
  result.worst_node = static_cast<int>(worst - result.node.begin());
  return result;
}

}  // namespace synergraph
