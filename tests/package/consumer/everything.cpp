#include <iostream>

#include "synergraph/synergraph.h"

int main() {
  std::cout << "synergraph " << synergraph::kVersion << ", " << synergraph::tasks().size()
            << " tasks\n";
}
