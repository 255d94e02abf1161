#pragma once

#include <sys/stat.h>

#include <set>
#include <string>

#include "synergraph/io/descriptor.h"

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

// These functions handle files that the program names itself (NamedBy::kProgram), inside a
// directory that the user named. No function follows a symbolic link in such a path; a link gives
// an InputError with its name. A caller first resolves the user's own links with user_directory().

/// Returns the path of a directory that the user named, with all symbolic links resolved. A user
/// may name a link and chooses its target. A path without links stays unchanged. Throws InputError
/// for a link without a target.
std::string user_directory(const std::string& path);

/// Opens a regular file as open(2) does. Returns no file, with the reason in errno, where the
/// system refuses. Throws InputError for anything but a regular file. Never waits for a pipe.
Descriptor open_own(const std::string& path, int flags, mode_t mode = 0666);

/// Opens a directory, so that callers can name files in the directory. With `make`, creates the
/// directory and its missing parents. Returns no file, with the reason in errno, where the system
/// refuses.
Descriptor open_own_directory(const std::string& path, bool make = false);

/// The location of a file: its open directory, and its name in that directory.
struct OwnPlace {
  explicit OwnPlace(const std::string& path);
  /// No file, with the reason in errno, where the directory cannot be opened.
  Descriptor directory;
  std::string name;
};

/// Returns whether a regular file exists at this path. Throws InputError for anything else under
/// this name.
bool own_file_exists(const std::string& path);

/// Returns whether a reachable regular file, or a reachable directory, exists at this path. Throws
/// no errors.
bool is_own_file(const std::string& path);
bool is_own_directory(const std::string& path);

/// Reads the status of the entry at this path; a link gives the status of the link itself. Returns
/// false, with the reason in errno, where the system refuses.
bool own_status(const std::string& path, struct stat& status);

/// Returns the names in a directory, except names that begin with a dot. Throws FileError where the
/// directory cannot be read. If `missing` is given, the function sets it to whether the directory
/// is missing; a missing directory is then no error.
std::set<std::string, std::less<>> names_in_own(const std::string& directory,
                                                bool* missing = nullptr);

/// Makes a hard link. Returns false, with the reason in errno, where the system refuses.
bool link_own(const std::string& from, const std::string& to);

/// Removes a file, if the file exists and can be removed.
void remove_own(const std::string& path);

/// Renames a file or a directory to the first free name of NAME.damaged, NAME.damaged-2, ... Does
/// nothing if there is no such file.
void set_own_aside(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
