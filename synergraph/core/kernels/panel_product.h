#pragma once

#include <cstddef>

namespace synergraph {

/// out(o, s) += sum over k of factor(o, k) in(k, s) for 0 <= s < count. Rows of `in` and `out` are
/// in_pitch and out_pitch numbers apart; factor(o, k) is factors[o * step_out + k * step_in], so
/// that the matrix may be read along its rows or along its columns. Rows of `in` must not be rows
/// of `out`.
struct PanelProduct {
  const double* factors = nullptr;
  std::ptrdiff_t step_out = 0;
  std::ptrdiff_t step_in = 0;
  int outs = 0;
  int ins = 0;
  const double* in = nullptr;
  std::ptrdiff_t in_pitch = 0;
  double* out = nullptr;
  std::ptrdiff_t out_pitch = 0;
  int count = 0;
};

}  // namespace synergraph
