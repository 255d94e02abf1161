#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/core/matrix.h"
#include "synergraph/model/parameters.h"
#include "synergraph/model/tasks.h"

#pragma GCC visibility push(default)
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

/// How the model did on one sequence.
struct SequenceScore {
  double loss = 0.0;  ///< sum of the cross-entropies over the positions that count
  int correct = 0;    ///< positions whose largest logit is the target
};

/// Evaluates a model in evaluation mode (no dropout), one sequence at a time. Each thread needs its
/// own evaluator; the model must outlive the evaluator.
class SequenceEvaluator {
 public:
  virtual ~SequenceEvaluator() = default;
  SequenceEvaluator() = default;
  SequenceEvaluator(const SequenceEvaluator&) = delete;
  SequenceEvaluator& operator=(const SequenceEvaluator&) = delete;

  /// Visits the layers' attention (heads, length, length) in order, valid during the call. Tokens
  /// must fit the model: see require_fitting().
  using LayerVisitor = std::function<void(int layer, const float* attention)>;

  /// The score of the model on a sequence; positions with the target kIgnored do not count.
  virtual SequenceScore run(const std::int32_t* input, const std::int32_t* target,
                            const LayerVisitor& visitor) = 0;
};

/// Makes evaluators of one model, from any thread.
using EvaluatorFactory = std::function<std::unique_ptr<SequenceEvaluator>()>;

class SequencePass;

/// The evaluator on the CPU.
class Evaluator final : public SequenceEvaluator {
 public:
  explicit Evaluator(const Model& model);
  ~Evaluator() override;

  SequenceScore run(const std::int32_t* input, const std::int32_t* target,
                    const LayerVisitor& visitor) override {
    return run(input, target, visitor, nullptr);
  }
  /// `logits`, unless null, receives (length, vocabulary) values.
  SequenceScore run(const std::int32_t* input, const std::int32_t* target,
                    const LayerVisitor& visitor, float* logits);

  /// The pass that a visitor is called from, with the visited layer's input, values and outputs of
  /// heads.
  const SequencePass& pass() const;

 private:
  struct Workspace;
  const Model& model_;
  std::unique_ptr<Workspace> work_;
};

struct Evaluation {
  double loss = 0.0;      ///< mean cross-entropy over the positions that count
  double accuracy = 0.0;  ///< share of these positions whose largest logit is the target
  /// (samples, length, vocabulary) when wanted, else empty.
  std::vector<float> logits;
};

/// Means over the positions of the sequences that count, which are `positions`.
Evaluation mean_score(const std::vector<SequenceScore>& scores, std::int64_t positions);

struct EvaluateOptions {
  bool want_logits = false;  ///< return the logits
  AttentionVisitor attention = nullptr;
  Execution execution = {};  ///< Stopped if it was asked to stop before the last sequence
};

/// The model in evaluation mode (no dropout) on the inputs, judged by the targets. InputError when
/// a sequence has another length than the model or a token is outside its vocabulary.
Evaluation evaluate(const Model& model, const Sequences& inputs, const Sequences& targets,
                    const EvaluateOptions& options = {});

/// InputError, naming the sequence and the position, unless the sequences fit the model.
void require_fitting(const ModelConfig& config, const Sequences& sequences, const char* what);
/// The same for targets: tokens or kIgnored, and at least one token.
void require_fitting_targets(const ModelConfig& config, const Sequences& targets, const char* what);

}  // namespace synergraph
#pragma GCC visibility pop
