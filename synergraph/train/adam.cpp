#include "synergraph/train/adam.h"

#include <fmt/core.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/setting.h"

namespace synergraph {
namespace {

void require(bool good, const char* key, const char* range, double value) {
  if (!good) throw UsageError(fmt::format("{} must be {}, not {}", option_mark(key), range, value));
}

}  // namespace

void validate(const AdamOptions& options) {
  const auto decay = [](double beta) { return beta >= 0.0 && beta < 1.0; };
  const auto positive = [](double value) { return value > 0.0 && std::isfinite(value); };
  require(positive(options.learning_rate), "learning_rate", "positive", options.learning_rate);
  require(decay(options.beta1), "beta1", "in [0, 1)", options.beta1);
  require(decay(options.beta2), "beta2", "in [0, 1)", options.beta2);
  // Where a gradient has always been zero, nothing else is divided by.
  require(positive(static_cast<float>(options.epsilon)), "epsilon", "positive as a float32",
          options.epsilon);
}

void adam_update(const AdamOptions& options, std::uint32_t step, const AdamBuffers& buffers,
                 std::size_t count) {
  const double correction1 = 1.0 - std::pow(options.beta1, step);
  const double correction2 = 1.0 - std::pow(options.beta2, step);
  const AdamFactors factors{.beta1 = static_cast<float>(options.beta1),
                            .beta2 = static_cast<float>(options.beta2),
                            .rest1 = static_cast<float>(1.0 - options.beta1),
                            .rest2 = static_cast<float>(1.0 - options.beta2),
                            .rate = static_cast<float>(options.learning_rate / correction1),
                            .root = static_cast<float>(1.0 / std::sqrt(correction2)),
                            .epsilon = static_cast<float>(options.epsilon)};
  kernels().adam(factors, count, buffers.gradient, buffers.parameters, buffers.first_moment,
                 buffers.second_moment);
}

}  // namespace synergraph
