#include "synergraph/core/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

namespace synergraph {
namespace {

__extension__ using Wide = unsigned __int128;

/// A double in [0, 1) from 53 of 64 random bits.
double unit_interval(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 32U) | low;
  return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}

}  // namespace

std::array<std::uint32_t, 4> RandomStream::words(std::uint64_t block) const {
  const r123::Philox4x32::ctr_type counter = {{static_cast<std::uint32_t>(block),
                                               static_cast<std::uint32_t>(block >> 32U), index_,
                                               static_cast<std::uint32_t>(purpose_)}};
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32U)}};
  const auto out = r123::Philox4x32()(counter, key);
  return {out[0], out[1], out[2], out[3]};
}

std::array<double, 2> RandomStream::uniforms(std::uint64_t block) const {
  const auto w = words(block);
  return {unit_interval(w[0], w[1]), unit_interval(w[2], w[3])};
}

std::array<double, 2> RandomStream::normals(std::uint64_t block) const {
  const auto u = uniforms(block);
  const double radius = std::sqrt(-2.0 * std::log1p(-u[0]));
  const double angle = 2.0 * std::numbers::pi * u[1];
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

double RandomSequence::uniform() {
  return stream_.uniforms(next_block_++)[0];
}

double RandomSequence::normal() {
  return stream_.normals(next_block_++)[0];
}

std::uint64_t RandomSequence::below(std::uint64_t bound) {
  // Lemire's multiply-shift with rejection: exactly uniform.
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const auto w = stream_.words(next_block_++);
    const std::uint64_t draw = (std::uint64_t{w[0]} << 32U) | w[1];
    const auto product = static_cast<Wide>(draw) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold)
      return static_cast<std::uint64_t>(product >> 64U);
  }
}

}  // namespace synergraph
