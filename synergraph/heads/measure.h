#pragma once

#include <vector>

#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/heads/allowed_keys.h"
#include "synergraph/heads/head.h"
#include "synergraph/heads/head_rows.h"
#include "synergraph/heads/measure_options.h"
#include "synergraph/heads/row_shares.h"
#include "synergraph/heads/synergy.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The heads of one multi-head system, one at a time: in memory, or read when they are asked for.
class HeadSource {
 public:
  virtual ~HeadSource() = default;
  HeadSource() = default;
  HeadSource(const HeadSource&) = default;
  HeadSource(HeadSource&&) = default;
  HeadSource& operator=(const HeadSource&) = default;
  HeadSource& operator=(HeadSource&&) = default;

  virtual int heads() const = 0;
  virtual int nodes() const = 0;

  /// The diffusion of head h, valid until the next call.
  virtual const MirroredMatrix& head(int h) = 0;

  /// Nothing where heads fit into memory. Otherwise their rows, which are read block by block;
  /// head() then refuses.
  virtual HeadRows* rows() { return nullptr; }

  /// The walk of a head that does not walk by its diffusion's columns: a graph, along its edges.
  virtual const Walk* own_walk(int /*h*/) { return nullptr; }

  /// What the heads move in each row, where their weights follow from that; nothing: the weights of
  /// the heads are the same in every row.
  virtual const RowShares* row_shares() { return nullptr; }

  /// The keys that queries may look at. Reads heads until it knows.
  virtual AllowedKeys allowed_keys();
};

/// D = sum_h w_h D_h, as of heads in memory.
Matrix combine_diffusion(HeadSource& heads, std::span<const double> weights);

/// Heads in memory, which must outlive it. InputError unless they are square matrices of one size.
class HeadList : public HeadSource {
 public:
  explicit HeadList(const std::vector<Head>& heads);

  int heads() const override { return static_cast<int>(list_.size()); }
  int nodes() const override { return list_.front().diffusion.rows(); }
  const MirroredMatrix& head(int h) override;
  const Walk* own_walk(int h) override;

 private:
  const std::vector<Head>& list_;
  int held_ = -1;
  MirroredMatrix mirrored_;
};

/// Measures a multi-head system under all conventions, each head being read twice and one in memory
/// at a time, unless nearly all of a signal stays in one head. Weights are normalised. InputError
/// where they cannot be, for what check_conventions() refuses, and without a head or a node.
std::vector<HeadsMetrics> measure(HeadSource& heads, const std::vector<double>& weights,
                                  const MeasureOptions& options);

/// The same for heads in memory, with the numbers of every node.
HeadsMetrics measure_heads(const std::vector<Head>& heads, const std::vector<double>& weights,
                           const MetricsOptions& options, const Execution& execution = {});

}  // namespace synergraph
#pragma GCC visibility pop
