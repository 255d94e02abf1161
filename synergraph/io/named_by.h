#pragma once

namespace synergraph {

/// Who chose the name of a file. A user may name a symbolic link, a pipe or a device, and means
/// what is behind it. Names that the program chose, inside a directory that the user named, are
/// known to all who can write there: a link under such a name may be planted, and is never
/// followed.
enum class NamedBy { kUser, kProgram };

}  // namespace synergraph
