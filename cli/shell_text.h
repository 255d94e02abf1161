#pragma once

#include <string>
#include <string_view>

namespace synergraph::cli {

/// One word of a command line, quoted where a shell would read it otherwise. What is not printable
/// is written out ($'\033'), as bash and zsh read it.
std::string shell_word(std::string_view text);

}  // namespace synergraph::cli
