#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "synergraph/heads/measure.h"
#include "synergraph/subsets/subset_options.h"

namespace synergraph {

/// Sums of less than this of all weight are made anew: with weights so small, small entries lose
/// digits.
inline constexpr double kLeastSumWeight = 0x1.0p-60;

/// The weighted sum of some heads, each row from its diagonal on, and the sum of their row vectors.
struct HeadSum {
  /// N rows, then the rows of HeadSums::Vector; empty if the sum needs no attention.
  Matrix attention;
  Matrix walk;          ///< the same rows for the sum of walks, for Normalization::kPerHead
  double weight = 0.0;  ///< total weight of the heads in the sum
};

/// Holds the heads of one system in a form that is fast to add up, and computes the values of sums
/// of heads. The object is const and thread safe.
class HeadSums {
 public:
  HeadSums(HeadSource& heads, std::span<const double> weights, const SubsetOptions& options);

  int heads() const { return static_cast<int>(weights_.size()); }
  int nodes() const { return nodes_; }
  std::size_t sum_bytes() const;

  /// Returns the sum of no heads, in its own memory.
  HeadSum empty() const;
  /// Computes to = from + head. The class never subtracts, so that no digit is lost and a sum
  /// depends only on the order of its heads. `to` may be `from`.
  void add(const HeadSum& from, int head, HeadSum& to) const;

  /// Returns the value of the sum `sum` of the heads `heads`.
  SubsetValue value(const HeadSum& sum, std::span<const int> heads,
                    const Execution& execution) const;

 private:
  /// The extra rows that follow the n rows of a matrix.
  enum Vector {
    kMass,     ///< row sums from the diagonal on
    kForward,  ///< row sums from the diagonal on, without the diagonal
    kDown,     ///< row sums of an attention before the diagonal
    kVectors
  };
  const double* vector_of(const Matrix& matrix, Vector vector) const {
    return matrix.row(nodes_ + vector);
  }
  bool per_head() const { return options_.convention.normalization == Normalization::kPerHead; }
  bool published() const { return options_.convention.normalization == Normalization::kPublished; }
  /// Whether weights depend on the row. Attention and walks then are kept with each row times its
  /// weight, and kMass of attention has these weights.
  bool by_row() const { return row_weights_.rows() > 0; }
  Matrix rows_of(const MirroredMatrix& attention, int head) const;
  Matrix rows_of(const Walk& walk, int head) const;
  HeadSum normalised(const HeadSum& sum) const;
  std::optional<double> quick_mean(const HeadSum& sum) const;
  MirroredMatrix mean_attention(std::span<const int> heads,
                                const std::vector<double>& weights) const;
  Walk mean_walk(std::span<const int> heads, const std::vector<double>& weights) const;
  void measure_missing(std::span<const int> heads, const Execution& execution,
                       std::optional<FidelityRange>& fidelity, std::optional<double>& mean) const;

  SubsetOptions options_;
  FidelityOptions fidelity_;
  int nodes_;
  std::vector<double> raw_weights_;
  std::vector<double> weights_;    // convex: the weights sum to 1
  Matrix row_weights_;             // (heads, nodes) where weights depend on the row
  std::vector<Matrix> attention_;  // mirrored attention of every head
  std::vector<Matrix> walks_;      // walk of every head; empty unless walks are summed
};

}  // namespace synergraph
