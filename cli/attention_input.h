#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/output_paths.h"
#include "synergraph/analysis/head_weights.h"
#include "synergraph/analysis/input_settings.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/edges.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/model/parameters.h"
#include "synergraph/report/input_report.h"

namespace synergraph::cli {

/// A source of attention, and what belongs to it.
struct AttentionInput {
  std::unique_ptr<Model> model;  ///< of a checkpoint
  std::string device;            ///< that runs it, as describe(Device) has it; empty: the CPU
  bool heads_from_name = false;  ///< the checkpoint's file name says how many heads
  std::unique_ptr<AttentionSource> attention;  ///< that `source` turns into other edges, if it does
  std::unique_ptr<AttentionSource> source;
  LayerWeights weights;
  std::string weights_from;                   ///< "uniform", "learned", "given"; of a graph "graph"
  std::vector<std::string> head_names = {};   ///< of a graph
  std::vector<std::string> token_names = {};  ///< likewise
  std::optional<MultiHeadGraph> graph = {};   ///< where it is one
};

/// The attention that a command reads, and how its heads are weighted.
class AttentionArguments {
 public:
  /// `graphs`: files of graphs are read, too.
  AttentionArguments(const InputSettings& settings, const EdgeSettings& edges, bool graphs = false)
      : given_(settings), edges_(edges), graphs_(graphs) {}

  const EdgeSettings& edges() const { return edges_; }

  /// Files that are read, and the options that name them.
  std::vector<NamedPath> files() const;

  /// The range of tokens that is read; with lengths all of them, of which sequences are chosen.
  TokenRange token_range() const;

  /// Opens the file. On a machine with several GPUs the worker of this number takes one of its own,
  /// see choose_device().
  AttentionInput open(const TokenRange& range, int worker = 0) const;

  /// What a report says of it, once it has been read.
  void describe(const AttentionInput& input, InputReport& report) const;

 private:
  /// Whether a device is asked for that is not the CPU.
  bool runs_elsewhere() const;
  /// The name of the device that runs a model.
  std::string model_device() const;
  AttentionInput open_checkpoint(const TensorFile& tensors, const TokenRange& token_range,
                                 int worker) const;
  AttentionInput open_attention(const TensorFile& tensors, const TokenRange& token_range) const;
  AttentionInput open_graph(const ByteSource& bytes) const;
  /// The sink that ends the range that is read; nothing: the last token, or several sinks.
  std::optional<std::int64_t> range_sink() const;
  /// Whether samples are sequences that are chosen: without padding, or with several sinks.
  bool chooses_sequences() const {
    return !given_.lengths.empty() || (!given_.sink.empty() && !range_sink());
  }
  /// Leaves padding out, and ends sequences at their sinks.
  void choose_sequences(SequenceSource& source) const;
  void choose_weights(AttentionInput& input) const;
  /// Turns attention into other edges, where they are asked for.
  void choose_edges(AttentionInput& input) const;

  const InputSettings& given_;
  const EdgeSettings& edges_;
  bool graphs_;
};

}  // namespace synergraph::cli
