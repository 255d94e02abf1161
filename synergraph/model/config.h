#pragma once

#pragma GCC visibility push(default)
namespace synergraph {

/// The sizes of a decoder-only Transformer. The defaults are the paper's.
struct ModelConfig {
  int vocabulary = 256;  ///< V: tokens are 0 .. V-1
  int length = 100;      ///< n: positions, also the length of every training sequence
  int width = 64;        ///< E: features of a position
  int heads = 4;         ///< H: attention heads a layer; must divide the width
  int layers = 4;        ///< L
  int hidden = 128;      ///< F: width of the hidden layer of each MLP

  bool operator==(const ModelConfig&) const = default;
};

/// Throws UsageError, naming the size at fault, when no model can have these sizes.
void validate(const ModelConfig& config);

}  // namespace synergraph
#pragma GCC visibility pop
