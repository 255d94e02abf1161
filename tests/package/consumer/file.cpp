// Measures an attention file with the component analysis, which needs no trainer.
#include <iostream>

#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/attention_file.h"

int main(int, char** arguments) {
  const auto file = synergraph::TensorFile::open(arguments[1]);
  const auto source = synergraph::open_attention_file(file, {});
  const auto weights = synergraph::uniform_weights(source->layers());
  const auto analysis = synergraph::analyse(*source, weights, {});
  std::cout << analysis.samples[0][0][0].combined.fidelity.minimax << '\n';
}
