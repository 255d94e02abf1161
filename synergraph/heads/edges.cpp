#include "synergraph/heads/edges.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/heads/moved_heads.h"

namespace synergraph {

class EdgeSource::Reader : public AttentionReader {
 public:
  Reader(const EdgeSource& source, std::unique_ptr<AttentionReader> attention,
         const WorkingMemory& memory)
      : source_(source), attention_(std::move(attention)), memory_(memory) {}

  void open(const AttentionPiece& piece) override {
    sample_ = piece.sample;
    attention_->open(piece);
  }

  void visit(const LayerVisitor& visitor) override {
    attention_->visit([&](int layer, HeadSource& heads) {
      std::optional<MovedValues> values =
          source_.moved_ ? source_.moved_(layer, sample_) : attention_->moved();
      const int extra =
          extra_nodes(source_.attention_.layers()[static_cast<std::size_t>(layer)].missing_mass);
      const std::string file = values && !values->file.empty() ? values->file + ": " : "";
      std::optional<MovedHeads> moved;
      try {
        moved.emplace(heads, source_.kind_ == EdgeKind::kContribution,
                      values ? std::move(*values) : MovedValues(), extra, memory_,
                      source_.most_head_bytes());
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}layer {}, sample {}: {}", file,
                                     source_.layers()[static_cast<std::size_t>(layer)].name,
                                     sample_, error.what()));
      }
      visitor(layer, *moved);
    });
  }

 private:
  const EdgeSource& source_;
  std::unique_ptr<AttentionReader> attention_;
  WorkingMemory memory_;
  int sample_ = 0;
};

EdgeSource::EdgeSource(AttentionSource& attention, EdgeKind kind, MovedReader moved)
    : attention_(attention), kind_(kind), moved_(std::move(moved)) {
  if (kind == EdgeKind::kAttention) throw UsageError("attention edges are the attention itself");
  layers_ = attention.layers();
  for (AttentionLayer& layer : layers_) layer.missing_mass = MissingMass::kError;
}

double EdgeSource::most_head_bytes() const {
  // Every entry of a contribution is a distance of vectors as wide as the model.
  constexpr double kMostContributions = 1 << 30;
  return kind_ == EdgeKind::kContribution ? kMostContributions : attention_.most_head_bytes();
}

std::unique_ptr<AttentionReader> EdgeSource::reader(const WorkingMemory& memory) {
  const WorkingMemory half(memory.bytes() / 2);
  return std::make_unique<Reader>(*this, attention_.reader(half), half);
}

}  // namespace synergraph
