#include "fuzz/read_tensors.h"
#include "synergraph/io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  try {
    synergraph::read_tensors(
        synergraph::read_safetensors(synergraph::memory_bytes("input", input)));
  } catch (const synergraph::InputError&) {
  }
  return 0;
}
