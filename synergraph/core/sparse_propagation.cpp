#include "synergraph/core/sparse_propagation.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/underflow.h"

namespace synergraph {
namespace {

std::size_t at(std::int64_t k) {
  return static_cast<std::size_t>(k);
}

/// First nodes of blocks of about as many edges each, then the number of nodes. They depend on the
/// graph alone, as the order of sums over blocks does.
std::vector<int> blocks_of(const std::vector<std::int64_t>& first) {
  const auto nodes = static_cast<std::int64_t>(first.size()) - 1;
  constexpr std::int64_t kMostBlocks = 256;
  constexpr std::int64_t kLeastNodes = 64;
  // A node counts like some edges: its recurrence takes as long.
  constexpr std::int64_t kNode = 8;
  const std::int64_t work = first.back() + kNode * nodes;
  const std::int64_t count = std::clamp<std::int64_t>(nodes / kLeastNodes, 1, kMostBlocks);
  std::vector<int> blocks = {0};
  for (std::int64_t j = 1; j < nodes; ++j)
    if (first[at(j)] + kNode * j >= work / count * static_cast<std::int64_t>(blocks.size()))
      blocks.push_back(static_cast<int>(j));
  blocks.push_back(static_cast<int>(nodes));
  return blocks;
}

/// Panels of one call at the most. Threads beyond have nothing to do.
constexpr std::size_t kMostPanels = 16;

}  // namespace

struct SparsePropagation::Panel {
  std::vector<std::array<double, kSparseSteps>> totals;  ///< by block
  std::vector<std::array<double, kSparseSteps>> worst;
  std::atomic<int> waiting{0};  ///< blocks that are not finished
};

SparsePropagation::SparsePropagation(Operator op, std::vector<double> start,
                                     const Execution& execution)
    : op_(std::move(op)),
      now_(std::move(start)),
      execution_(execution),
      blocks_(blocks_of(op_.first)) {
  const std::size_t one = now_.size() * kSparseSteps * sizeof(double);
  const std::size_t fit = std::max<std::size_t>(execution.memory.bytes() / one, 1);
  states_.resize(std::min({at(execution.thread_count()), fit, kMostPanels}));
}

void SparsePropagation::advance(
    std::int64_t most, Collected& collected,
    const std::function<void(std::int64_t t, double total, double worst)>& each) {
  execution_.check();
  const std::int64_t wanted = (std::max<std::int64_t>(most, 1) + kSparseSteps - 1) / kSparseSteps;
  const std::size_t count =
      std::min({at(wanted), kMostPanels, at(std::max<std::int64_t>(time_ / kSparseSteps, 1))});
  const int blocks = static_cast<int>(blocks_.size()) - 1;
  std::vector<Panel> panels(count);
  for (Panel& panel : panels) {
    panel.totals.resize(at(blocks));
    panel.worst.resize(at(blocks));
    panel.waiting = blocks;
  }
  std::atomic<bool> failed{false};
  const int threads = static_cast<int>(std::min(states_.size(), count));
  parallel_for(count, threads, [&](std::size_t p, int worker) {
    ScratchVector<double>& states = states_[at(worker)];
    states.resize(now_.size() * kSparseSteps);
    SparsePanel shape;
    shape.first = op_.first.data();
    shape.target = op_.target.data();
    shape.weight = op_.weight.empty() ? nullptr : op_.weight.data();
    shape.stay = op_.stay.data();
    shape.gain = op_.gain.empty() ? nullptr : op_.gain.data();
    shape.scale = op_.scale.empty() ? nullptr : op_.scale.data();
    shape.states = states.data();
    shape.now = now_.data();
    SparseReadings readings;
    const std::int64_t begin = time_ + static_cast<std::int64_t>(p) * kSparseSteps;
    readings.time = static_cast<double>(begin);
    if (!collected.peak.empty()) {
      readings.peak = collected.peak.data();
      readings.peak_time = collected.peak_time.data();
    }
    if (!collected.sum.empty() && begin < collected.sum_end) {
      readings.sum = collected.sum.data();
      readings.summed =
          static_cast<int>(std::min<std::int64_t>(kSparseSteps, collected.sum_end - begin));
    }
    for (int block = blocks - 1; block >= 0; --block) {
      // The panel before is taken by a thread that is running, for indices are taken in order.
      while (p > 0 && panels[p - 1].waiting.load(std::memory_order_acquire) > block) {
        if (failed) return;
        std::this_thread::yield();
      }
      if (execution_.stopped()) {
        failed = true;
        throw Stopped();
      }
      readings.totals = panels[p].totals[at(block)].data();
      readings.worst = panels[p].worst[at(block)].data();
      const FlushUnderflow flush;
      kernels().advance_sparse(shape, blocks_[at(block)], blocks_[at(block) + 1], readings);
      panels[p].waiting.store(block, std::memory_order_release);
    }
  });
  for (const Panel& panel : panels) {
    for (int k = 0; k < kSparseSteps; ++k, ++time_) {
      double total = 0.0;
      double worst = 0.0;
      for (int block = blocks - 1; block >= 0; --block) {
        total += panel.totals[at(block)][at(k)];
        worst = std::max(worst, panel.worst[at(block)][at(k)]);
      }
      if (each) each(time_, total, worst);
    }
  }
}

double advance_node(const NodeSteps& node) {
  return kernels().advance_node(node);
}

}  // namespace synergraph
