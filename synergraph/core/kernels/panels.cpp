#include "synergraph/core/kernels/simd.h"

// Products of a matrix and a panel, and exponentials. A tile keeps some rows of the result in
// registers, several registers of steps each, while all rows of the other panel go by: one
// broadcast of a factor serves all steps. Fused multiply-adds limit panels that fit in cache.
// Sums run in the order of the rows, whatever the tile.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

constexpr int kPanelTileRows = 4;
constexpr int kTileRegisters = kDoubles == 8 ? 4 : 2;

template <int kRows, int kRegisters>
[[gnu::always_inline]] inline void add_tile(const PanelProduct& product, int o, int s) {
  double* out[kRows];
  const double* factor[kRows];
  Doubles sums[kRows][kRegisters];
  for (int r = 0; r < kRows; ++r) {
    out[r] = product.out + (o + r) * product.out_pitch + s;
    factor[r] = product.factors + (o + r) * product.step_out;
    for (int v = 0; v < kRegisters; ++v) sums[r][v] = load<Doubles>(out[r] + v * kDoubles);
  }
  const double* in = product.in + s;
  for (int k = 0; k < product.ins; ++k, in += product.in_pitch) {
    Doubles x[kRegisters];
    for (int v = 0; v < kRegisters; ++v) {
      x[v] = load<Doubles>(in + v * kDoubles);
      pin(x[v]);
    }
    for (int r = 0; r < kRows; ++r) {
      const auto f = splat<Doubles>(factor[r][k * product.step_in]);
      for (int v = 0; v < kRegisters; ++v) sums[r][v] += f * x[v];
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kRegisters; ++v) store(out[r] + v * kDoubles, sums[r][v]);
}

template <int kRegisters>
[[gnu::always_inline]] inline void add_columns(const PanelProduct& product, int s) {
  int o = 0;
  for (; o + kPanelTileRows <= product.outs; o += kPanelTileRows)
    add_tile<kPanelTileRows, kRegisters>(product, o, s);
  for (; o < product.outs; ++o) add_tile<1, kRegisters>(product, o, s);
}

/// e^x for -708 <= x <= 0, within an ulp or two; 0 below.
[[gnu::always_inline]] inline Doubles exponential(Doubles x) {
  using Bits = Vector<std::int64_t, kDoubles>;
  const auto shift = splat<Doubles>(0x1.8p52);  // adding it rounds to an integer
  const auto least = splat<Doubles>(-708.0);
  const Bits zero = x < least;
  x = x < least ? least : x;
  const Doubles shifted = x * splat<Doubles>(1.44269504088896340736) + shift;
  const Doubles whole = shifted - shift;
  const Doubles f = (x - whole * splat<Doubles>(0x1.62e42fefa38p-1)) -
                    whole * splat<Doubles>(0x1.ef35793c7673p-45);
  // Taylor's polynomial: |f| <= ln(2) / 2, so that the next term is below 2^-57.
  constexpr double kTerms[] = {1.0 / 479001600,
                               1.0 / 39916800,
                               1.0 / 3628800,
                               1.0 / 362880,
                               1.0 / 40320,
                               1.0 / 5040,
                               1.0 / 720,
                               1.0 / 120,
                               1.0 / 24,
                               1.0 / 6,
                               0.5,
                               1.0,
                               1.0};
  auto p = splat<Doubles>(1.0 / 6227020800.0);
  for (const double term : kTerms) p = p * f + splat<Doubles>(term);
  const Bits power = reinterpret_cast<Bits>(p) + (reinterpret_cast<Bits>(shifted) << 52);
  return reinterpret_cast<Doubles>(power & ~zero);
}

}  // namespace

void add_panel_products(const PanelProduct& product) {
  int s = 0;
  for (; s + kTileRegisters * kDoubles <= product.count; s += kTileRegisters * kDoubles)
    add_columns<kTileRegisters>(product, s);
  for (; s + kDoubles <= product.count; s += kDoubles) add_columns<1>(product, s);
  for (; s < product.count; ++s)
    for (int o = 0; o < product.outs; ++o) {
      double sum = product.out[o * product.out_pitch + s];
      for (int k = 0; k < product.ins; ++k)
        sum += product.factors[o * product.step_out + k * product.step_in] *
               product.in[k * product.in_pitch + s];
      product.out[o * product.out_pitch + s] = sum;
    }
}

double exponentials(double* row, int count, double shift) {
  Doubles sums{};
  const auto offset = splat<Doubles>(shift);
  int k = 0;
  for (; k + kDoubles <= count; k += kDoubles) {
    const Doubles e = exponential(load<Doubles>(row + k) - offset);
    store(row + k, e);
    sums += e;
  }
  double tail = 0.0;
  if (k < count) {
    Doubles rest = splat<Doubles>(-1000.0);
    for (int r = 0; k + r < count; ++r) rest[r] = row[k + r] - shift;
    rest = exponential(rest);
    for (int r = 0; k + r < count; ++r) {
      row[k + r] = rest[r];
      tail += rest[r];
    }
  }
  return sum(sums) + tail;
}

}  // namespace synergraph::SYNERGRAPH_ISA
