#pragma once

#include <functional>
#include <string>

#include "synergraph/graph/advice_options.h"

namespace synergraph {

/// The kinds of matrices that users pass by mistake instead of causal attention.
enum class AttentionLikeness {
  kUnknown,
  kScores,               ///< scores before softmax, without the causal mask
  kMaskedScores,         ///< scores before softmax, with the causal mask
  kPaddedLeft,           ///< attention whose first tokens are padding
  kPaddedRight,          ///< attention whose last tokens are padding
  kTransposed,           ///< causal attention with query and key swapped
  kNotCausal,            ///< rows sum to one, but tokens attend to later tokens, as in an encoder
  kNotCausalTransposed,  ///< kNotCausal with query and key swapped
  kDropout,              ///< causal attention after dropout
};

struct AttentionDiagnosis {
  AttentionLikeness likeness = AttentionLikeness::kUnknown;
  int padding = 0;  ///< number of padding tokens, for kPaddedLeft and kPaddedRight
};

/// Examines rows and columns begin .. end - 1 of a rejected matrix. Every kind except kUnknown
/// needs evidence from most rows, so a single bad entry never decides. Rows are read once, in
/// order. `row(i)` is valid until the next call.
AttentionDiagnosis diagnose_attention(const std::function<const double*(int i)>& row, int begin,
                                      int end);

/// Returns sentences that say what the matrix looks like and what to do. The text is empty for
/// kUnknown.
std::string advice_on(const AttentionDiagnosis& diagnosis, const AdviceOptions& options);

}  // namespace synergraph
