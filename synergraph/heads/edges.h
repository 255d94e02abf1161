#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/metrics_settings.h"
#include "synergraph/heads/moved_values.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What an edge from token j to token i says (theory: "What a head moves").
enum class EdgeKind {
  kAttention,     ///< where the head looks: A_h[i][j]
  kNorm,          ///< the length of what it moves: A_h[i][j] ||W_O^h v_j^h||_2
  kContribution,  ///< what that contributes to the token: ||y_i||_1 - ||y_i - A_h[i][j] W_O^h
                  ///< v_j^h||_1
};

template <>
inline constexpr NameTable<EdgeKind, 3> kNamesOf<EdgeKind>{
    {{EdgeKind::kAttention, "attention"},
     {EdgeKind::kNorm, "norm"},
     {EdgeKind::kContribution, "contribution"}}};

/// The edges of the graphs that are measured, as a user says it.
struct EdgeSettings {
  std::optional<EdgeKind> edges;

  EdgeKind kind() const { return edges.value_or(EdgeKind::kAttention); }
  bool moved() const { return kind() != EdgeKind::kAttention; }
};

/// See Setting.
template <class Visit>
void visit_settings(EdgeSettings& settings, Visit&& visit) {
  visit(Setting{"edges", kMeasurementGroup,
                "what the edges are: attention, norm (attention times the norm of what the head "
                "moves) or contribution (share of each moved value in the output). With norm and "
                "contribution the weights of the heads follow from the edges (default: attention)"},
        settings.edges);
}

/// What the heads of a layer move on a sample of a source, of the tokens that are measured. Called
/// from several threads.
using MovedReader = std::function<MovedValues(int layer, int sample)>;

/// The attention of another source as norm or contribution edges: heads with RowShares. A row in
/// which a head moves nothing is the identity. A node that takes missing mass is left out: it moves
/// nothing.
class EdgeSource : public AttentionSource {
 public:
  /// `moved`: where the source does not know itself what heads move, see AttentionReader::moved().
  /// The source must outlive this object, and keep its layers. UsageError for attention edges.
  EdgeSource(AttentionSource& attention, EdgeKind kind, MovedReader moved = {});

  EdgeKind kind() const { return kind_; }
  double most_head_bytes() const override;
  const AttentionSource& base() const override { return attention_.base(); }
  std::string reading() const override { return attention_.reading(); }
  std::vector<AttentionPiece> pieces(int begin, int end) const override {
    return attention_.pieces(begin, end);
  }
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;
  std::vector<double> knowledge_of(int sample) const override {
    return attention_.knowledge_of(sample);
  }
  void take_knowledge(int sample, const std::vector<double>& numbers) override {
    attention_.take_knowledge(sample, numbers);
  }

 private:
  class Reader;

  AttentionSource& attention_;
  EdgeKind kind_;
  MovedReader moved_;
};

}  // namespace synergraph
#pragma GCC visibility pop
