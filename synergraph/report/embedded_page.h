#pragma once

#include <string_view>

namespace synergraph {

/// The interactive page without data: docs/index.html, as it was when this was compiled.
std::string_view embedded_page();

/// Where data stand in it: each of these is there once.
inline constexpr std::string_view kPageData =
    R"(<script type="application/json" id="synergraph-data">null</script>)";
inline constexpr std::string_view kPageArrays =
    R"(<script type="application/octet-stream" id="synergraph-arrays"></script>)";

}  // namespace synergraph
