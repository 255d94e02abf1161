#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// Returns the instruction set that the numerical kernels use on this CPU, e.g. "x86-64-v3". The
/// environment variable SYNERGRAPH_ISA (v2, v3 or v4) selects another instruction set. UsageError
/// if the selected set is unknown or the CPU does not support the set. Results from different
/// instruction sets differ in their last digits.
std::string instruction_set();

}  // namespace synergraph
#pragma GCC visibility pop
