#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/core/working_memory.h"
#include "synergraph/graph/attention.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/device_view.h"
#include "synergraph/heads/head_rows.h"
#include "synergraph/heads/measure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Heads that are read in memory at once, in bytes. Reading more of them twice takes little beside
/// measuring them.
inline constexpr double kMostHeadBytes = 64 << 20;

/// The heads of one layer on one sample, exact causal attention each. Few small heads are all in
/// memory, large ones are read one at a time.
class SampleHeads : public HeadSource {
 public:
  /// Reads one head into the lower triangle of an n x n matrix.
  using Reader = std::function<void(int head, Matrix& into)>;

  /// Makes the rows of all heads, for heads that do not fit into memory.
  using RowsMaker = std::function<std::unique_ptr<HeadRows>()>;

  /// All heads are kept that a quarter of the memory holds, and `most` bytes.
  SampleHeads(int heads, int tokens, const WorkingMemory& memory = {},
              double most = kMostHeadBytes);

  int heads() const override { return heads_; }
  int nodes() const override { return tokens_; }

  /// From now on the heads of another sample. Reads them at once if they are kept. Heads that do
  /// not fit into memory are left to `rows`; without it, InputError for more than 16,384 tokens.
  void start(Reader reader, const RowsMaker& rows = {});

  /// InputError for heads of more than 16,384 tokens that do not fit into memory.
  const MirroredMatrix& head(int h) override;
  HeadRows* rows() override { return rows_.get(); }

 private:
  void make_room();
  void read(int h, MirroredMatrix& into) const;

  int heads_;
  int tokens_;
  WorkingMemory memory_;
  bool keep_;
  std::vector<MirroredMatrix> matrices_;
  Reader reader_;
  std::unique_ptr<HeadRows> rows_;
  int held_ = -1;  // the head in matrices_.front() if only one is held
};

/// Reads the heads of a sequence from memory, checked and made exact, as its options say; see
/// cut_attention().
SampleHeads::Reader head_reader(const AttentionView& view, const TokenSpan& sequence,
                                std::optional<double> row_tolerance = {},
                                MissingMass missing_mass = MissingMass::kError);

/// The same heads by rows, for heads that do not fit into memory. `scores`: what they are computed
/// from, in the memory of the CPU; the view then has their extents and type. `prefix` begins the
/// names of heads in messages.
std::unique_ptr<HeadRows> view_rows(const AttentionView& view,
                                    const std::optional<QueryKeyView>& scores,
                                    const TokenSpan& sequence,
                                    std::optional<double> row_tolerance = {},
                                    MissingMass missing_mass = MissingMass::kError,
                                    const std::string& prefix = {});

/// How many systems of this size are measured side by side, by threads and memory; at least 1. A
/// part of the memory is for the heads and what is made of each, the rest for the powers of slow
/// ones. `most`: as of SampleHeads.
int systems_at_once(int heads, int tokens, const Execution& execution,
                    double most = kMostHeadBytes);

/// The execution of each of them. What one may take of the memory does not depend on how many there
/// are.
Execution execution_of_each(const Execution& execution, int at_once);

}  // namespace synergraph
#pragma GCC visibility pop
