#include "synergraph/io/npz.h"

#include <fmt/core.h>
#include <zip.h>

#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"

namespace synergraph {
namespace {

constexpr std::string_view kEnding = ".npy";

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using ZipPtr = std::unique_ptr<zip_t, Discard>;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw InputError(fmt::format("{}: cannot write: {}", path, reason));
}

/// Adds one member whose bytes are the header and then the tensor's data, where they are.
void add_member(const std::string& path, zip_t* archive, const TensorData& tensor,
                std::string& header) {
  // libzip's type is not const, but it does not write to a buffer that it does not own.
  std::array<zip_buffer_fragment_t, 2> parts{
      {{reinterpret_cast<zip_uint8_t*>(header.data()), header.size()},
       {static_cast<zip_uint8_t*>(const_cast<void*>(tensor.data)),  // NOLINT
        static_cast<zip_uint64_t>(tensor.info.bytes())}}};
  const std::string name = tensor.info.name + std::string(kEnding);
  zip_source_t* source =
      zip_source_buffer_fragment(archive, parts.data(), tensor.info.bytes() > 0 ? 2 : 1, 0);
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail(path, fmt::format("tensor {}: {}", in_quotes(tensor.info.name), zip_strerror(archive)));
  }
  constexpr zip_uint16_t kFirstDay =
      1U << 5U | 1U;  // 1 January 1980, where the zip calendar begins
  const auto member = static_cast<zip_uint64_t>(index);
  if (zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, member, 0, kFirstDay, 0) != 0) {
    fail(path, zip_strerror(archive));
  }
}

/// libzip makes no file for an archive without members.
void write_empty(const std::string& path) {
  std::string end = "PK\x05\x06";
  end.resize(22, '\0');
  write_file(path, end);
}

}  // namespace

TensorFileContents read_npz(const ZipArchive& archive) {
  TensorFileContents contents;
  for (const ZipArchive::Member& member : archive.members()) {
    std::string name = member.name;
    if (!name.ends_with(kEnding)) {
      contents.skipped.push_back({std::move(name), "not a .npy member"});
      continue;
    }
    name.resize(name.size() - kEnding.size());
    NpyArray array = parse_npy(archive.bytes(member), name);
    if (array.tensor) {
      contents.tensors.push_back(std::move(*array.tensor));
    } else {
      contents.skipped.push_back({std::move(name), std::move(array.reason)});
    }
  }
  return contents;
}

void write_npz(const std::string& path, std::span<const TensorData> tensors) {
  if (tensors.empty()) return write_empty(path);
  std::set<std::string_view> names;
  for (const TensorData& tensor : tensors) {
    const std::string& name = tensor.info.name;
    if (name.empty() || !names.insert(name).second) {
      fail(path, fmt::format("the tensor name {} is empty or occurs twice", in_quotes(name)));
    }
  }
  AtomicFile file(path);
  int code = 0;
  ZipPtr archive(zip_open(file.temporary_path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (archive == nullptr) fail(path, fmt::format("libzip error {}", code));
  std::vector<std::string> headers;  // must outlive zip_close
  headers.reserve(tensors.size());
  for (const TensorData& tensor : tensors) {
    headers.push_back(npy_header(tensor.info));
    add_member(path, archive.get(), tensor, headers.back());
  }
  if (zip_close(archive.get()) != 0) fail(path, zip_strerror(archive.get()));
  (void)archive.release();
  file.commit();
}

}  // namespace synergraph
