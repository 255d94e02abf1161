#pragma once

namespace synergraph {

/// Who chose the name of a file. A user may name a symbolic link, a pipe or a device, and means its
/// target. The program chooses names inside a directory that the user named. Everybody who can
/// write to that directory knows the program's names and may plant a link under such a name. The
/// library therefore never follows such a link.
enum class NamedBy { kUser, kProgram };

}  // namespace synergraph
