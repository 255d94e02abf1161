#pragma once

#include <cstddef>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The number of bytes that all names share at the beginning and at the end. If names differ in a
/// number, no digit of that number counts as shared. The shared beginning and the shared end do not
/// overlap in any name.
struct SharedEnds {
  std::size_t before = 0;
  std::size_t after = 0;
};

SharedEnds shared_ends(const std::vector<std::string>& names);

/// Returns the printable names, each cut to at most `columns` columns. Different names stay
/// different. If two cut names would be equal, the cut removes text on which the names agree. If
/// that does not help, a counter is added ("lay…ight~2").
std::vector<std::string> shorten_names(const std::vector<std::string>& names, std::size_t columns);

}  // namespace synergraph
#pragma GCC visibility pop
