#pragma once

#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/setting.h"
#include "synergraph/statistics/intervals.h"
#include "synergraph/study/measure_model.h"
#include "synergraph/study/published.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A published mean beside ours, on other sequences.
struct ComparedValue {
  PublishedValue published;
  double mean = 0.0;        ///< ours, over `samples` sequences
  double std = 0.0;         ///< over sequences
  double difference = 0.0;  ///< ours minus published
  /// Of the difference: both are means over their own sequences.
  double standard_error = 0.0;
  /// How many standard errors the difference is beyond what rounding of the published value
  /// explains.
  double deviation = 0.0;
  bool agrees = false;  ///< deviation is at most kAgreement
};

/// Standard errors up to which two means agree.
inline constexpr double kAgreement = 4.0;

/// Compares a published mean, rounded to within `rounding`, with ours.
ComparedValue compare(const PublishedValue& published, double rounding, double mean, double std,
                      std::size_t samples);

/// One layer of an authors' model: the published convention against the paper.
struct VerifiedLayer {
  ComparedValue mixing_time;
  ComparedValue fidelity;  ///< per cent
  /// Minimax fidelity in per cent of the best head and of all together, means over sequences with
  /// their 95 % intervals, beside the paper's single sequence; more than one head.
  std::optional<PublishedComparison> published_comparison;
  Interval individual;
  Interval combined;
  Share synergy;  ///< sequences in which all together beat the best head
};

/// One of the authors' checkpoints.
struct VerifiedModel {
  std::string path;
  std::string task;
  int heads = 0;
  ModelMeasurement measurement;
  std::vector<VerifiedLayer> layers;

  bool agrees() const;
};

struct VerifyOptions {
  int samples = 1000;      ///< random sequences
  std::uint64_t seed = 1;  ///< of them
  MeasureSettings measure;
  Execution execution;
};

/// See Setting.
template <class Visit>
void visit_settings(VerifyOptions& options, Visit&& visit) {
  visit(Setting{.key = "samples",
                .group = "Measurement",
                .help = "number of random sequences to measure on",
                .faces = face::kProgram},
        options.samples, NumberRange<int>{2, 10000000});
  visit(Setting{.key = "seed",
                .group = "Measurement",
                .help = "seed of the random sequences",
                .faces = face::kProgram},
        options.seed, NumberRange<std::uint64_t>{});
}

/// The checkpoints in a directory that verify_checkpoints() measures, in its order.
std::vector<std::string> published_checkpoints(const std::string& directory);

/// Measures every checkpoint {H}_heads_{task}.pt (or with the ending of another format) in a
/// directory whose task and head count the paper tabulates; by task, then heads. InputError if
/// there is none.
std::vector<VerifiedModel> verify_checkpoints(const std::string& directory,
                                              const VerifyOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop
