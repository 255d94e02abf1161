#include "fuzz/read_tensors.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/torch_archive.h"

/// The input is a zip archive, read as NumPy's or PyTorch's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  try {
    const auto archive = synergraph::ZipArchive::open(synergraph::memory_bytes("input", input));
    synergraph::read_tensors(synergraph::is_torch_archive(*archive)
                                 ? synergraph::read_torch(*archive)
                                 : synergraph::read_npz(*archive));
  } catch (const synergraph::InputError&) {
  }
  return 0;
}
