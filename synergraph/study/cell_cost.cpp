#include "synergraph/study/cell_cost.h"

#include <cmath>

namespace synergraph {

// Fitted to the paper's models with 1, 4 and 16 heads on one thread.
double cell_cost(const Cell& cell) {
  const ModelConfig& model = cell.train.model;
  const double n = model.length;
  const double heads = model.heads;
  const double width = model.width;
  const double layer =
      4 * width * width + 2 * width * model.hidden + 2 * n * width + 18 * n * heads;
  const double sequence = n * (model.layers * layer + width * model.vocabulary);
  const double trained = 3.0 * cell.train.epochs * cell.train.sequences * sequence;
  const double cubes = model.layers * n * n * n;
  const double measured = cell.measure.samples * (5 * heads + 9) * cubes;
  const double subsets = measures_subsets(cell) ? cell.measure.subset_samples *
                                                      (std::exp2(heads) + 1000 * heads) * cubes
                                                : 0.0;
  return 1e-9 * (trained + measured + subsets);
}

}  // namespace synergraph
