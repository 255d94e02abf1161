// Any bytes are a result of `analyze` or an InputError; a result differs from itself by nothing.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "synergraph/core/error.h"
#include "synergraph/report/compare_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const synergraph::ComparedSide side = synergraph::parse_result(text, "A");
    synergraph::ComparisonSettings settings;
    settings.quantities = {"all"};
    const synergraph::Comparison same = synergraph::compare(side, side, settings);
    for (const synergraph::LayerComparison& layer : same.layers)
      for (const auto& [quantity, number] : layer.all)
        if (std::isfinite(number.numbers.difference) && number.numbers.difference != 0.0)
          std::abort();
  } catch (const synergraph::Error&) {
  }
  return 0;
}
