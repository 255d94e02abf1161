#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "synergraph/analysis/part_archive.h"

namespace synergraph {

/// A claim of many that was chosen on one half of the samples and judged on the other half.
struct JudgedChoice {
  std::size_t chosen = 0;  ///< its number among the candidates
  double size = 0.0;       ///< on the judging half, as a share of the value of all heads
  double chance = 1.0;     ///< that permuted rows do as well, of both directions together
};

/// What one sample says of all candidates.
struct CandidateSample {
  double all = 0.0;              ///< the value of all heads
  std::vector<double> sizes;     ///< of each candidate, in units of that value
  std::vector<double> excesses;  ///< relative sizes, in [-1, 1], less those of permuted rows
};

template <class Archive>
void archive(Archive& with, CandidateSample& sample) {
  with(sample.all, sample.sizes, sample.excesses);
}

/// a / (|a| + |b|), 0 where both are 0.
double relative_size(double a, double b);

/// Sums over two halves of the samples: even and odd ones. So a candidate can be chosen on one half
/// and judged on the other. Samples come in any order from several threads; sums are made in the
/// order of the samples. The first samples are taken, `sinks` in a row being one.
class HeldOutSums {
 public:
  explicit HeldOutSums(int sinks) : sinks_(sinks) {}

  /// Keeps samples until they are taken, for another process to add.
  void keep() { keeps_ = true; }
  void add(int sample, CandidateSample numbers);
  void take(int sample, PartWriter& part);
  void restore(int sample, PartReader& part);

  int samples() const { return halves_[0].count + halves_[1].count; }

  /// The candidate with the largest excess among those whose size has this sign: chosen on each
  /// half and judged on the other, of both the one whose excess is less likely to be chance. Were
  /// rows exchangeable with permuted ones, each excess on the judging half would have a random
  /// sign: see symmetric_sum_chance(). Nothing where there are no candidates or a half is empty.
  std::optional<JudgedChoice> judge(double sign) const;

 private:
  struct Half {
    int count = 0;
    double all = 0.0;
    std::vector<double> sizes;
    std::vector<double> excesses;
    std::vector<double> squares;  // of excesses
  };

  void enqueue(int sample, CandidateSample numbers, bool wait);
  void add_next(const CandidateSample& numbers);
  void close_group();

  int sinks_;
  bool keeps_ = false;
  std::mutex mutex_;
  std::map<int, CandidateSample> waiting_;
  int next_ = 0;
  CandidateSample group_;  // sum over the sinks so far
  std::array<Half, 2> halves_;
};

}  // namespace synergraph
