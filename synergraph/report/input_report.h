#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/edges.h"
#include "synergraph/model/config.h"
#include "synergraph/model/loss_game.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Where the attention that a report is about comes from.
struct InputReport {
  EdgeKind edges = EdgeKind::kAttention;  ///< whose weights follow from what heads move
  std::string weights;  ///< where head weights come from: "uniform", "learned", ...
  std::string reading;  ///< how the axes of a file were read; empty: no file
  TokenRange range;
  std::vector<TokenSpan> sequences;         ///< of arrays, where no range says what they are
  std::optional<ModelConfig> model;         ///< of a checkpoint
  std::string device;                       ///< that ran the model, where it is not the CPU
  bool heads_from_name = false;             ///< the checkpoint's file name says how many heads
  std::string task;                         ///< that judged the model; empty: none
  std::optional<Evaluation> evaluation;     ///< by it
  std::optional<AttentionControl> control;  ///< the same with heads switched off
};

}  // namespace synergraph
#pragma GCC visibility pop
