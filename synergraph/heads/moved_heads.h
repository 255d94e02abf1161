#pragma once

#include <vector>

#include "synergraph/core/working_memory.h"
#include "synergraph/heads/moved_values.h"
#include "synergraph/heads/sample_heads.h"

namespace synergraph {

/// The heads of one layer on one sample by what they move. Every head's rows sum to 1; a row in
/// which it moves nothing is the identity. row_shares() says how much each head moves.
class MovedHeads : public HeadSource {
 public:
  /// By contributions, or else by norms. `attention` must outlive this object; its first `extra`
  /// nodes are no tokens and are left out. InputError unless the values fit the attention, are
  /// finite, and are what the edges need. `most`: as of SampleHeads.
  MovedHeads(HeadSource& attention, bool contribution, MovedValues moved, int extra,
             const WorkingMemory& memory, double most = kMostHeadBytes);

  int heads() const override { return attention_.heads(); }
  int nodes() const override { return cache_.nodes(); }
  const MirroredMatrix& head(int h) override { return cache_.head(h); }
  const RowShares* row_shares() override { return &shares_; }
  /// Those of the attention: what is not moved may still be looked at.
  AllowedKeys allowed_keys() override { return attention_.allowed_keys().without_first(extra_); }

 private:
  /// a * 2^exponent, for what is too large or small for a double.
  struct Amount {
    double value = 0.0;
    int exponent = 0;
  };

  void check_values() const;
  Matrix projected(int h) const;
  void find_norms();
  void find_outputs();
  void read(int h, Matrix& into);
  void read_norms(int h, ConstMatrixView attention, Matrix& into);
  void read_contributions(int h, ConstMatrixView attention, Matrix& into);
  void set_shares();
  Amount residual_of(int token) const;

  HeadSource& attention_;
  bool contribution_;
  MovedValues moved_;
  int extra_;
  SampleHeads cache_;
  Matrix totals_;               // (heads, nodes): what each head moves to a token
  std::vector<int> exponents_;  // of each head's totals
  Matrix outputs_;              // y: (nodes, E), for contributions
  RowShares shares_;
};

}  // namespace synergraph
