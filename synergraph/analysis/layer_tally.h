#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "synergraph/analysis/held_out.h"
#include "synergraph/analysis/layer_head_values.h"
#include "synergraph/analysis/part_archive.h"
#include "synergraph/subsets/subset_search.h"

namespace synergraph {

/// The indices of one value of the heads of one sample.
struct SampleHeadValues {
  double all = 0.0;
  double gap = 0.0;
  std::vector<double> shapley;
  std::vector<double> banzhaf;
  std::vector<double> alone;
  std::vector<double> dropped;
  std::vector<double> pairs;
  std::vector<double> triples;
  // Standard errors of sampled ones
  std::vector<double> shapley_error;
  std::vector<double> pairs_error;
  std::int64_t permutations = 0;
  bool precise = true;
};

template <class Archive>
void archive(Archive& with, SampleHeadValues& layer_value) {
  with(layer_value.all, layer_value.gap, layer_value.shapley, layer_value.banzhaf,
       layer_value.alone, layer_value.dropped, layer_value.pairs, layer_value.triples,
       layer_value.shapley_error, layer_value.pairs_error, layer_value.permutations,
       layer_value.precise);
}

/// The indices of a table of the values of all subsets.
SampleHeadValues sample_head_values(const std::vector<double>& table);
/// Those from sampled orders, with what each head is worth alone, and what is lost without it.
SampleHeadValues sample_head_values(SampledIndices sampled, std::int64_t permutations,
                                    std::vector<double> alone, std::vector<double> dropped);

/// A sum of tables that come from several threads: always in the order of the samples.
class TableSum {
 public:
  void add(int sample, std::vector<double> table);
  std::vector<double> mean();

 private:
  std::mutex mutex_;
  std::map<int, std::vector<double>> waiting_;
  std::vector<double> sum_;
  int next_ = 0;
};

/// Collects what the samples of one layer say of its heads, whoever measures the values. Samples
/// come in any order, from several threads at once; the result does not depend on that.
class LayerTally {
 public:
  /// The options must outlive it. Every `sinks` samples in a row are one: errors are over them.
  LayerTally(int heads, int samples, const HeadValueOptions& options, int sinks = 1);

  int heads() const { return heads_; }
  /// Whether values are tables of all subsets, not sampled orders.
  bool exact() const { return heads_ <= options_.exact_heads; }

  /// Values of all subsets; none is further than `gap` above its number.
  void add_table(int sample, std::size_t value, std::vector<double> table, double gap = 0.0);
  /// Indices from sampled orders.
  void add_sampled(int sample, std::size_t value, SampleHeadValues indices);

  /// How many samples, the first, are compared with permuted rows.
  int null_samples() const;
  /// What such a sample says of claims: its own indices, those of permuted rows, and of both the
  /// tables where there are some. Before its own are added.
  void compare(int sample, std::size_t value, const SampleHeadValues& own,
               const SampleHeadValues& permuted, const std::vector<double>& own_table = {},
               const std::vector<double>& permuted_table = {});

  /// Tables are kept, one a sample, until they are taken.
  void keep_tables();
  /// What was measured on a sample; it is not needed any more.
  void take(int sample, PartWriter& part);
  /// Takes it in again, samples in order.
  void restore(int sample, PartReader& part);

  /// From all samples. The best subsets of sampled orders are empty: see set_found_subsets().
  LayerHeadValues summarise();

 private:
  template <class Number>
  Estimate over_samples(std::size_t v, const Number& number) const;
  ValueOfHeads summarise_value(std::size_t v);
  void prune(std::size_t v, ValueOfHeads& layer_value);
  std::optional<HeldOutClaims> judge(std::size_t v) const;

  /// Sums for the claims about one value.
  struct Candidates {
    explicit Candidates(int sinks) : pairs(sinks), dropped(sinks), sets(sinks) {}
    HeldOutSums pairs;
    HeldOutSums dropped;
    HeldOutSums sets;
  };

  int heads_;
  int samples_;
  const HeadValueOptions& options_;
  int sinks_;
  std::vector<std::vector<SampleHeadValues>> layer_values_;  // [value][sample]
  std::vector<TableSum> tables_;                             // [value]
  std::vector<std::unique_ptr<Candidates>> candidates_;      // [value]
  std::mutex kept_mutex_;
  std::optional<std::vector<std::map<int, std::vector<double>>>> kept_;  // [value], by sample
};

/// The subsets that a search over so many samples found, of which the first of its orders is that
/// of falling Shapley values; `keep` as in HeadValueOptions.
void set_found_subsets(ValueOfHeads& layer_value, FoundSubsets found, int samples, double keep);

}  // namespace synergraph
