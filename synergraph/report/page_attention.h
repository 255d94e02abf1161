#pragma once

#include <cstddef>
#include <optional>

#include "synergraph/analysis/head_weights.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/report/page_tokens.h"

#pragma GCC visibility push(default)
namespace synergraph {

inline constexpr int kPageSamples = 10;
inline constexpr std::size_t kPageBytes = std::size_t{64} << 20U;

/// Attention that a page holds. It is read once more: few samples, one head at a time.
struct PageAttention {
  AttentionSource* source = nullptr;
  LayerWeights weights;                      ///< in use
  std::optional<LayerWeights> learned = {};  ///< where they are known
  /// Samples at most. Nothing: kPageSamples, as far as kPageBytes hold them; a number is held to
  /// what a browser can read. Where not even one sample fits, fewer layers are in the page.
  std::optional<int> samples = {};
  TokenNames labels = {};  ///< where they are known: one list for all samples, or one a sample
};

}  // namespace synergraph
#pragma GCC visibility pop
