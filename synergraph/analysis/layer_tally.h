#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

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
  /// The options must outlive it.
  LayerTally(int heads, int samples, const HeadValueOptions& options);

  int heads() const { return heads_; }
  /// Whether values are tables of all subsets, not sampled orders.
  bool exact() const { return heads_ <= options_.exact_heads; }

  /// Values of all subsets; none is further than `gap` above its number.
  void add_table(int sample, std::size_t value, std::vector<double> table, double gap = 0.0);
  /// Indices from sampled orders.
  void add_sampled(int sample, std::size_t value, SampleHeadValues indices);

  /// Tables are kept, one a sample, until they are taken.
  void keep_tables() { kept_.emplace(options_.values.size()); }
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

  int heads_;
  int samples_;
  const HeadValueOptions& options_;
  std::vector<std::vector<SampleHeadValues>> layer_values_;  // [value][sample]
  std::vector<TableSum> tables_;                             // [value]
  std::mutex kept_mutex_;
  std::optional<std::vector<std::map<int, std::vector<double>>>> kept_;  // [value], by sample
};

/// The subsets that a search over so many samples found, of which the first of its orders is that
/// of falling Shapley values; `keep` as in HeadValueOptions.
void set_found_subsets(ValueOfHeads& layer_value, FoundSubsets found, int samples, double keep);

}  // namespace synergraph
