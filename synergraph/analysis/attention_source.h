#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/graph/attention.h"
#include "synergraph/heads/measure.h"
#include "synergraph/io/dtype.h"

namespace synergraph {

/// The tokens that are analysed: positions begin .. end - 1 of every sequence.
struct TokenRange {
  std::int64_t begin = 0;
  std::optional<std::int64_t> end;  ///< nothing: to the last token
};

/// One layer of attention, as it is analysed.
struct AttentionLayer {
  std::string name;
  int samples = 0;
  int heads = 0;
  int tokens = 0;  ///< n, after the range was cut out
};

/// How far attention of this element type may deviate from exact softmax rows of `columns` entries.
/// Row sums: 4 u + columns (v + s/2), with u the type's rounding unit (2^-11 float16, 2^-8
/// bfloat16, 2^-24 float32, 2^-53 otherwise), v the rounding unit of the type that softmax sums in
/// (float32 for the short types) and s the smallest subnormal. Above the diagonal: u / columns an
/// entry.
AttentionCheck rounding_check(DType dtype, int columns);

/// The same for a row that was perhaps rounded to a shorter type before it was stored: the largest
/// row tolerance among those of the element type and of the floating-point types that hold every
/// entry of the row exactly.
RowTolerance rounding_shown(DType dtype, int columns, const double* row, int count);

/// Cuts tokens begin .. begin + into.rows() - 1 out of `attention` and makes the rows that remain
/// exact: rows are checked whole, then what they give to the remaining keys is divided by its sum.
/// InputError also when a row gives nothing to the remaining keys. The part of `into` above the
/// diagonal is left alone. `row(i, buffer)` returns row i of the attention, `columns` entries.
void cut_attention(const std::function<const double*(int i)>& row, int columns, int begin,
                   const AttentionCheck& check, Matrix& into);

/// The heads of one layer on one sample, exact causal attention each. Few small heads are all in
/// memory, large ones are read one at a time.
class SampleHeads : public HeadSource {
 public:
  /// Reads one head into the lower triangle of an n x n matrix.
  using Reader = std::function<void(int head, Matrix& into)>;

  SampleHeads(int heads, int tokens);

  int heads() const override { return heads_; }
  int nodes() const override { return tokens_; }

  /// From now on the heads of another sample. Reads them at once if they are kept.
  void start(Reader reader);

  const MirroredMatrix& head(int h) override;

 private:
  void read(int h, MirroredMatrix& into) const;

  int heads_;
  int tokens_;
  bool keep_;
  std::vector<MirroredMatrix> matrices_;
  Reader reader_;
  int held_ = -1;  // the head in matrices_.front() if only one is held
};

/// Called once for every layer and sample, from several threads at once; `worker` names the calling
/// thread's workspace.
using SampleVisitor = std::function<void(int layer, int sample, int worker, SampleHeads& heads)>;

/// Attention of several layers on several samples: a file, or a model that makes it.
class AttentionSource {
 public:
  virtual ~AttentionSource() = default;
  AttentionSource() = default;
  AttentionSource(const AttentionSource&) = delete;
  AttentionSource& operator=(const AttentionSource&) = delete;

  const std::vector<AttentionLayer>& layers() const { return layers_; }

  /// How the arrays of a file were read, for the reader; empty: there are none.
  virtual std::string reading() const { return {}; }

  /// Samples worked on at the same time with so many threads (0: all CPUs), within the memory that
  /// analysis allows itself.
  virtual int samples_at_once(int threads) const = 0;

  /// Visits everything. The first wrong sample, in order, ends it with an InputError.
  virtual void for_each(int threads, const SampleVisitor& visitor) = 0;

 protected:
  std::vector<AttentionLayer> layers_;
};

/// How many n x n problems of this size fit the working memory; at least 1.
int problems_in_memory(int heads, int tokens);

}  // namespace synergraph
