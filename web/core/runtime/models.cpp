// A page has no models: attention never comes from one, see
// synergraph/analysis/model_attention.cpp.

#include "synergraph/analysis/model_attention.h"

namespace synergraph {

std::vector<AttentionPiece> ModelAttention::pieces(int /*begin*/, int /*end*/) const {
  return {};
}
std::unique_ptr<AttentionReader> ModelAttention::reader(const WorkingMemory& /*memory*/) {
  return nullptr;
}
std::optional<Evaluation> ModelAttention::evaluation() const {
  return {};
}
std::optional<AttentionControl> ModelAttention::control(const Execution& /*execution*/) const {
  return {};
}

}  // namespace synergraph
