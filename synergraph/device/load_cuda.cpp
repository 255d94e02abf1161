#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/device/cuda_library.h"
#ifndef __wasm__
#include <dlfcn.h>
#include <elf.h>
#endif

namespace synergraph {
namespace {

#ifdef __wasm__

MetricsBackend* load() {
  throw InputError("there are no GPUs here");
}

#else

/// The folder of the program or shared library that this code is in, with a slash; empty: unknown.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&cuda_backend), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::string path = info.dli_fname;
  // A program that was found in PATH is known by its bare name.
  if (path.find('/') == std::string::npos) path = "/proc/self/exe";
  char* real = realpath(path.c_str(), nullptr);
  if (real != nullptr) path = real;
  std::free(real);
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// Where the library may be, in this order: where the environment says, beside the program or
/// package, in the lib folder next to the program's, in the build, where the system looks.
std::vector<std::string> places() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets variables
  if (const char* given = std::getenv("SYNERGRAPH_CUDA_LIBRARY"); given != nullptr && *given != 0) {
    const std::string path = given;  // a file; dlopen() would search for a bare name
    return {path.find('/') == std::string::npos ? "./" + path : path};
  }
  std::vector<std::string> all;
  if (const std::string folder = own_folder(); !folder.empty())
    for (const char* beside : {"", "../lib/", "../synergraph/"})
      all.push_back(folder + beside + kCudaLibraryFile);
  all.emplace_back(kCudaLibraryFile);
  return all;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Whether a library's file ends before the parts of it that are loaded. dlopen() maps such a file,
/// and reading the missing part kills the process.
bool is_cut_off(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (!file || error ||
      std::string_view(ELFMAG) !=
          std::string_view(reinterpret_cast<const char*>(header.e_ident), SELFMAG))
    return false;  // no library: dlopen() says so
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int k = 0; k < header.e_phnum; ++k) {
    Elf64_Phdr part{};
    file.read(reinterpret_cast<char*>(&part), sizeof(part));
    const bool inside = part.p_offset <= bytes && part.p_filesz <= bytes - part.p_offset;
    if (!file || (part.p_type == PT_LOAD && !inside)) return true;
  }
  return false;
}

/// dlerror() as one line.
std::string last_error() {
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc has one a thread
  return printable(text != nullptr ? text : "unknown error");
}

/// Refuses what dlopen() would wait for or die of.
void check_library(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return;
  if (!std::filesystem::is_regular_file(status))
    throw InputError(fmt::format(
        "the library for GPUs cannot be loaded: {}: this is no regular file", printable(path)));
  if (is_cut_off(path))
    throw InputError(
        fmt::format("the library for GPUs cannot be loaded: {}: the end of the file is missing; "
                    "install it again",
                    printable(path)));
}

void* open_library() {
  const std::vector<std::string> all = places();
  for (const std::string& path : all) {
    const bool last = &path == &all.back();
    if (!last && !is_there(path)) continue;
    if (path.find('/') != std::string::npos) check_library(path);
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const std::string why = last_error();
    if (last && all.size() > 1)
      throw InputError(
          fmt::format("the library for GPUs, {}, is not installed: it belongs beside the program "
                      "or package (or set SYNERGRAPH_CUDA_LIBRARY to its path)",
                      kCudaLibraryFile));
    throw InputError(fmt::format("the library for GPUs cannot be loaded: {}", why));
  }
  throw InputError("the library for GPUs was not found");
}

MetricsBackend* load() {
  void* library = open_library();
  auto* entry = reinterpret_cast<CudaLibraryEntry*>(dlsym(library, kCudaLibraryEntry));
  if (entry == nullptr)
    throw InputError(fmt::format("the library for GPUs does not export {}: it is another library",
                                 kCudaLibraryEntry));
  const CudaLibrary* loaded = entry();
  if (std::string_view(loaded->version) != kVersion || loaded->layout != backend_layout())
    throw InputError(
        fmt::format("the library for GPUs is of another build (version {}, this is {}): install "
                    "both from the same build",
                    loaded->version, kVersion));
  return loaded->backend;
}

#endif

}  // namespace

MetricsBackend& cuda_backend() {
  // A failure is tried again at the next call: the library stays loaded once it was.
  static MetricsBackend* const loaded = load();
  return *loaded;
}

}  // namespace synergraph
