#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "synergraph/chain/walk.h"
#include "synergraph/core/matrix.h"

namespace synergraph {

/// The walks of one system in a part of the simplex, all weightings of some corners, and bounds of
/// the times they take. `centre` is the walk at any weights of the part.
class PartWalks {
 public:
  virtual ~PartWalks() = default;
  PartWalks(const PartWalks&) = delete;
  PartWalks& operator=(const PartWalks&) = delete;

  /// The mean of E[T] (cutoff 0) or of E[min(T, cutoff)] over all start nodes is at least any of
  /// these, functions of the corners' shares as corner_pairs.h has them. The first is a constant:
  /// what remains if every node chooses its corner at every step.
  std::vector<std::vector<double>> rows(std::int64_t cutoff) const;

 protected:
  using Vector = std::vector<double>;
  explicit PartWalks(Walk centre) : centre_(std::move(centre)) {}

  int nodes() const { return centre_.nodes(); }
  virtual std::size_t corners() const = 0;
  /// What sum over i >= j of P(j, i) x(i) is at least and at most; x >= 0, 0 at the sink.
  virtual double least(int j, const double* x) const = 0;
  virtual double most(int j, const double* x) const = 0;
  /// The same for times that are not cut: x(j) = 1 + sum over i >= j of P(j, i) x(i).
  virtual double least_time(int j, const double* x) const = 0;
  virtual double most_time(int j, const double* x) const = 0;
  /// change[k](j): with shares b, ((P - centre) x)(j) is at least sum_k b_k change[k](j) for any x
  /// between `low` and `high`.
  virtual void changes(const Vector& low, const Vector& high,
                       std::vector<Vector>& change) const = 0;
  /// By time_plane(), where there is one.
  virtual void add_planes(std::int64_t /*cutoff*/, std::vector<Vector>& /*rows*/) const {}
  /// Are walks convex sums of the corners', with the same shares in every row?
  virtual bool linear() const { return false; }
  /// Of corner k, then.
  virtual double step(std::size_t /*k*/, int /*j*/, const double* /*x*/) const { return 0.0; }

  const Walk& centre() const { return centre_; }

 private:
  Vector truncated_difference(const std::vector<Vector>& low, const std::vector<Vector>& high,
                              std::int64_t cutoff) const;
  Vector difference(const Vector& low, const Vector& high) const;

  Walk centre_;
};

/// Rows are convex sums of the corners': with the same shares (`masses` empty, per-head walks), or
/// in proportion to shares times masses[k][j], the column sums of attention (pooled walks).
/// `shares` are the centre's.
std::unique_ptr<PartWalks> convex_part(std::vector<Walk> corners, Walk centre,
                                       std::vector<std::vector<double>> masses,
                                       std::vector<double> shares);

/// Published walks; corners are mirrored attention.
std::unique_ptr<PartWalks> published_part(std::span<const ConstMatrixView> corners,
                                          ConstMatrixView centre, Walk centre_walk);

}  // namespace synergraph
