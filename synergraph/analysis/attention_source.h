#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/heads/sample_heads.h"

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

}  // namespace synergraph
