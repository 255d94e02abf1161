#pragma once

#include <sys/types.h>

#include <string>

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

struct LeftoverSlot;

/// Registers a temporary file or a started program that must not outlive this process. While the
/// object lives, remove_leftovers() knows the file or program. The library itself catches no
/// signals; the program that uses the library does.
class Leftover {
 public:
  /// Registers a file by its name in an open directory. The caller registers the file before making
  /// the file, so that a signal never finds an unknown file.
  Leftover(int directory, const std::string& name);
  /// Registers a child process that nobody has waited for.
  explicit Leftover(pid_t child);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

  /// The caller calls made() when the file has been made. If another thread has called
  /// remove_leftovers() meanwhile, made() removes the file and waits for the end of the process.
  void made() const;

 private:
  LeftoverSlot* slot_;
};

/// Removes the registered files and kills the registered programs. The function calls only what a
/// signal handler may call. The process must end afterwards.
void remove_leftovers() noexcept;

}  // namespace synergraph
#pragma GCC visibility pop
