#include "synergraph/io/own_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "synergraph/core/error.h"
#include "synergraph/core/split.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_link(const std::string& path) {
  throw InputError(
      path +
      ": a symbolic link, which synergraph does not follow inside its directories. Remove it");
}

bool is_link(int directory, const std::string& name) {
  struct stat status {};
  return fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(status.st_mode);
}

[[noreturn]] void throw_irregular(const std::string& path, int flags) {
  throw InputError(fmt::format("{}: cannot {}: not a regular file", path,
                               (flags & O_ACCMODE) == O_RDONLY ? "read" : "write"));
}

/// No error passes.
template <class Test>
bool holds_for(const std::string& path, const Test& test) {
  try {
    struct stat status {};
    return own_status(path, status) && test(status);
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::string user_directory(const std::string& path) {
  std::error_code error;
  fs::path begin;
  bool linked = false;
  for (const fs::path& part : fs::path(path)) {
    begin /= part;
    linked = linked || fs::is_symlink(fs::symlink_status(begin, error));
  }
  if (!linked) return path;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error) {
    errno = error.value();
    throw_system_error(path, "cannot open");
  }
  std::string found = real.string();
  struct stat status {};
  if (lstat(found.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
    throw InputError(path + ": the symbolic link leads to nothing");
  return found;
}

Descriptor open_own_directory(const std::string& path, bool make) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor here(open(path.starts_with('/') ? "/" : ".", kFlags));
  std::size_t end = 0;
  for (const std::string_view part : split(path, '/')) {
    end += part.size() + 1;
    if (part.empty() || part == ".") continue;
    const std::string name(part);
    Descriptor next(openat(here.get(), name.c_str(), kFlags));
    if (!next && errno == ENOENT && make) {
      if (mkdirat(here.get(), name.c_str(), 0777) != 0 && errno != EEXIST) return Descriptor();
      next.reset(openat(here.get(), name.c_str(), kFlags));
    }
    if (!next) {
      const int reason = errno;
      if (is_link(here.get(), name)) throw_link(path.substr(0, end - 1));
      errno = reason;
      return Descriptor();
    }
    here = std::move(next);
  }
  return here;
}

OwnPlace::OwnPlace(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  name = path.substr(slash + 1);  // of no slash: all of it
  directory = open_own_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

Descriptor open_own(const std::string& path, int flags, mode_t mode) {
  const OwnPlace place(path);
  if (!place.directory) return Descriptor();
  Descriptor file(openat(place.directory.get(), place.name.c_str(),
                         flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode));
  if (!file) {
    const int reason = errno;
    if (reason == ENXIO) throw_irregular(path, flags);  // a pipe without a reader
    if (reason != EEXIST && is_link(place.directory.get(), place.name)) throw_link(path);
    errno = reason;
    return file;
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) throw_irregular(path, flags);
  return file;
}

bool own_status(const std::string& path, struct stat& status) {
  const OwnPlace place(path);
  return place.directory &&
         fstatat(place.directory.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool own_file_exists(const std::string& path) {
  struct stat status {};
  if (!own_status(path, status)) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    throw_system_error(path, "cannot read");
  }
  if (S_ISLNK(status.st_mode)) throw_link(path);
  if (!S_ISREG(status.st_mode)) throw_irregular(path, O_RDONLY);
  return true;
}

bool is_own_file(const std::string& path) {
  return holds_for(path, [](const struct stat& status) { return S_ISREG(status.st_mode); });
}

bool is_own_directory(const std::string& path) {
  return holds_for(path, [](const struct stat& status) { return S_ISDIR(status.st_mode); });
}

std::set<std::string, std::less<>> names_in_own(const std::string& directory, bool* missing) {
  const Descriptor place = open_own_directory(directory);
  // What only names the directory cannot be read.
  Descriptor readable(place ? openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(readable ? fdopendir(readable.get()) : nullptr,
                                                   closedir);
  if (stream) (void)readable.release();  // the stream closes it
  if (missing != nullptr) *missing = !stream && errno == ENOENT;
  std::set<std::string, std::less<>> names;
  if (!stream) {
    if (missing != nullptr && *missing) return names;
    throw_system_error(directory, "cannot read");
  }
  for (;;) {
    errno = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this thread's own
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr && errno != 0) throw_system_error(directory, "cannot read");
    if (entry == nullptr) return names;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (!name.starts_with('.')) names.emplace(name);
  }
}

bool link_own(const std::string& from, const std::string& to) {
  const OwnPlace source(from);
  if (!source.directory) return false;
  const OwnPlace target(to);
  return target.directory && linkat(source.directory.get(), source.name.c_str(),
                                    target.directory.get(), target.name.c_str(), 0) == 0;
}

void remove_own(const std::string& path) {
  try {
    const OwnPlace place(path);
    if (place.directory) (void)unlinkat(place.directory.get(), place.name.c_str(), 0);
  } catch (const InputError&) {  // what is behind a link is not ours
  }
}

void set_own_aside(const std::string& path) {
  const OwnPlace place(path);
  const int directory = place.directory.get();
  struct stat status {};
  for (int number = 1; place.directory; ++number) {
    const std::string aside =
        place.name + ".damaged" + (number == 1 ? "" : fmt::format("-{}", number));
    if (fstatat(directory, aside.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) continue;
    if (errno != ENOENT) break;
    if (renameat(directory, place.name.c_str(), directory, aside.c_str()) == 0) return;
    // Another worker may have taken this name meanwhile, for something of another kind.
    if (errno != ENOTEMPTY && errno != EEXIST && errno != EISDIR && errno != ENOTDIR) break;
  }
  if (errno != ENOENT) throw_system_error(path, "cannot set aside");
}

}  // namespace synergraph
