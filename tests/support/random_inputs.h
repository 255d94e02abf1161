#pragma once

// Random graphs and attention for property tests: the same for the same seed, on any machine.

#include <cmath>
#include <cstdint>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/core/random.h"
#include "synergraph/graph/attention.h"
#include "synergraph/graph/generators.h"
#include "synergraph/heads/head.h"

namespace synergraph::testing_support {

/// Softmax rows of normal logits: `sharpness` 0 is uniform attention, 5 is nearly one-hot.
inline Matrix random_attention(int nodes, double sharpness, RandomSequence& draws) {
  Matrix attention(nodes, nodes);
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j <= i; ++j) attention(i, j) = std::exp(sharpness * draws.normal());
  for (int i = 0; i < nodes; ++i) {
    double sum = 0.0;
    for (int j = 0; j <= i; ++j) sum += attention(i, j);
    for (int j = 0; j <= i; ++j) attention(i, j) /= sum;
  }
  normalise_attention(attention.view());
  return attention;
}

struct System {
  std::vector<Head> heads;
  std::vector<double> weights;
};

inline std::vector<double> random_weights(std::size_t count, RandomSequence& draws) {
  std::vector<double> raw;
  for (std::size_t h = 0; h < count; ++h) raw.push_back(draws.uniform() + 1e-3);
  return normalised_weights(raw, count);
}

/// One to four random graphs on 1 to 12 nodes, sparse ones with unreachable sinks among them.
inline System random_graph_system(std::uint32_t index) {
  RandomSequence draws(2024, Purpose::kTest, index);
  const int nodes = 1 + static_cast<int>(draws.below(12));
  const int count = 1 + static_cast<int>(draws.below(4));
  std::vector<GraphHead> heads;
  for (int h = 0; h < count; ++h)
    heads.push_back(
        {"", 1.0, random_graph(nodes, draws.uniform(), index * 7ULL + static_cast<unsigned>(h))});
  System system{heads_of_graph(multi_head_graph(std::move(heads))), {}};
  system.weights = random_weights(system.heads.size(), draws);
  return system;
}

/// One to four random attention heads on 1 to 12 tokens, from uniform to nearly one-hot.
inline System random_attention_system(std::uint32_t index) {
  RandomSequence draws(2025, Purpose::kTest, index);
  const int nodes = 1 + static_cast<int>(draws.below(12));
  const int count = 1 + static_cast<int>(draws.below(4));
  System system;
  for (int h = 0; h < count; ++h)
    system.heads.push_back(
        head_of_attention("", random_attention(nodes, 3.0 * draws.uniform(), draws)));
  system.weights = random_weights(system.heads.size(), draws);
  return system;
}

}  // namespace synergraph::testing_support
