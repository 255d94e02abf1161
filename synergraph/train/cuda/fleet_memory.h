#pragma once

#include <cstdint>
#include <string>

#include "synergraph/train/cuda/layout.h"
#include "synergraph/train/fleet.h"

namespace synergraph::cuda {

// What is known of a GPU's limits without one.

constexpr int kMostLayers = 1 << 15;  ///< the numbers of a model and of a pass are counted in ints
constexpr int kMostTokens = 1 << 22;

/// Why the engine cannot train models of these sizes; empty when it can.
std::string refusal(const ModelConfig& config);

/// What a step keeps of one sequence, in entries of the arrays.
struct PlaceSizes {
  explicit PlaceSizes(const ModelConfig& config);

  std::size_t attention_masks;  ///< words
  std::size_t mlp_masks;        ///< bytes
  std::size_t saved;            ///< floats
  std::size_t partial;          ///< floats

  std::size_t bytes() const;  ///< of all, and of loss and correct answers
};

/// Copies of a model's numbers that a member has: parameters, operands, transposed, two moments,
/// gradient.
constexpr int kCopies = 6;

/// Bytes of the GPU's memory that a model takes in training, with so many sequences of its own.
std::uint64_t model_bytes(const FleetSettings& settings, int sequences);

/// How many such models fit in so many bytes that are free. Some are left: for the driver, which
/// gives memory in large pieces, and for models that are measured meanwhile.
int models_in(std::uint64_t free_bytes, const FleetSettings& settings, int sequences);

/// Why not even one does; empty when it does.
std::string memory_refusal(std::uint64_t free_bytes, const FleetSettings& settings, int sequences);

}  // namespace synergraph::cuda
