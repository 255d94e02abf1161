// Loaded before the C library: counts the calls of a program that change files, and lets one of
// them fail.
//   FAULT_COUNT=FILE   writes the number of calls there at the end
//   FAULT_AT=K         at the K-th call, from 1: the process is killed, or with
//   FAULT_ERROR=E      the call fails with the error E
//   FAULT_LINKS=E      all hard links fail with the error E
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> calls = 0;

long number_in(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

bool fails() {
  static const long at = number_in("FAULT_AT");
  static const long error = number_in("FAULT_ERROR");
  if (++calls != at) return false;
  if (error == 0) (void)std::raise(SIGKILL);
  errno = static_cast<int>(error);
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct AtEnd {
  ~AtEnd() {
    const char* path = std::getenv("FAULT_COUNT");
    std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
    if (file == nullptr) return;
    (void)std::fprintf(file, "%ld\n", calls.load());
    (void)std::fclose(file);
  }
} at_end;

mode_t mode_in(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

int open_with(const char* function, const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) != 0 && fails()) return -1;
  return next<int(const char*, int, ...)>(function)(path, flags, mode);
}

int open_in_with(const char* function, int directory, const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) != 0 && fails()) return -1;
  return next<int(int, const char*, int, ...)>(function)(directory, path, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return open_with("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return open_with("open64", path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return open_in_with("openat", directory, path, flags, mode);
}
int openat64(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  return open_in_with("openat64", directory, path, flags, mode);
}
ssize_t write(int file, const void* data, std::size_t size) {
  if (file > STDERR_FILENO && fails()) return -1;
  return next<ssize_t(int, const void*, std::size_t)>("write")(file, data, size);
}
ssize_t pwrite(int file, const void* data, std::size_t size, off_t at) {
  if (fails()) return -1;
  return next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(file, data, size, at);
}
ssize_t pwrite64(int file, const void* data, std::size_t size, off64_t at) {
  if (fails()) return -1;
  return next<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(file, data, size, at);
}
int fsync(int file) {
  if (fails()) return -1;
  return next<int(int)>("fsync")(file);
}
int mkdir(const char* path, mode_t mode) {
  if (fails()) return -1;
  return next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int mkdirat(int directory, const char* path, mode_t mode) {
  if (fails()) return -1;
  return next<int(int, const char*, mode_t)>("mkdirat")(directory, path, mode);
}
int linkat(int from_directory, const char* from, int to_directory, const char* to,
           int flags) noexcept {
  static const long error = number_in("FAULT_LINKS");
  if (fails()) return -1;
  if (error != 0) errno = static_cast<int>(error);
  return error != 0 ? -1
                    : next<int(int, const char*, int, const char*, int)>("linkat")(
                          from_directory, from, to_directory, to, flags);
}
int renameat(int from_directory, const char* from, int to_directory, const char* to) noexcept {
  if (fails()) return -1;
  return next<int(int, const char*, int, const char*)>("renameat")(from_directory, from,
                                                                   to_directory, to);
}
int unlinkat(int directory, const char* path, int flags) noexcept {
  if (fails()) return -1;
  return next<int(int, const char*, int)>("unlinkat")(directory, path, flags);
}
}
