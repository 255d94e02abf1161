#pragma once

#include <string>

namespace synergraph {

/// How the caller spells what a message tells them to do.
struct AdviceOptions {
  std::string swap = "give --axes with key before query";  ///< swaps query and key
  std::string lengths = "--lengths 5,8";                   ///< leaves padding out, on the right
  std::string left = " --padding left";                    ///< after that, on the left
};

}  // namespace synergraph
