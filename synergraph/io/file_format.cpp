#include "synergraph/io/file_format.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/torch_archive.h"
#include "synergraph/io/zip_archive.h"

namespace synergraph {
namespace {

using Read = std::pair<FileFormat, TensorFileContents>;

constexpr std::string_view kNpyEndings[] = {".npy"};
constexpr std::string_view kNpzEndings[] = {".npz"};
constexpr std::string_view kSafetensorsEndings[] = {".safetensors"};
constexpr std::string_view kTorchEndings[] = {".pt", ".pth"};

constexpr std::string_view kOldTorch = "\x80\x02\x8a\x0a";

bool is_zip(std::string_view head) {
  return head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06");
}

Read read_zip(const ByteSourcePtr& bytes) {
  const auto archive = ZipArchive::open(bytes);
  if (is_torch_archive(*archive)) return {FileFormat::kTorch, read_torch(*archive)};
  return {FileFormat::kNpz, read_npz(*archive)};
}

Read read_torch_file(const ByteSourcePtr& bytes) {
  if (bytes->read_string(0, std::min<std::uint64_t>(bytes->size(), kOldTorch.size())) == kOldTorch)
    throw InputError(bytes->name() +
                     ": a PyTorch file from before version 1.6; load it and torch.save it again");
  return read_zip(bytes);
}

const FormatRow kRows[] = {
    {.format = FileFormat::kNpy,
     .endings = kNpyEndings,
     .about = "versions 1 to 3, little and big endian, C and Fortran order",
     .recognises = [](std::string_view head) { return head.starts_with("\x93NUMPY"); },
     .read = [](const ByteSourcePtr& bytes) -> Read {
       return {FileFormat::kNpy, read_npy(bytes)};
     }},
    {.format = FileFormat::kNpz,
     .endings = kNpzEndings,
     .about = "read stored and deflated, written stored",
     .recognises = is_zip,
     .read = read_zip},
    {.format = FileFormat::kSafetensors,
     .endings = kSafetensorsEndings,
     .about = "with its metadata",
     .recognises = [](std::string_view head) { return head.size() == 9 && head[8] == '{'; },
     .read = [](const ByteSourcePtr& bytes) -> Read {
       return {FileFormat::kSafetensors, read_safetensors(bytes)};
     }},
    {.format = FileFormat::kTorch,
     .endings = kTorchEndings,
     .about = "`torch.save` since PyTorch 1.6",
     .in_page = false,
     .recognises =
         [](std::string_view head) { return head.starts_with(kOldTorch) || is_zip(head); },
     .read = read_torch_file},
};

}  // namespace

std::span<const FormatRow> file_formats() {
  return kRows;
}

const FormatRow* format_of(const ByteSource& bytes) {
  const std::string head = bytes.read_string(0, std::min<std::uint64_t>(bytes.size(), 9));
  for (const FormatRow& row : kRows)
    if (row.recognises(head)) return &row;
  for (const FormatRow& row : kRows)
    for (const std::string_view ending : row.endings)
      if (bytes.name().ends_with(ending)) return &row;
  return nullptr;
}

std::string alternatives(std::vector<std::string_view> words) {
  const std::string_view last = words.back();
  words.pop_back();
  return fmt::format("{} or {}", fmt::join(words, ", "), last);
}

std::string listed_endings() {
  std::vector<std::string_view> endings;
  for (const FormatRow& row : kRows) endings.push_back(row.endings.front());
  return alternatives(std::move(endings));
}

}  // namespace synergraph
