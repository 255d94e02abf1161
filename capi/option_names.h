#pragma once

#include <string>
#include <string_view>

namespace synergraph::capi {

/// Messages name options as the program has them, --row-tolerance; callers know row_tolerance.
std::string with_names_of_options(std::string_view text);

}  // namespace synergraph::capi
