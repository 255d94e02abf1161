#include "synergraph/analysis/attention_source.h"

#include "synergraph/analysis/lower_triangle.h"

namespace synergraph {

FloatType AttentionSource::element_type(int /*layer*/) const {
  return FloatType::kFloat64;
}

void AttentionSource::copy_heads(const AttentionPiece& piece, const HeadCopy& copy) {
  const std::unique_ptr<AttentionReader> from = reader({});
  from->open(piece);
  from->visit([&](int layer, HeadSource& heads) {
    LowerTriangle triangle(heads.nodes(), sizeof(double));
    for (int h = 0; h < heads.heads(); ++h) {
      const ConstMatrixView values = heads.head(h).view();
      for (int i = 0; i < values.rows; ++i) triangle.set_row(i, values.row(i));
      copy(layer, h, triangle.bytes());
    }
  });
}

}  // namespace synergraph
