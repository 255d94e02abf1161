#include "synergraph/io/system_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

/// Whether something else lies where the file should be, or nothing may be there: time changes
/// nothing.
bool lasts(int reason) {
  constexpr std::array kLasting = {EISDIR, ENOTDIR, ELOOP, EROFS, EPERM, ENAMETOOLONG};
  return std::find(kLasting.begin(), kLasting.end(), reason) != kLasting.end();
}

}  // namespace

std::string reason_text(int error) {
  if (error == ELOOP) return "the symbolic links lead in a circle";
  return std::generic_category().message(error);
}

void throw_system_error(const std::string& name, const char* what) {
  const int reason = errno;
  const std::string line = fmt::format("{}: {}: {}", name, what, reason_text(reason));
  if (lasts(reason)) throw InputError(line);
  throw FileError(line);
}

}  // namespace synergraph
