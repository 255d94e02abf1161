#pragma once

#include <string>

#pragma GCC visibility push(default)  // for other components
namespace synergraph {

/// The system's text for an error, or a clearer text of ours.
std::string reason_text(int error);

/// Throws "NAME: WHAT: REASON", where REASON is the system's reason for errno. Throws a FileError
/// if the error may be temporary, and otherwise an InputError.
[[noreturn]] void throw_system_error(const std::string& name, const char* what);

}  // namespace synergraph
#pragma GCC visibility pop
