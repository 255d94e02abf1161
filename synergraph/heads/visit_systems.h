#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/heads/attention_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Which systems of a source are visited, and how. A system is one layer's heads on one sample.
struct SystemVisit {
  std::vector<SampleRange> samples;
  std::optional<int> layer = {};  ///< nothing: all layers
  /// Threads and memory are shared by the systems that are visited at the same time.
  Execution execution = {};
  /// The work in one system of a layer, in units that Execution::progress reports and that
  /// visitors count with VisitedSystem::done. None: no progress is reported.
  std::function<std::uint64_t(const AttentionLayer& layer)> work = {};
  std::string unit = {};
};

/// A system, valid during its visit.
struct VisitedSystem {
  int layer;
  int sample;
  HeadSource& heads;
  const Execution& execution;                           ///< of the work on this system
  const std::function<void(std::uint64_t)>& done;       ///< counts units of SystemVisit::work
  const std::function<void(const std::string&)>& tell;  ///< says how far the next unit is
};

/// Calls the visitor for systems, several at once. Each thread has its own reader; the number of
/// threads keeps to the memory. Samples are opened one at a time, in the order of
/// AttentionSource::pieces(). Of several errors the first in that order is thrown. Stopped if
/// asked to stop. Results must depend on the system alone.
void visit_systems(AttentionSource& source, const SystemVisit& which,
                   const std::function<void(const VisitedSystem&)>& visitor);

/// All layers of one sample, valid during its visit.
class VisitedSample {
 public:
  VisitedSample(AttentionSource& source, const Execution& all, const Execution& each)
      : source_(source), all_(all), each_(each) {}

  int sample() const { return sample_; }
  const Execution& execution() const { return each_; }  ///< of the work on this sample

  /// Visits the layers in order; can be called again.
  void visit(const AttentionReader::LayerVisitor& visitor);

  /// Whether each layer is read by itself.
  bool separate() const { return pieces_ > 1 || source_.layers().size() == 1; }
  /// Calls the visitor with all layers at once; for layers that are read by themselves.
  void visit_together(const std::function<void(std::span<HeadSource* const> layers)>& visitor);

  /// Begins pieces of a sample. By one thread at a time.
  void open(const std::vector<AttentionPiece>& pieces);

 private:
  AttentionSource& source_;
  const Execution& all_;
  const Execution& each_;
  int sample_ = 0;
  std::size_t pieces_ = 0;
  std::vector<std::unique_ptr<AttentionReader>> readers_;  // one for every piece
};

/// The same for samples, each with all its layers; SystemVisit::layer, work and unit are not used.
void visit_samples(AttentionSource& source, const SystemVisit& which,
                   const std::function<void(VisitedSample&)>& visitor);

}  // namespace synergraph
#pragma GCC visibility pop
