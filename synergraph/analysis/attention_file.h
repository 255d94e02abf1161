#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "synergraph/analysis/attention_axes.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/io/tensor_file.h"

#pragma GCC visibility push(default)
namespace synergraph {

struct AttentionFileOptions {
  /// Chooses layers: a regular expression (ECMAScript) for the names of an archive's tensors, or
  /// numbers as outputs show them, "3", "0,2", "4-7"; empty: all.
  std::string layers = {};
  TokenRange range = {};
  /// How far a row's sum may be from 1; nothing: what rounding explains, in the element type or in
  /// the shorter one that a row's entries show.
  std::optional<double> row_tolerance = {};
  /// What the arrays' axes are; empty: default_axes(). With one axis more than the arrays of an
  /// archive have, the first, layer or sample, is what the arrays are. Arrays of different lengths
  /// with an axis of samples are samples of one layer, too.
  AttentionAxes axes = {};
  /// What rows mean that sum to less than 1.
  MissingMass missing_mass = MissingMass::kError;
};

/// The attention in a file: arrays (n, n), (heads, n, n), (samples, heads, n, n), (layers, samples,
/// heads, n, n) or with the axes of the options, or an archive of such arrays in the natural order
/// of their names. Nothing but the shapes is read yet. InputError names the tensor that has another
/// shape.
std::unique_ptr<SequenceSource> open_attention_file(const TensorFile& file,
                                                    const AttentionFileOptions& options);

/// Whether `a` comes before `b` when runs of digits are compared as numbers: "layer2" before
/// "layer10".
bool natural_less(std::string_view a, std::string_view b);

/// The tensors of a file whose names contain a match of the expression (all: empty), in natural
/// order. UsageError for a malformed expression; InputError if there is none.
std::vector<Tensor> choose_tensors(const TensorFile& file, const std::string& expression);

}  // namespace synergraph
#pragma GCC visibility pop
