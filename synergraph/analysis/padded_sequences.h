#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/heads/attention_source.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The side of shorter sequences that padding fills.
enum class PaddingSide { kRight, kLeft };

template <>
inline constexpr NameTable<PaddingSide, 2> kNamesOf<PaddingSide>{
    {{PaddingSide::kRight, "right"}, {PaddingSide::kLeft, "left"}}};

/// Which tokens of samples are measured.
struct SequenceChoice {
  /// Numbers of tokens without padding: one for all samples or one a sample; empty: all tokens.
  std::vector<std::int64_t> lengths = {};
  PaddingSide padding = PaddingSide::kRight;
  /// The tokens that information moves to, negative ones counted from the end; empty: the last.
  std::vector<std::int64_t> sinks = {};
  TokenChoice to = {};  ///< the same, as a person says it
};

/// Lengths from a file with one tensor of whole numbers, (samples) or a single one.
std::vector<std::int64_t> lengths_of_file(const std::string& path);

/// The sequences of every layer, sinks of a sample together. InputError where the choice does not
/// fit the samples, or the layers have not the same number of samples and tokens.
std::vector<TokenSpan> padded_sequences(const std::vector<AttentionLayer>& layers,
                                        const SequenceChoice& choice);

}  // namespace synergraph
#pragma GCC visibility pop
