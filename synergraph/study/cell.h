#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/analysis/layer_summary.h"
#include "synergraph/model/loss_game.h"
#include "synergraph/study/layer_subsets.h"
#include "synergraph/train/settings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Count the changes of this program after which equal settings give other models, and after which
/// equal models give other numbers. Results of other versions are never taken for today's; models
/// are measured again without being trained again.
inline constexpr int kTrainingVersion = 3;
inline constexpr int kResultsVersion = 6;

/// How a trained model is measured, by both conventions.
struct MeasureSettings {
  int samples = 50;                  ///< training sequences, from the first
  std::vector<double> eps = {0.25};  ///< of T_mix
  std::int64_t cutoff = 100;         ///< of the truncated hitting time
  std::int64_t horizon = 100;        ///< of the published convention's fidelity
  /// Of the samples, so many, from the first, on which every subset of the heads is measured, by
  /// the exact convention; 0: none.
  int subset_samples = 5;
};

/// One cell of a study's grid: a model to train and how to measure it.
struct Cell {
  TrainSettings train;  ///< task, heads and seed among them
  MeasureSettings measure;
};

/// Whether the subsets of a cell's heads are measured: where there are several heads, and not more
/// than have exact tables.
bool measures_subsets(const Cell& cell);

/// The numbers that a study keeps of a layer.
std::vector<Quantity> cell_quantities(const MeasureSettings& settings);

/// What came out of a cell. A pure function of the cell, kResultsVersion and the devices.
struct CellResult {
  Cell cell;
  double loss = 0.0;      ///< on held-out sequences, in evaluation mode
  double accuracy = 0.0;  ///< likewise
  /// On the same sequences with heads switched off, on the CPU; empty in invented results.
  AttentionControl control = {};
  std::vector<LayerSummary> exact = {};
  std::vector<LayerSummary> published = {};
  std::vector<LayerSubsets> subsets = {};  ///< empty unless measures_subsets()
  /// What it was trained on and what its model was run on, to be measured, as describe(Device) has
  /// it; empty in results of earlier versions.
  std::vector<std::string> trained_on = {};
  std::string run_on = {};

  const std::vector<LayerSummary>& layers(Convention convention) const {
    return convention == Convention::kExact ? exact : published;
  }
};

/// The accuracy a causal model can reach on a task: 1, or for "cycle" less, since its first token
/// can only be guessed.
double attainable_accuracy(const TrainSettings& settings);

/// Whether a model has learned its task: within 0.005 of the attainable accuracy.
bool has_learned(const CellResult& result);

}  // namespace synergraph
#pragma GCC visibility pop
