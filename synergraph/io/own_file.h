#pragma once

#include <sys/stat.h>

#include <set>
#include <string>

#include "synergraph/io/descriptor.h"

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

// Files that the program names itself (NamedBy::kProgram), inside a directory that the user named.
// None of the names in such a path is followed if it is a symbolic link: that is an InputError with
// the link's name. user_directory() comes first, where a user's own links are still in the path.

/// The path of a directory that the user named, without symbolic links: a user may name one, and
/// chooses what is behind it. Without links in it, the path stays as it is. InputError for a link
/// that leads nowhere.
std::string user_directory(const std::string& path);

/// Opens a regular file as open(2) does; no file, with the reason in errno, where the system
/// refuses. InputError for what is not a regular file. Never waits for a pipe.
Descriptor open_own(const std::string& path, int flags, mode_t mode = 0666);

/// Opens a directory, to name files in it; `make`: makes it, and those it lies in, unless it is
/// there. No file, with the reason in errno, where the system refuses.
Descriptor open_own_directory(const std::string& path, bool make = false);

/// Where a file is: its directory, open, and its name in it.
struct OwnPlace {
  explicit OwnPlace(const std::string& path);
  Descriptor directory;  ///< none, with the reason in errno, where it cannot be opened
  std::string name;
};

/// Whether a regular file is there. InputError for anything else under this name.
bool own_file_exists(const std::string& path);

/// Whether a regular file, or a directory, is there and can be reached; no errors.
bool is_own_file(const std::string& path);
bool is_own_directory(const std::string& path);

/// The status of what is there, of a link itself: false, with the reason in errno, where the system
/// refuses.
bool own_status(const std::string& path, struct stat& status);

/// The names in a directory, without those that begin with a dot. No file: FileError; `missing`:
/// what it is set to where the directory is missing, which is then no error.
std::set<std::string, std::less<>> names_in_own(const std::string& directory,
                                                bool* missing = nullptr);

/// Makes a hard link; false, with the reason in errno, where the system refuses.
bool link_own(const std::string& from, const std::string& to);

/// Removes a file, if it is there and can be removed.
void remove_own(const std::string& path);

/// Renames a file or a directory to a name of its own that nothing has: NAME.damaged,
/// NAME.damaged-2, ... Nothing happens where there is none.
void set_own_aside(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
