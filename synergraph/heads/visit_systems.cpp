#include "synergraph/heads/visit_systems.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "synergraph/core/parallel.h"
#include "synergraph/core/progress.h"
#include "synergraph/heads/sample_heads.h"

namespace synergraph {
namespace {

using Pieces = std::vector<AttentionPiece>;

/// Lets threads in one after another, in the order of their numbers. One that fails keeps the later
/// ones out: the first error, in order, is the one that is reported.
class Turnstile {
 public:
  /// Calls body when all smaller numbers have been through; false if one of them failed.
  bool pass(std::size_t number, const std::function<void()>& body) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return failed_ || next_ == number; });
    if (failed_) return false;
    try {
      body();
    } catch (...) {
      failed_ = true;
      moved_.notify_all();
      throw;
    }
    ++next_;
    moved_.notify_all();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0;
  bool failed_ = false;
};

/// The scheduler: groups of pieces side by side, each group opened and visited by one thread. As
/// many at once as threads, memory and the number of groups make sense of.
void visit_groups(AttentionSource& source, const std::vector<Pieces>& groups,
                  const Execution& execution, const std::function<void(VisitedSample&)>& visitor) {
  auto at_once = static_cast<int>(std::clamp<std::size_t>(
      groups.size(), 1, static_cast<std::size_t>(execution.thread_count())));
  for (const AttentionLayer& layer : source.layers())
    at_once = std::min(
        at_once, systems_at_once(layer.heads, layer.nodes(), execution, source.most_head_bytes()));
  const Execution each = execution_of_each(execution, at_once);
  std::vector<VisitedSample> samples;
  samples.reserve(static_cast<std::size_t>(at_once));
  for (int worker = 0; worker < at_once; ++worker) samples.emplace_back(source, execution, each);
  Turnstile opening;
  parallel_for(groups.size(), at_once, [&](std::size_t index, int worker) {
    VisitedSample& sample = samples[static_cast<std::size_t>(worker)];
    const bool good = opening.pass(index, [&] {
      execution.check();
      sample.open(groups[index]);
    });
    if (good) visitor(sample);
  });
}

}  // namespace

void VisitedSample::open(const Pieces& pieces) {
  while (readers_.size() < pieces.size()) readers_.push_back(source_.reader(all_.memory));
  for (std::size_t k = 0; k < pieces.size(); ++k) readers_[k]->open(pieces[k]);
  sample_ = pieces.front().sample;
  pieces_ = pieces.size();
}

void VisitedSample::visit(const AttentionReader::LayerVisitor& visitor) {
  for (std::size_t k = 0; k < pieces_; ++k) readers_[k]->visit(visitor);
}

void VisitedSample::visit_together(
    const std::function<void(std::span<HeadSource* const>)>& visitor) {
  std::vector<HeadSource*> layers(source_.layers().size());
  // Heads are valid during the visit: all visits last until the last one has done its work.
  const std::function<void(std::size_t)> visit_from = [&](std::size_t reader) {
    if (reader == pieces_) return visitor(layers);
    readers_[reader]->visit([&](int layer, HeadSource& heads) {
      layers[static_cast<std::size_t>(layer)] = &heads;
      visit_from(reader + 1);
    });
  };
  visit_from(0);
}

void visit_systems(AttentionSource& source, const SystemVisit& which,
                   const std::function<void(const VisitedSystem&)>& visitor) {
  const auto wanted = [&](int layer) { return !which.layer || *which.layer == layer; };
  std::vector<Pieces> groups;
  std::uint64_t work = 0;
  for (const SampleRange& range : which.samples)
    for (const AttentionPiece& piece : source.pieces(range.begin, range.end)) {
      const bool all = piece.layer == AttentionPiece::kAllLayers;
      if (!all && !wanted(piece.layer)) continue;
      groups.push_back({piece});
      for (int l = 0; which.work && l < static_cast<int>(source.layers().size()); ++l)
        if (all ? wanted(l) : piece.layer == l)
          work += which.work(source.layers()[static_cast<std::size_t>(l)]);
    }
  if (groups.empty()) return;
  Progress progress(which.unit, work, 0, which.work ? which.execution.progress : ProgressOptions());
  const std::function<void(std::uint64_t)> done = [&](std::uint64_t count) { progress.add(count); };
  const std::function<void(const std::string&)> tell = [&](const std::string& detail) {
    progress.tell(detail);
  };
  visit_groups(source, groups, which.execution, [&](VisitedSample& sample) {
    sample.visit([&](int layer, HeadSource& heads) {
      if (wanted(layer)) visitor({layer, sample.sample(), heads, sample.execution(), done, tell});
    });
  });
}

void visit_samples(AttentionSource& source, const SystemVisit& which,
                   const std::function<void(VisitedSample&)>& visitor) {
  std::vector<Pieces> groups;
  for (const SampleRange& range : which.samples)
    for (int sample = range.begin; sample < range.end; ++sample)
      if (Pieces pieces = source.pieces(sample, sample + 1); !pieces.empty())
        groups.push_back(std::move(pieces));
  visit_groups(source, groups, which.execution, visitor);
}

}  // namespace synergraph
