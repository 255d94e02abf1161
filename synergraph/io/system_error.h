#pragma once

#include <string>

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

/// Throws the FileError "NAME: WHAT: REASON" with the system's reason, errno.
[[noreturn]] void throw_system_error(const std::string& name, const char* what);

}  // namespace synergraph
#pragma GCC visibility pop
