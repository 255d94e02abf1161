#pragma once

#include <string>

namespace synergraph {

/// Throws the InputError "NAME: WHAT: REASON" with the system's reason, errno.
[[noreturn]] void throw_system_error(const std::string& name, const char* what);

}  // namespace synergraph
