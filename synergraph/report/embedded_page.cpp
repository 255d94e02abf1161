#include "synergraph/report/embedded_page.h"

#include <cstdint>

// The assembler reads the file: nothing is compiled, and no tool is needed but the compiler.
// SYNERGRAPH_PAGE is its path, set by ../CMakeLists.txt.
asm(R"(
.pushsection .rodata
.globl kSynergraphPage
.hidden kSynergraphPage
kSynergraphPage:
.incbin ")" SYNERGRAPH_PAGE R"("
.globl kSynergraphPageEnd
.hidden kSynergraphPageEnd
kSynergraphPageEnd:
.byte 0
.popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] extern const char kSynergraphPage[];
[[gnu::visibility("hidden")]] extern const char kSynergraphPageEnd[];
}

namespace synergraph {

std::string_view embedded_page() {
  const auto address = [](const char* at) { return reinterpret_cast<std::uintptr_t>(at); };
  return {static_cast<const char*>(kSynergraphPage),
          address(kSynergraphPageEnd) - address(kSynergraphPage)};
}

}  // namespace synergraph
