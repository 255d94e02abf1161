#include "synergraph/core/kernels/simd.h"

namespace synergraph::SYNERGRAPH_ISA {

#define SYNERGRAPH_TEXT(text) #text
#define SYNERGRAPH_NAME(isa) SYNERGRAPH_TEXT(isa)
#define SYNERGRAPH_ENTRY(name) .name = name,  // NOLINT(bugprone-macro-parentheses): a member

#if defined(__wasm__)  // in a page there are no models
#undef SYNERGRAPH_KERNELS
#define SYNERGRAPH_KERNELS SYNERGRAPH_METRIC_KERNELS
#endif

extern const Kernels kTable;  // NOLINT(readability-redundant-declaration): const is internal else
const Kernels kTable = {.isa = SYNERGRAPH_NAME(SYNERGRAPH_ISA),
                        .doubles = kDoubles,
                        SYNERGRAPH_KERNELS(SYNERGRAPH_ENTRY)};

}  // namespace synergraph::SYNERGRAPH_ISA
