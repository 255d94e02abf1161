#include "synergraph/model/dropout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/random.h"
#include "synergraph/core/setting.h"

namespace synergraph {
namespace {

constexpr double kUnits = 65536.0;

}  // namespace

Dropout::Dropout(double rate, std::uint64_t seed, std::uint32_t step) : seed_(seed), step_(step) {
  if (!(rate >= 0.0 && rate < 1.0))
    throw UsageError(fmt::format("{} must be in [0, 1), not {}", option_mark("dropout"), rate));
  threshold_ = static_cast<std::uint32_t>(std::min(std::lround(rate * kUnits), 65535L));
  scale_ = static_cast<float>(kUnits / (kUnits - threshold_));
}

void Dropout::mask(int layer, DropoutSite site, std::uint64_t first_byte, std::size_t count,
                   std::uint8_t* bytes) const {
  const std::uint64_t place =
      2 * static_cast<std::uint64_t>(layer) + static_cast<std::uint32_t>(site);
  const std::uint64_t first_block = (place << 40U) + first_byte;
  constexpr std::uint64_t whole = std::uint64_t{1} << 32U;
  for (std::size_t byte = 0; byte < count;) {
    const std::uint64_t block = first_block + byte;
    const auto lower = static_cast<std::uint32_t>(block);
    // Up to the next change of the upper word.
    const std::size_t part = std::min<std::uint64_t>(count - byte, whole - lower);
    kernels().dropout_mask({seed_, static_cast<std::uint32_t>(Purpose::kDropout), step_, threshold_,
                            static_cast<std::uint32_t>(block >> 32U)},
                           lower, part, bytes + byte);
    byte += part;
  }
}

}  // namespace synergraph
