#pragma once

#include <string>

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

/// The system's words for an error, or ours where its own say little.
std::string reason_text(int error);

/// Throws "NAME: WHAT: REASON" with the system's reason, errno: a FileError where it may pass, else
/// an InputError.
[[noreturn]] void throw_system_error(const std::string& name, const char* what);

}  // namespace synergraph
#pragma GCC visibility pop
