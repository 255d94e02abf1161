#pragma once

#include <sys/types.h>

#include <string>

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

struct LeftoverSlot;

/// Something that must not outlive this process: a temporary file, or a program that it has
/// started. While this object lives, remove_leftovers() knows of it. The library catches no
/// signals: that is for the program that it is part of.
class Leftover {
 public:
  /// A file, by its name in an open directory. Comes before the file is made, so that no signal
  /// finds a file that nobody knows of.
  Leftover(int directory, const std::string& name);
  /// A child that has not been waited for.
  explicit Leftover(pid_t child);
  ~Leftover();
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;

  /// Called when the file has been made: where remove_leftovers() was called meanwhile, by another
  /// thread, the file is removed, and this thread waits for the end of the process.
  void made() const;

 private:
  LeftoverSlot* slot_;
};

/// Removes these files and kills these programs. Calls only what the handler of a signal may. The
/// process must end after it.
void remove_leftovers() noexcept;

}  // namespace synergraph
#pragma GCC visibility pop
