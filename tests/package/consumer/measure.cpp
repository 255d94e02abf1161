#include <iostream>

#include "synergraph/heads/measure_systems.h"

int main() {
  const float attention[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0.75F, 0.25F, 0}},
                                    {{1, 0, 0}, {0, 1, 0}, {0.25F, 0.75F, 0}}};
  const auto view = synergraph::attention_view(&attention[0][0][0], 1, 2, 3);
  const synergraph::HeadsMetrics measured = synergraph::measure(view).sequences[0][0];
  std::cout << "mixing time " << measured.combined.walk.mixing[0] << ", minimax fidelity "
            << measured.combined.fidelity.minimax << ", synergy " << measured.synergy.value << '\n';
}
