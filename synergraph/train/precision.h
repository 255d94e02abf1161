#pragma once

#pragma GCC visibility push(default)
namespace synergraph {

/// How precisely the tensor cores of a GPU multiply: with operands rounded to ten bits after the
/// point, or as the sum of three products of the operands' upper and lower halves, nearly as in
/// float32. Sums are in float32.
enum class Precision { kTf32, kFloat32 };

}  // namespace synergraph
#pragma GCC visibility pop
