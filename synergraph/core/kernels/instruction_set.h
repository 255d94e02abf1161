#pragma once

#include <type_traits>

#include "synergraph/core/kernels/kernels.h"

/// The sources of the kernels are compiled once for each instruction set, with SYNERGRAPH_ISA
/// naming the namespace all of their code is in: v2, v3 and v4 for those levels of x86-64, simd128
/// for WebAssembly, `plain` elsewhere. A function of any other namespace that such a file held a
/// copy of, even std::min, could be the copy that the linker keeps for the whole program, and a CPU
/// that lacks its instructions would run into it. So kernels call nothing inline but their own; the
/// test kernels.symbols looks at what the files define.
namespace synergraph::SYNERGRAPH_ISA {

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define SYNERGRAPH_DECLARE(name) std::remove_pointer_t<decltype(Kernels::name)> name;
SYNERGRAPH_KERNELS(SYNERGRAPH_DECLARE)
#undef SYNERGRAPH_DECLARE

}  // namespace synergraph::SYNERGRAPH_ISA
