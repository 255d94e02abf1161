#pragma once

#include <functional>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/model/parameters.h"
#include "synergraph/model/tasks.h"

namespace synergraph {

/// The attention of one layer on one sequence.
struct SampleAttention {
  int sample = 0;
  int layer = 0;
  int worker = 0;  ///< the calling thread, in [0, threads): names the visitor's workspace
  int heads = 0;
  int length = 0;
  const float* values = nullptr;  ///< (heads, length, length): rows are queries, softmax rows

  /// A[i][j] of one head: what query i takes from key j.
  View<const float> head(int h) const {
    return {values + static_cast<std::ptrdiff_t>(h) * length * length, length, length, length};
  }
};

/// Called once for every sample and layer, from several threads at once; the layers of a sample
/// come in order and from one thread. The values are only valid during the call.
using AttentionVisitor = std::function<void(const SampleAttention&)>;

struct EvaluateOptions {
  int threads = 0;           ///< 0: all
  bool want_logits = false;  ///< return the logits
  AttentionVisitor attention = nullptr;
};

struct Evaluation {
  double loss = 0.0;      ///< mean cross-entropy over all positions
  double accuracy = 0.0;  ///< share of positions whose largest logit is the target
  /// (samples, length, vocabulary) when wanted, else empty.
  std::vector<float> logits;
};

/// The model in evaluation mode (no dropout) on the inputs, judged by the targets. InputError when
/// a sequence has another length than the model or a token is outside its vocabulary.
Evaluation evaluate(const Model& model, const Sequences& inputs, const Sequences& targets,
                    const EvaluateOptions& options = {});

/// InputError, naming the sequence and the position, unless the sequences fit the model.
void require_fitting(const ModelConfig& config, const Sequences& sequences, const char* what);

}  // namespace synergraph
