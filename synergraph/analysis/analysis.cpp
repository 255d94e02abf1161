#include "synergraph/analysis/analysis.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

/// Lets threads in one after another, in the order of their numbers. One that fails keeps the later
/// ones out: the first error, in order, is the one that is reported.
class Turnstile {
 public:
  /// Calls body when all smaller numbers have been through; false if one of them failed.
  template <class Body>
  bool pass(std::size_t number, const Body& body) {
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

/// InputError unless there is one weight for every head of every layer.
void require_weights(const std::vector<AttentionLayer>& layers, const LayerWeights& weights) {
  if (weights.size() != layers.size())
    throw InputError(fmt::format("weights of {} layers, for {}", weights.size(), layers.size()));
  for (std::size_t l = 0; l < layers.size(); ++l)
    if (weights[l].size() != static_cast<std::size_t>(layers[l].heads))
      throw InputError(fmt::format("layer {}: {} weights for {} heads", layers[l].name,
                                   weights[l].size(), layers[l].heads));
}

int most_samples(const std::vector<AttentionLayer>& layers) {
  int most = 0;
  for (const AttentionLayer& layer : layers) most = std::max(most, layer.samples);
  return most;
}

}  // namespace

Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options) {
  require_weights(source.layers(), weights);
  if (options.conventions.empty()) throw UsageError("no convention to measure by");
  Analysis analysis{source.layers(), std::move(weights), options.conventions, {}};
  std::uint64_t heads = 0;
  for (const AttentionLayer& layer : analysis.layers)
    heads += static_cast<std::uint64_t>(layer.samples) * static_cast<std::uint64_t>(layer.heads);
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    auto& layers = analysis.samples.emplace_back();
    for (const AttentionLayer& layer : analysis.layers)
      layers.emplace_back(static_cast<std::size_t>(layer.samples));
  }

  Progress progress("heads", heads, 0, options.execution.progress);
  std::mutex progress_mutex;
  std::uint64_t done = 0;
  int at_once = options.execution.thread_count();
  for (const AttentionLayer& layer : analysis.layers)
    at_once = std::min(at_once, systems_at_once(layer.heads, layer.tokens, options.execution));
  MeasureOptions sample_options;
  sample_options.conventions = options.conventions;
  sample_options.execution = execution_of_each(options.execution, at_once);
  sample_options.head_done = [&] {
    const std::lock_guard lock(progress_mutex);
    progress.update(++done, "");
  };
  const std::vector<AttentionPiece> pieces = source.pieces(0, most_samples(analysis.layers));
  std::vector<std::unique_ptr<AttentionReader>> readers(static_cast<std::size_t>(at_once));
  Turnstile opening;
  parallel_for(pieces.size(), at_once, [&](std::size_t index, int worker) {
    const AttentionPiece& piece = pieces[index];
    auto& reader = readers[static_cast<std::size_t>(worker)];
    if (!reader) reader = source.reader();
    const bool good = opening.pass(index, [&] {
      options.execution.check();
      reader->open(piece);
    });
    if (!good) return;
    reader->visit([&](int layer, HeadSource& sample_heads) {
      const auto l = static_cast<std::size_t>(layer);
      auto measured = measure(sample_heads, analysis.weights[l], sample_options);
      for (std::size_t c = 0; c < measured.size(); ++c)
        analysis.samples[c][l][static_cast<std::size_t>(piece.sample)] = std::move(measured[c]);
    });
  });
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    auto& layers = analysis.summaries.emplace_back();
    for (const std::vector<HeadsMetrics>& samples : analysis.samples[c])
      layers.push_back(summarise_layer(samples, options.conventions[c].walk.eps));
  }
  return analysis;
}

}  // namespace synergraph
