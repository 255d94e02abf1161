#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace synergraph {

/// Adam (Kingma and Ba 2015). The defaults are the paper's.
struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;     ///< decay of the mean of gradients
  double beta2 = 0.999;   ///< decay of the mean of squared gradients
  double epsilon = 1e-8;  ///< added to the root of the latter

  bool operator==(const AdamOptions&) const = default;
};

/// Throws UsageError, naming the option at fault, unless 0 < learning_rate, 0 <= beta < 1 and
/// 0 < epsilon.
void validate(const AdamOptions& options);

/// Entries [0, count) of the buffers that Adam reads and writes.
struct AdamBuffers {
  float* parameters;
  float* first_moment;
  float* second_moment;
  const float* gradient;
};

/// Step number `step` (from 1) on `count` entries; each entry is independent of the others.
void adam_update(const AdamOptions& options, std::uint32_t step, const AdamBuffers& buffers,
                 std::size_t count);

}  // namespace synergraph
#pragma GCC visibility pop
