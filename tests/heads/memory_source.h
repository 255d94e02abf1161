#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/head.h"

namespace synergraph::testing_support {

/// Heads in memory as a source, read layer by layer.
class MemorySource : public AttentionSource {
 public:
  using Systems = std::vector<std::vector<std::vector<Head>>>;  ///< [layer][sample][head]

  explicit MemorySource(Systems systems) : systems_(std::move(systems)) {
    for (const auto& samples : systems_)
      layers_.push_back({std::to_string(layers_.size() + 1), static_cast<int>(samples.size()),
                         static_cast<int>(samples.front().size()),
                         samples.front().front().diffusion.rows()});
  }

  std::unique_ptr<AttentionReader> reader(const WorkingMemory& /*memory*/) override {
    return std::make_unique<Reader>(*this);
  }

  const std::vector<Head>& system(int layer, int sample) const {
    return systems_[static_cast<std::size_t>(layer)][static_cast<std::size_t>(sample)];
  }

 private:
  class Reader : public AttentionReader {
   public:
    explicit Reader(const MemorySource& source) : source_(source) {}
    void open(const AttentionPiece& piece) override { piece_ = piece; }
    void visit(const LayerVisitor& visitor) override {
      HeadList heads(source_.system(piece_.layer, piece_.sample));
      visitor(piece_.layer, heads);
    }

   private:
    const MemorySource& source_;
    AttentionPiece piece_;
  };

  Systems systems_;
};

}  // namespace synergraph::testing_support
