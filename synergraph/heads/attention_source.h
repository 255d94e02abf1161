#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/core/float_type.h"
#include "synergraph/graph/attention.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/measure.h"
#include "synergraph/heads/moved_values.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The tokens that are analysed: positions begin .. end - 1 of every sequence.
struct TokenRange {
  std::int64_t begin = 0;
  std::optional<std::int64_t> end;  ///< nothing: to the last token
};

/// One layer of attention, as it is analysed.
struct AttentionLayer {
  std::string name;
  int samples = 0;
  int heads = 0;
  int tokens = 0;  ///< n, after the range was cut out; of the longest sample
  MissingMass missing_mass = MissingMass::kError;
  bool same_length = true;  ///< all samples have so many tokens
  /// So many samples in a row are one sequence up to several sinks: its numbers are their mean.
  int sinks = 1;

  /// The tokens, and before them the node that takes what is missing from rows, if there is one.
  int nodes() const { return tokens + extra_nodes(missing_mass); }
};

/// Fits the tokens that FidelityOptions::from chooses to these layers. InputError where one of them
/// is not in the longest sample.
void place_sources(FidelityOptions& options, const std::vector<AttentionLayer>& layers);

/// Samples begin to end - 1.
struct SampleRange {
  int begin = 0;
  int end = 0;
};

/// A piece of a source that is read at once: a sample in one layer, or in all of them.
struct AttentionPiece {
  int sample = 0;
  int layer = kAllLayers;
  static constexpr int kAllLayers = -1;
};

/// Reads pieces of a source one after the other. A thread needs one of its own; the source must
/// outlive it.
class AttentionReader {
 public:
  virtual ~AttentionReader() = default;
  AttentionReader() = default;
  AttentionReader(const AttentionReader&) = delete;
  AttentionReader& operator=(const AttentionReader&) = delete;

  /// Begins a piece. What is read of a file here is read by one thread at a time, in the order of
  /// pieces(): compressed data can only be read forwards.
  virtual void open(const AttentionPiece& piece) = 0;

  /// The heads of one layer, valid during the call.
  using LayerVisitor = std::function<void(int layer, HeadSource& heads)>;

  /// Visits the layers of the piece in order.
  virtual void visit(const LayerVisitor& visitor) = 0;

  /// What the heads move of the layer that is being visited, for edges other than attention;
  /// nothing: the source does not know.
  virtual std::optional<MovedValues> moved() { return std::nullopt; }
};

/// Attention of several layers on several samples: a file, or a model that makes it.
class AttentionSource {
 public:
  virtual ~AttentionSource() = default;
  AttentionSource() = default;
  AttentionSource(const AttentionSource&) = delete;
  AttentionSource& operator=(const AttentionSource&) = delete;

  const std::vector<AttentionLayer>& layers() const { return layers_; }

  /// How the arrays of a file were read, for the reader; empty: there are none.
  virtual std::string reading() const { return {}; }

  /// The largest number of samples of a layer.
  int most_samples() const;

  /// What samples begin .. end - 1 of all layers are made of, in the order in which it is best
  /// read: here layer by layer, as far as layers have them.
  virtual std::vector<AttentionPiece> pieces(int begin, int end) const;

  /// One that keeps what it reads in a part of this memory.
  virtual std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) = 0;

  /// The heads of a sample that its readers keep in memory, in bytes: more where reading them again
  /// takes long. See SampleHeads.
  virtual double most_head_bytes() const;

  /// The source whose attention this one turns into other edges, or this one.
  virtual const AttentionSource& base() const { return *this; }

  /// What the source itself knows of a sample that was visited, for one of which it was not:
  /// numbers in an order of its own.
  virtual std::vector<double> knowledge_of(int /*sample*/) const { return {}; }
  virtual void take_knowledge(int /*sample*/, const std::vector<double>& /*numbers*/) {}

  /// The elements in which copy_heads() has the heads of a layer: the source's own where they say
  /// all that is measured, otherwise double precision.
  virtual FloatType element_type(int layer) const;

  /// A head of the piece: rows 0 .. nodes - 1, of row i the columns 0 .. i, one after the other.
  using HeadCopy = std::function<void(int layer, int head, std::span<const std::byte> triangle)>;

  /// Copies the heads of a piece, in order, as they were measured before: nothing is checked.
  virtual void copy_heads(const AttentionPiece& piece, const HeadCopy& copy);

 protected:
  std::vector<AttentionLayer> layers_;
};

/// A source whose samples can be cut: padding is left out, a sample can have several sinks.
class SequenceSource : public AttentionSource {
 public:
  /// From now on these sequences of every layer are its samples; none: all samples whole.
  /// InputError where a layer does not have them.
  virtual void choose(std::vector<TokenSpan> sequences);
  const std::vector<TokenSpan>& sequences() const { return sequences_; }
  /// The layers as they are without sequences.
  const std::vector<AttentionLayer>& whole_layers() const { return whole_; }
  /// The tokens of a sample of a layer, and which of the layer's own samples they are of.
  virtual TokenSpan span(int layer, int sample) const = 0;
  /// The tokens of all samples, where the sequences are the samples in order, all cut alike.
  std::optional<TokenRange> common_range() const;

 protected:
  /// Adds a layer, as it is before sequences are chosen.
  void add_whole(AttentionLayer layer);

  std::vector<AttentionLayer> whole_;  ///< the layers before sequences were chosen
  std::vector<TokenSpan> sequences_;   ///< of every layer
};

}  // namespace synergraph
#pragma GCC visibility pop
