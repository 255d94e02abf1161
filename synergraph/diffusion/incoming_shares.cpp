#include "synergraph/diffusion/incoming_shares.h"

#include "synergraph/core/array_math.h"
#include "synergraph/core/safe_range.h"

namespace synergraph {

void to_incoming_shares(Matrix& weights) {
  for (int i = 0; i < weights.rows(); ++i) {
    double* row = weights.row(i);
    double sum = total(row, i + 1);
    if (!in_safe_range(sum)) {
      scale_to_safe_range(row, i + 1, row);
      sum = total(row, i + 1);
    }
    if (sum > 0.0)
      for (int j = 0; j <= i; ++j) row[j] /= sum;
    else
      row[i] = 1.0;
  }
}

}  // namespace synergraph
