// Any bytes are states of searches or an InputError; states that were read are written back
// unchanged.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "synergraph/analysis/design_state.h"
#include "synergraph/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (synergraph::design_state_bytes(synergraph::parse_design_state(bytes, 2, 5, 2, 20)) != bytes)
      std::abort();
  } catch (const synergraph::InputError&) {
  }
  return 0;
}
