#include "synergraph/analysis/visit_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"

namespace synergraph {

struct Turnstile::State {
  std::mutex mutex;
  std::condition_variable moved;
  std::size_t next = 0;
  bool failed = false;
};

Turnstile::Turnstile() : state_(std::make_unique<State>()) {}
Turnstile::~Turnstile() = default;

bool Turnstile::pass(std::size_t number, const std::function<void()>& body) {
  std::unique_lock lock(state_->mutex);
  state_->moved.wait(lock, [&] { return state_->failed || state_->next == number; });
  if (state_->failed) return false;
  try {
    body();
  } catch (...) {
    state_->failed = true;
    state_->moved.notify_all();
    throw;
  }
  ++state_->next;
  state_->moved.notify_all();
  return true;
}

SideBySide side_by_side(const std::vector<AttentionLayer>& layers, std::size_t pieces,
                        const Execution& execution) {
  auto at_once = static_cast<int>(
      std::clamp<std::size_t>(pieces, 1, static_cast<std::size_t>(execution.thread_count())));
  for (const AttentionLayer& layer : layers)
    at_once = std::min(at_once, systems_at_once(layer.heads, layer.nodes(), execution));
  return {at_once, execution_of_each(execution, at_once), execution.memory};
}

void visit_samples(AttentionSource& source, const std::vector<AttentionPiece>& pieces,
                   const SideBySide& way, const SampleVisitor& visitor) {
  std::vector<std::unique_ptr<AttentionReader>> readers(static_cast<std::size_t>(way.at_once));
  Turnstile opening;
  parallel_for(pieces.size(), way.at_once, [&](std::size_t index, int worker) {
    const AttentionPiece& piece = pieces[index];
    auto& reader = readers[static_cast<std::size_t>(worker)];
    const bool good = opening.pass(index, [&] {
      way.each.check();
      if (!reader) reader = source.reader(way.memory);
      reader->open(piece);
    });
    if (!good) return;
    reader->visit([&](int layer, HeadSource& heads) { visitor(layer, piece.sample, heads); });
  });
}

std::vector<AttentionPiece> pieces_of(const AttentionSource& source,
                                      const std::vector<SampleRange>& ranges) {
  std::vector<AttentionPiece> all;
  for (const SampleRange& range : ranges) {
    const std::vector<AttentionPiece> pieces = source.pieces(range.begin, range.end);
    all.insert(all.end(), pieces.begin(), pieces.end());
  }
  return all;
}

std::vector<AttentionPiece> pieces_by_layer(const std::vector<AttentionLayer>& layers, int begin,
                                            int end) {
  std::vector<AttentionPiece> all;
  for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer)
    for (int s = begin; s < std::min(end, layers[static_cast<std::size_t>(layer)].samples); ++s)
      all.push_back({s, layer});
  return all;
}

int most_samples(const std::vector<AttentionLayer>& layers) {
  int most = 0;
  for (const AttentionLayer& layer : layers) most = std::max(most, layer.samples);
  return most;
}

void require_weights(const std::vector<AttentionLayer>& layers,
                     const std::vector<std::vector<double>>& weights) {
  if (weights.size() != layers.size())
    throw InputError(fmt::format("weights of {} layers, for {}", weights.size(), layers.size()));
  for (std::size_t l = 0; l < layers.size(); ++l) try {
      (void)normalised_weights(weights[l], static_cast<std::size_t>(layers[l].heads));
    } catch (const InputError& error) {
      throw InputError(fmt::format("layer {}: {}", layers[l].name, error.what()));
    }
}

}  // namespace synergraph
