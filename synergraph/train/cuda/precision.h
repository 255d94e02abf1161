#pragma once

namespace synergraph::cuda {

/// How precisely the tensor cores multiply: with operands rounded to ten bits after the point, or
/// as the sum of three products of the operands' upper and lower halves. Sums are in float32.
enum class Precision { kTf32, kFloat32 };

}  // namespace synergraph::cuda
