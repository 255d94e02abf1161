#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/synergraph.h"
#include "synergraph/analysis/head_weights.h"
#include "synergraph/analysis/moved_arrays.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/edges.h"
#include "synergraph/heads/view_source.h"
#include "synergraph/report/input_report.h"

/// A source of attention, and what belongs to it.
struct sg_attention {
  std::shared_ptr<const synergraph::Model> model;  ///< that makes it, if one does
  std::unique_ptr<synergraph::AttentionSource> source;
  synergraph::LayerWeights weights;  ///< none: equal ones
  std::vector<double> given;         ///< raw weights of the caller, instead
  std::string weights_from = "uniform";
  std::string given_from = "given";  ///< what reports call the caller's weights
  synergraph::TokenRange range;
  bool heads_from_name = false;
  synergraph::MovedArrays moved;  ///< what the heads move, for other edges than attention
  std::string task;
  std::string device;                    ///< that runs the model, where it is not the CPU
  std::vector<std::string> head_names;   ///< of a graph; empty: numbers from 0
  std::vector<std::string> token_names;  ///< likewise
  std::mutex reading;                    ///< one function that reads heads at a time

  /// The layers' normalised weights. InputError if the caller's do not fit the layers.
  synergraph::LayerWeights layer_weights() const;
  /// Those that these edges are measured with. UsageError for the caller's, where they follow from
  /// what the heads move.
  synergraph::LayerWeights layer_weights(const synergraph::EdgeSettings& edges) const;

  /// Tells a report where its numbers come from, after they were measured.
  void describe(synergraph::InputReport& report, const synergraph::EdgeSettings& edges = {}) const;
};

namespace synergraph::capi {

/// The source of the edges that are measured, while it lives: the attention, or what it becomes.
class MeasuredEdges {
 public:
  /// UsageError where nothing says what heads move.
  MeasuredEdges(sg_attention& attention, const EdgeSettings& edges);

  AttentionSource& operator*() const { return made_ ? *made_ : *attention_.source; }
  AttentionSource* operator->() const { return &**this; }

 private:
  sg_attention& attention_;
  std::unique_ptr<EdgeSource> made_;
};

/// A layer. UsageError if it is not there.
const AttentionLayer& layer_of(const sg_attention& attention, std::int64_t layer);

/// Visits one layer of one sample by these edges. UsageError if they are not there, and where
/// nothing says what heads move.
void visit_heads(sg_attention& attention, std::int64_t layer, std::int64_t sample,
                 const std::function<void(HeadSource& heads)>& visitor,
                 const EdgeSettings& edges = {});

/// The view of an array; without strides, one without gaps. Not checked yet.
AttentionView view_of(const void* data, int dtype, const int64_t shape[4], const int64_t* strides);

}  // namespace synergraph::capi
