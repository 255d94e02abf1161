#include <iostream>

#include "synergraph/core/version.h"
#include "synergraph/heads/synergy.h"

int main() {
  const auto heads = synergraph::heads_of_graph(synergraph::worked_example(1));
  const auto walk =
      synergraph::combine_walk(heads, {0.5, 0.5}, synergraph::Normalization::kPerHead);
  std::cout << "synergraph " << synergraph::kVersion << ": mixing time "
            << synergraph::mixing_time(walk) << '\n';
}
