#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace synergraph {

/// The instruction set that the numerical kernels use on this CPU, e.g. "x86-64-v3". The
/// environment's SYNERGRAPH_ISA (v2, v3 or v4) may ask for another one: UsageError if it is unknown
/// or the CPU does not have it. Results of different sets differ in their last digits.
std::string instruction_set();

}  // namespace synergraph
#pragma GCC visibility pop
