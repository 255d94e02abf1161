#pragma once

// How far numbers of a GPU may be from those of the CPU.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "synergraph/train/device.h"
#include "synergraph/train/fleet.h"

namespace synergraph {

/// |a - b|
inline double distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < b.size(); ++k) sum += std::pow(double{a[k]} - double{b[k]}, 2.0);
  return std::sqrt(sum);
}
inline double norm(std::span<const float> a) {
  double sum = 0.0;
  for (const float value : a) sum += std::pow(double{value}, 2.0);
  return std::sqrt(sum);
}

/// Models that do not fill the kernels: fewer heads than slots, heads that do not fill theirs, and
/// rows, columns and hidden units that fill no tile.
inline std::vector<ModelConfig> narrow_models() {
  std::vector<ModelConfig> models = {
      {.width = 48, .heads = 3, .hidden = 100}, {.width = 20, .heads = 5, .hidden = 33},
      {.width = 36, .heads = 3, .hidden = 7},   {.width = 63, .heads = 1, .hidden = 128},
      {.width = 26, .heads = 2, .hidden = 65},  {.width = 60, .heads = 15, .hidden = 64},
      {.width = 9, .heads = 3, .hidden = 16},   {.width = 16, .heads = 16, .hidden = 40},
      {.width = 2, .heads = 2, .hidden = 9},    {.width = 64, .heads = 4, .hidden = 20}};
  for (ModelConfig& model : models) {
    model.vocabulary = 101;
    model.length = 37;
    model.layers = 2;
  }
  return models;
}

/// |g - h| / |h| of the gradient g of a tensor on a GPU, h on the CPU.
///
/// An operand of a product is rounded by 2^-11 of it (TF32); in float32 it is split in two such
/// parts of which the product of the lower ones, 2^-22, is left out, and a sum of up to 128
/// products rounds by 2^-24 in an order of its own: 2^-21 together. Forward and back a number
/// passes at most 12 products a layer, 3 of the output, each of which adds as much at most.
///
/// A hidden unit near zero may be on here and off there. An activation that is off by d of its size
/// changes its sign with probability d / pi, half of them are on: sqrt(2 d / pi) of the gradient
/// through a layer's hidden units, and one unit of one position, in any case: of F / 2 that are on
/// in each. Rounding is random, so that d is the root of the six products before it in each layer.
inline double gradient_tolerance(Precision precision, const FleetSettings& settings) {
  const double rounding = precision == Precision::kTf32 ? 0x1p-11 : 0x1p-21;
  const int layers = settings.model.layers;
  const double off = std::sqrt(6.0 * layers) * rounding;
  const double flips = layers * std::sqrt(2.0 * off / std::numbers::pi);
  const double one_flip =
      1.0 / std::sqrt(settings.model.hidden / 2.0 * settings.batch * settings.model.length);
  return (12 * layers + 3) * rounding + std::max(flips, one_flip);
}

}  // namespace synergraph
