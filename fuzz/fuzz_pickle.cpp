#include "fuzz/read_tensors.h"
#include "synergraph/io/torch_archive.h"
#include "tests/io/zip_builder.h"

/// The input is the pickle of a PyTorch archive. It is put into an archive with three storages, so
/// that checksums do not hide the parser from the fuzzer. Its first byte chooses the byte order.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string pickle(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string order = (data[0] & 1U) != 0 ? "big" : "little";
  const std::string archive_bytes =
      synergraph::build_zip({{"a/data.pkl", pickle},
                             {"a/byteorder", order},
                             {"a/data/0", std::string(24, '\x3f')},
                             {"a/data/1", std::string(64, '\x40')},
                             {"a/data/2", std::string("\x00\x3c\xff\x7f", 4)}});
  try {
    const auto archive =
        synergraph::ZipArchive::open(synergraph::memory_bytes("input", archive_bytes));
    synergraph::read_tensors(synergraph::read_torch(*archive));
  } catch (const synergraph::InputError&) {
  }
  return 0;
}
