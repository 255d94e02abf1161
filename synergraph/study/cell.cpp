#include "synergraph/study/cell.h"

#include "synergraph/subsets/subset.h"

namespace synergraph {

bool measures_subsets(const Cell& cell) {
  const int heads = cell.train.model.heads;
  return cell.measure.subset_samples > 0 && heads > 1 && heads <= kMaxExactHeads;
}

std::vector<Quantity> cell_quantities(const MeasureSettings& settings) {
  std::vector<Quantity> quantities = layer_quantities(settings.eps);
  std::erase(quantities, Quantity(Quantity::kEffectiveForwardProbability));
  return quantities;
}

double attainable_accuracy(const TrainSettings& settings) {
  if (settings.task != "cycle") return 1.0;
  const double guess = 1.0 / settings.model.vocabulary;
  return (settings.model.length - 1 + guess) / settings.model.length;
}

bool has_learned(const CellResult& result) {
  return result.accuracy >= attainable_accuracy(result.cell.train) - 0.005;
}

}  // namespace synergraph
