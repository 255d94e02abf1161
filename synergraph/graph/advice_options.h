#pragma once

#include <string>

namespace synergraph {

/// The caller's wording for the advice in error messages.
struct AdviceOptions {
  std::string swap = "give --axes with key before query";  ///< swaps query and key
  std::string lengths = "--lengths 5,8";                   ///< excludes padding on the right
  std::string left = " --padding left";  ///< follows `lengths` for padding on the left
};

}  // namespace synergraph
