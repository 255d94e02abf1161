#include "synergraph/core/kernels/simd.h"

// Many steps of x_{t+1} = U x_t, U upper triangular. The steps of a panel are the lanes of the
// vector registers: an entry of U is broadcast once and used for the whole panel. Nodes are
// finished from the last to the first, so every entry of U is read once a panel instead of once
// a step. Inside a node the steps form a linear recurrence with factor U(j, j), which is solved
// in all lanes at once and then corrected from lane to lane. Fused multiply-adds limit matrices
// that fit in cache; the recurrence limits very small ones.

namespace synergraph::SYNERGRAPH_ISA {
namespace {

// Rows worked on together: as many accumulators as the register file holds beside the operands.
constexpr int kRows = kDoubles == 8 ? 4 : 2;
// Of one register each, more are needed to hide the latency of the additions.
template <int kVectors>
constexpr int kRowsOf = kVectors == 1 ? 2 * kRows : kRows;

/// sums[r] += sum over i in [first, last) of rows[r][i] * x_t[i], for kVectors registers of steps
/// t.
template <int kCount, int kVectors>
inline void accumulate(Doubles (*sums)[kVectors], const double* const* rows, const double* states,
                       int pitch, int first, int last) {
  // Downwards: the rows just finished, still on their way to memory, come last.
  for (int i = last - 1; i >= first; --i) {
    const double* state = states + static_cast<std::ptrdiff_t>(i) * pitch;
    Doubles factor[kCount];
    for (int r = 0; r < kCount; ++r) factor[r] = splat<Doubles>(rows[r][i]);
    for (int v = 0; v < kVectors; ++v) {
      Doubles x = load<Doubles>(state + v * kDoubles);
      pin(x);
      for (int r = 0; r < kCount; ++r) sums[r][v] += factor[r] * x;
    }
  }
}

/// y_{k+1} = stay * y_k + inflow_k along one node's panel. Every lane is a run of consecutive
/// steps: all runs are solved side by side as if they began at zero, then their true beginnings are
/// carried from lane to lane. `panel` comes in as the inflow and goes out as y_0, y_1, ...; `y` is
/// the state before the panel and becomes the state after it.
template <int kVectors>
inline void recur(double stay, double& y, Doubles* panel) {
  for (int v = 1; v < kVectors; ++v) panel[v] += stay * panel[v - 1];
  double across = stay;  // stay^kVectors
  for (int v = 1; v < kVectors; ++v) across *= stay;
  Doubles begin;
  double carry = y;
  for (int lane = 0; lane < kDoubles; ++lane) {
    begin[lane] = carry;
    carry = across * carry + panel[kVectors - 1][lane];
  }
  y = carry;
  // panel[v] is the state after step v of each run, its beginning left out: it belongs one later.
  Doubles before = begin;
  Doubles decayed = begin;
  for (int v = 0; v < kVectors; ++v) {
    decayed *= stay;
    const Doubles after = panel[v] + decayed;
    panel[v] = before;
    before = after;
  }
}

/// What multiplies a row beside the matrix itself: see advance_scaled().
struct Factors {
  static constexpr bool kScale = true;
  const double* scale;
  const double* stay;
};
struct NoFactors {
  static constexpr bool kScale = false;
};

/// kCount rows, the last of which is `last - 1`. Rows [last, high) are finished and added here;
/// what comes from rows beyond `high` is in `inflow`, kVectors registers a row, if there are any.
template <int kCount, int kVectors, class RowFactors>
inline void advance_rows(ConstMatrixView upper, RowFactors factors, double* states, int pitch,
                         int last, int high, const double* inflow) {
  const int begin = last - kCount;
  const double* rows[kCount];
  for (int r = 0; r < kCount; ++r) rows[r] = upper.row(begin + r);
  Doubles panel[kCount][kVectors];
  for (int r = 0; r < kCount; ++r)
    for (int v = 0; v < kVectors; ++v)
      panel[r][v] =
          inflow == nullptr ? Doubles{} : load<Doubles>(inflow + (r * kVectors + v) * kDoubles);
  accumulate<kCount, kVectors>(panel, rows, states, pitch, last, high);
#pragma GCC unroll 8
  for (int r = kCount - 1; r >= 0; --r) {
#pragma GCC unroll 8
    for (int above = kCount - 1; above > r; --above) {
      const Doubles factor = splat<Doubles>(rows[r][begin + above]);
      for (int v = 0; v < kVectors; ++v) panel[r][v] += factor * panel[above][v];
    }
    double* state = states + static_cast<std::ptrdiff_t>(begin + r) * pitch;
    double& y = state[kPanelRegisters * kDoubles];
    if constexpr (RowFactors::kScale) {
      for (int v = 0; v < kVectors; ++v) panel[r][v] *= factors.scale[begin + r];
      recur<kVectors>(factors.stay[begin + r], y, panel[r]);
    } else {
      recur<kVectors>(rows[r][begin + r], y, panel[r]);
    }
    for (int v = 0; v < kVectors; ++v) store(state + v * kDoubles, panel[r][v]);
  }
}

/// inflow of rows [low, high) from all rows beyond `high`, a chunk of them at a time, so that the
/// chunk's states stay in the first-level cache while all rows of the block use them.
template <int kVectors>
void collect_inflow(ConstMatrixView upper, const double* states, int pitch, int low, int high,
                    int active, double* inflow) {
  constexpr int kChunk = 96;
  fill(inflow, inflow + static_cast<std::ptrdiff_t>(high - low) * kVectors * kDoubles, 0.0);
  for (int first = high; first < active; first += kChunk) {
    const int end = smaller(active, first + kChunk);
    const auto add = [&]<int kCount>(int begin) {
      const double* rows[kCount];
      for (int r = 0; r < kCount; ++r) rows[r] = upper.row(begin + r);
      double* sums = inflow + static_cast<std::ptrdiff_t>(begin - low) * kVectors * kDoubles;
      Doubles panel[kCount][kVectors];
      for (int r = 0; r < kCount; ++r)
        for (int v = 0; v < kVectors; ++v)
          panel[r][v] = load<Doubles>(sums + (r * kVectors + v) * kDoubles);
      accumulate<kCount, kVectors>(panel, rows, states, pitch, first, end);
      for (int r = 0; r < kCount; ++r)
        for (int v = 0; v < kVectors; ++v) store(sums + (r * kVectors + v) * kDoubles, panel[r][v]);
    };
    int begin = low;
    for (; begin + kRows <= high; begin += kRows) add.template operator()<kRows>(begin);
    for (; begin < high; ++begin) add.template operator()<1>(begin);
  }
}

template <int kVectors, class RowFactors>
void advance_all(ConstMatrixView upper, RowFactors factors, double* states, int pitch, int active) {
  constexpr int kOneBlock = 160;  // up to here all states fit the first-level cache
  constexpr int kBlock = 64;
  alignas(64) double inflow[kBlock * kVectors * kDoubles];
  for (int high = active; high > 0;) {
    const int low = high <= kOneBlock && high == active ? 0 : larger(0, high - kBlock);
    const bool first = high == active;
    if (!first) collect_inflow<kVectors>(upper, states, pitch, low, high, active, inflow);
    const auto inflow_of = [&](int row) {
      return first ? nullptr
                   : inflow + static_cast<std::ptrdiff_t>(row - low) * kVectors * kDoubles;
    };
    int last = high;
    constexpr int kTogether = kRowsOf<kVectors>;
    for (; (last - low) % kTogether != 0; --last)  // the last rows alone: they are short
      advance_rows<1, kVectors>(upper, factors, states, pitch, last, high, inflow_of(last - 1));
    for (; last > low; last -= kTogether)
      advance_rows<kTogether, kVectors>(upper, factors, states, pitch, last, high,
                                        inflow_of(last - kTogether));
    high = low;
  }
}

template <class RowFactors>
void advance_any(ConstMatrixView upper, RowFactors factors, double* states, int pitch, int active,
                 int registers) {
  switch (registers) {
    case 1:
      return advance_all<1>(upper, factors, states, pitch, active);
    case 2:
      return advance_all<2>(upper, factors, states, pitch, active);
    case 3:
      return advance_all<3>(upper, factors, states, pitch, active);
    case 4:
      return advance_all<4>(upper, factors, states, pitch, active);
    default:
      static_assert(kPanelRegisters == 5);
      return advance_all<kPanelRegisters>(upper, factors, states, pitch, active);
  }
}

}  // namespace

void advance(ConstMatrixView upper, double* states, int pitch, int active, int registers) {
  advance_any(upper, NoFactors{}, states, pitch, active, registers);
}

void advance_scaled(ConstMatrixView upper, const double* scale, const double* stay, double* states,
                    int pitch, int active, int registers) {
  advance_any(upper, Factors{scale, stay}, states, pitch, active, registers);
}

void raise_to_rows(const double* from, int pitch, int rows, int count, double* into) {
  for (int j = 0; j < rows; ++j)
    into[j] = largest(from + static_cast<std::ptrdiff_t>(j) * pitch, count, into[j]);
}

double total_of_rows(const double* from, int pitch, int rows, int count) {
  Doubles sums[2] = {};
  double tail = 0.0;
  for (int j = 0; j < rows; ++j, from += pitch) {
    int k = 0;
    for (; k + kDoubles <= count; k += kDoubles) sums[j % 2] += load<Doubles>(from + k);
    for (; k < count; ++k) tail += from[k];
  }
  return sum(sums[0] + sums[1]) + tail;
}

}  // namespace synergraph::SYNERGRAPH_ISA
