#pragma once

#include <functional>
#include <string>

#include "synergraph/graph/advice_options.h"

namespace synergraph {

/// What a matrix that is not causal attention looks like.
enum class AttentionLikeness {
  kUnknown,
  kScores,               ///< scores before softmax, without the causal mask
  kMaskedScores,         ///< scores before softmax, with the causal mask
  kPaddedLeft,           ///< attention whose first tokens are padding
  kPaddedRight,          ///< attention whose last tokens are padding
  kTransposed,           ///< causal attention with query and key swapped
  kNotCausal,            ///< rows sum to one, tokens attend to later ones: an encoder's
  kNotCausalTransposed,  ///< the same with query and key swapped
  kDropout,              ///< causal attention after dropout
};

struct AttentionDiagnosis {
  AttentionLikeness likeness = AttentionLikeness::kUnknown;
  int padding = 0;  ///< tokens of padding, where that is what it looks like
};

/// Looks at rows and columns begin .. end - 1 of a matrix that was refused. Every kind but kUnknown
/// needs evidence from most rows: one bad entry is never more than a bad entry. Rows are read once,
/// in order; `row(i)` is valid until the next call.
AttentionDiagnosis diagnose_attention(const std::function<const double*(int i)>& row, int begin,
                                      int end);

/// Sentences that say what it looks like and what to do; empty where that is not known.
std::string advice_on(const AttentionDiagnosis& diagnosis, const AdviceOptions& options);

}  // namespace synergraph
