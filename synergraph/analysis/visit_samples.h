#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "synergraph/analysis/attention_source.h"
#include "synergraph/analysis/shared_samples.h"
#include "synergraph/core/execution.h"

namespace synergraph {

/// Lets threads in one after another, in the order of their numbers. One that fails keeps the later
/// ones out: the first error, in order, is the one that is reported.
class Turnstile {
 public:
  Turnstile();
  ~Turnstile();
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;

  /// Calls body when all smaller numbers have been through; false if one of them failed.
  bool pass(std::size_t number, const std::function<void()>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Samples that are visited side by side, and how each may be carried out.
struct SideBySide {
  int at_once = 1;
  Execution each;
  WorkingMemory memory;  ///< of all together
};

/// As many at once as threads, memory and the number of pieces make sense of.
SideBySide side_by_side(const std::vector<AttentionLayer>& layers, std::size_t pieces,
                        const Execution& execution);

/// Visits every layer of all samples, several samples at once; those of one layer begin in order.
using SampleVisitor = std::function<void(int layer, int sample, HeadSource& heads)>;
void visit_samples(AttentionSource& source, const std::vector<AttentionPiece>& pieces,
                   const SideBySide& way, const SampleVisitor& visitor);

/// What ranges of samples of a source are made of.
std::vector<AttentionPiece> pieces_of(const AttentionSource& source,
                                      const std::vector<SampleRange>& ranges);

/// Samples begin to end - 1 of a source that is read layer by layer, as far as layers have them.
std::vector<AttentionPiece> pieces_by_layer(const std::vector<AttentionLayer>& layers, int begin,
                                            int end);

/// The largest number of samples of a layer.
int most_samples(const std::vector<AttentionLayer>& layers);

/// InputError unless there is one weight for every head of every layer, and they can be normalised.
void require_weights(const std::vector<AttentionLayer>& layers,
                     const std::vector<std::vector<double>>& weights);

}  // namespace synergraph
