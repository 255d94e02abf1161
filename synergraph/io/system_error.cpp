#include "synergraph/io/system_error.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

#include "synergraph/core/error.h"

namespace synergraph {

void throw_system_error(const std::string& name, const char* what) {
  throw FileError(fmt::format("{}: {}: {}", name, what, std::generic_category().message(errno)));
}

}  // namespace synergraph
