#pragma once

#include <cstddef>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// How many bytes all names share at their beginning and at their end. Digits of a number in which
/// they differ are not shared, and the two parts overlap in no name.
struct SharedEnds {
  std::size_t before = 0;
  std::size_t after = 0;
};

SharedEnds shared_ends(const std::vector<std::string>& names);

/// Printable names, each cut to so many columns. Different names stay different: those that would
/// become the same text are cut where they agree, or else counted ("lay…ight~2").
std::vector<std::string> shorten_names(const std::vector<std::string>& names, std::size_t columns);

}  // namespace synergraph
#pragma GCC visibility pop
