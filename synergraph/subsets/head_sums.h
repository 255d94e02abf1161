#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "synergraph/heads/measure.h"
#include "synergraph/subsets/subset_options.h"

namespace synergraph {

/// The sum of some heads, each times its weight, from the diagonals on, and of vectors of theirs.
struct HeadSum {
  Matrix attention;     ///< n rows and HeadSums::Vector more; empty if it is not needed
  Matrix walk;          ///< the same of walks, for Normalization::kPerHead
  double weight = 0.0;  ///< of all of them
};

/// The heads of one system in memory, in a form in which they are quickly added up, and the values
/// of their sums. Const and thread safe.
class HeadSums {
 public:
  HeadSums(HeadSource& heads, std::span<const double> weights, const SubsetOptions& options);

  int heads() const { return static_cast<int>(weights_.size()); }
  int nodes() const { return nodes_; }
  std::size_t sum_bytes() const;

  /// A sum in memory of its own, of no heads.
  HeadSum empty() const;
  /// to = from + a head. Nothing is ever subtracted: no digit is lost, and a sum depends on the
  /// order of its heads alone. `to` may be `from`.
  void add(const HeadSum& from, int head, HeadSum& to) const;

  /// The value of the sum of these heads.
  SubsetValue value(const HeadSum& sum, std::span<const int> heads,
                    const Execution& execution) const;

 private:
  /// Rows beyond the square of a matrix.
  enum Vector {
    kMass,     ///< sums of the rows from their diagonals on
    kForward,  ///< the same without the diagonals
    kDown,     ///< of an attention's rows before their diagonals
    kVectors
  };
  const double* vector_of(const Matrix& matrix, Vector vector) const {
    return matrix.row(nodes_ + vector);
  }
  bool per_head() const { return options_.convention.normalization == Normalization::kPerHead; }
  bool published() const { return options_.convention.normalization == Normalization::kPublished; }
  Matrix rows_of(const MirroredMatrix& attention) const;
  Matrix rows_of(const Walk& walk) const;
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
  std::vector<double> weights_;    // convex
  std::vector<Matrix> attention_;  // of every head, mirrored
  std::vector<Matrix> walks_;      // of every head, if they are summed
};

}  // namespace synergraph
