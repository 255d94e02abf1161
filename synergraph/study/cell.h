#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "synergraph/heads/synergy.h"
#include "synergraph/statistics/summary.h"
#include "synergraph/train/settings.h"

namespace synergraph {

/// Count the changes of this program after which equal settings give other models, and after which
/// equal models give other numbers. Results of other versions are never taken for today's; models
/// are measured again without being trained again.
inline constexpr int kTrainingVersion = 3;
inline constexpr int kResultsVersion = 4;

/// How a trained model is measured, by both conventions.
struct MeasureSettings {
  int samples = 50;                  ///< training sequences, from the first
  std::vector<double> eps = {0.25};  ///< of T_mix
  std::int64_t cutoff = 100;         ///< of the truncated hitting time
  std::int64_t horizon = 100;        ///< of the published convention's fidelity
};

/// One cell of a study's grid: a model to train and how to measure it.
struct Cell {
  TrainSettings train;  ///< task, heads and seed among them
  MeasureSettings measure;
};

/// One layer of a trained model under one convention.
struct LayerResult {
  /// Over the samples, by key: those of sample_columns(), e.g. kSpeedKey and kFidelityKey, and
  /// "best_head_fidelity", "synergy", "mixing_synergy", "cross_head_share".
  std::map<std::string, Summary> numbers;
  std::int64_t with_synergy = 0;  ///< samples in which all heads together beat the best one
  std::int64_t undecided = 0;     ///< samples whose fidelities, not certified, do not tell
  /// Spearman's rank correlation of truncated hitting time and fidelity over the samples; NaN where
  /// one of them does not vary.
  double rank_correlation = 0.0;

  const Summary& operator[](const std::string& key) const { return numbers.at(key); }
};

/// The paper's two numbers among LayerResult::numbers.
inline constexpr const char* kSpeedKey = "truncated_hitting_mean";
inline constexpr const char* kFidelityKey = "minimax_fidelity";
inline constexpr const char* kBestHeadKey = "best_head_fidelity";

/// What came out of a cell. A pure function of the cell and kResultsVersion.
struct CellResult {
  Cell cell;
  double loss = 0.0;      ///< on held-out sequences, in evaluation mode
  double accuracy = 0.0;  ///< likewise
  std::vector<LayerResult> exact;
  std::vector<LayerResult> published;

  const std::vector<LayerResult>& layers(Convention convention) const {
    return convention == Convention::kExact ? exact : published;
  }
};

/// The accuracy a causal model can reach on a task: 1, or for "cycle" less, since its first token
/// can only be guessed.
double attainable_accuracy(const TrainSettings& settings);

/// Whether a model has learned its task: within 0.005 of the attainable accuracy.
bool has_learned(const CellResult& result);

}  // namespace synergraph
