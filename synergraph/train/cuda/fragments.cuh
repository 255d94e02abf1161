#pragma once

#include <type_traits>

#include "synergraph/train/cuda/layout.h"
#include "synergraph/train/cuda/primitives.cuh"
#include "synergraph/train/precision.h"

// The pieces that the training kernels are made of: how 64 features of all positions lie in
// shared memory, how tensor-core operands are read from there without bank conflicts, and how
// products of 16 rows with all positions are accumulated in registers. Operands are rounded to
// TF32 when they are stored, so that products read them as they are.

namespace synergraph::cuda {

constexpr int kWarps = 4 * kParts;
constexpr int kThreads = 32 * kWarps;

/// The bits of x rounded to the nearest number with ten bits after the point.
__device__ __forceinline__ float rounded(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000U) & 0xFFFFE000U);
}

/// What is stored of an operand.
template <Precision kPrecision>
__device__ __forceinline__ float operand(float x) {
  return kPrecision == Precision::kTf32 ? rounded(x) : x;
}

/// The same where only tensor cores read it: they ignore the lower bits.
template <Precision kPrecision>
__device__ __forceinline__ float in_register(float x) {
  return kPrecision == Precision::kTf32 ? __uint_as_float(__float_as_uint(x) + 0x1000U) : x;
}

__device__ __forceinline__ std::uint32_t upper(float x) {
  return __float_as_uint(rounded(x));
}
__device__ __forceinline__ std::uint32_t lower(float x) {
  return __float_as_uint(x - rounded(x));
}

/// c += a b of operands.
template <Precision kPrecision>
__device__ __forceinline__ void product(float (&c)[4], const float (&a)[4], float b0, float b1) {
  if constexpr (kPrecision == Precision::kTf32) {
    const std::uint32_t bits[4] = {__float_as_uint(a[0]), __float_as_uint(a[1]),
                                   __float_as_uint(a[2]), __float_as_uint(a[3])};
    multiply_add(c, bits, __float_as_uint(b0), __float_as_uint(b1));
  } else {
    const std::uint32_t high[4] = {upper(a[0]), upper(a[1]), upper(a[2]), upper(a[3])};
    const std::uint32_t low[4] = {lower(a[0]), lower(a[1]), lower(a[2]), lower(a[3])};
    multiply_add(c, low, upper(b0), upper(b1));
    multiply_add(c, high, lower(b0), lower(b1));
    multiply_add(c, high, upper(b0), upper(b1));
  }
}
template <Precision kPrecision>
__device__ __forceinline__ void product(float (&c)[4], const float (&a)[2], float b) {
  if constexpr (kPrecision == Precision::kTf32) {
    const std::uint32_t bits[2] = {__float_as_uint(a[0]), __float_as_uint(a[1])};
    multiply_add(c, bits, __float_as_uint(b));
  } else {
    const std::uint32_t high[2] = {upper(a[0]), upper(a[1])};
    const std::uint32_t low[2] = {lower(a[0]), lower(a[1])};
    multiply_add(c, low, upper(b));
    multiply_add(c, high, lower(b));
    multiply_add(c, high, upper(b));
  }
}

// A unit holds 64 features of all positions, in two panels of 32. In its panel feature f of
// position p is at 32 p + (f ^ 4 (p % 8)): 8 positions x 4 features, and the 4 even (or odd)
// positions of a tile x 8 features, lie in 32 different banks.
__device__ __forceinline__ int at(int position, int feature) {
  static_assert(kPanelWidth == 32);
  return (feature >> 5) * kPanel + position * kPanelWidth +
         ((feature & 31) ^ ((position & 7) << 2));
}
constexpr unsigned kPanelBytes = 4 * kPanel;
constexpr unsigned kTileBytes = 4 * 8 * kPanelWidth;  ///< of eight positions in a panel

extern __shared__ __align__(1024) float shared_memory[];

/// The units are where shared memory begins.
__device__ __forceinline__ float* unit(int index) {
  return shared_memory + index * kUnit;
}

/// The features of a tile of eight are taken in this order where they are columns, so that thread
/// 4g+t holds features t and t+4 of a product, as it does of a first operand. Positions are taken
/// as they come: it holds 2t and 2t+1, and where these are summed over, that is the order in which
/// both operands have them.
__device__ __forceinline__ int column(int n) {
  return (n >> 1) | ((n & 1) << 2);
}

/// A thread's place. Products with all positions as columns are shared out as four groups of rows
/// times the parts of the positions.
struct Place {
  int warp, lane;
  int g, t;   ///< lane = 4g + t
  int group;  ///< of rows
  int part;   ///< of positions
  int first;  ///< tile of the part

  __device__ __forceinline__ Place() : Place(thread_again()) {}
  __device__ __forceinline__ explicit Place(int thread)
      : warp(thread >> 5),
        lane(thread & 31),
        g(lane >> 2),
        t(lane & 3),
        group(warp & 3),
        part(warp >> 2),
        first(part * (kPartTiles - 1) + (part > 0 ? 1 : 0)) {}

  /// Its positions of a tile: e is 0 or 1.
  __device__ __forceinline__ int position(int tile, int e) const { return 8 * tile + 2 * t + e; }

  /// Tile j of the part. Where there is none it is the one before, so that what is read is defined.
  __device__ __forceinline__ int tile(int j) const {
    return first + j - (j == kPartTiles - 1 && part > 0 ? 1 : 0);
  }
};

/// What a thread holds of a product of 16 rows with its part of the positions: (row g, position
/// 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1) of each tile.
using Fragments = float[kPartTiles][4];

/// Calls body(tile of the part, tile) for every tile of the thread's part.
template <class Body>
__device__ __forceinline__ void for_tiles(const Place& at_place, const Body& body) {
#pragma unroll
  for (int j = 0; j < kPartTiles; ++j)
    if (j < kPartTiles - 1 || at_place.part == 0) body(j, at_place.first + j);
}

/// Reads eight positions x eight features of a unit as second operands, two tiles at a time. Parts
/// that have a tile less read their last one twice, so that nothing branches.
struct ColumnReader {
  Address start;  ///< of the first tile
  unsigned last;  ///< from there to the last tile

  __device__ __forceinline__ ColumnReader(const Place& place, const float* from, int first_tile) {
    const int position = 8 * (first_tile + (place.lane >> 4)) + (place.lane & 7);
    start =
        address_of(from) + 4U * static_cast<unsigned>(at(position, 4 * ((place.lane >> 3) & 1)));
    last = kTileBytes * static_cast<unsigned>(place.tile(kPartTiles - 1) - place.first);
  }
  /// Operands of tiles `tile` and `tile` + 1: (t, g) and (t+4, g) of each.
  static __device__ __forceinline__ void load(std::uint32_t (&b)[4], Address from, int tile) {
    load_matrices(b, from + kTileBytes * static_cast<unsigned>(tile));
  }
};

/// First operands on their way from memory: the next tiles of a row of tiles.
constexpr int kAhead = 4;
struct Ahead {
  float4 tile[kAhead];

  __device__ __forceinline__ void load(const float* tiles, int lane) {
    const auto* from = reinterpret_cast<const float4*>(tiles) + lane;
#pragma unroll
    for (int k = 0; k < kAhead; ++k) tile[k] = __ldg(from + 32 * k);
  }
};

/// The units of products over several of them: unit 2 is left out where kSkip says so.
template <bool kSkip>
__device__ __forceinline__ constexpr unsigned unit_bytes(int index) {
  return 4U * static_cast<unsigned>((kSkip && index > 1 ? index + 1 : index) * kUnit);
}

/// c += A B with 16 rows of A (kSteps tiles in a row from `tiles` on, the first of them in
/// `ahead`) and B the units from `unit` on. Then `ahead` has the first tiles from `next` on.
template <int kSteps, Precision kPrecision, bool kSkip = false>
__device__ __forceinline__ void multiply(const Place& place, Ahead& ahead, const float* tiles,
                                         const float* unit, Fragments& c,
                                         const float* next = nullptr) {
  static_assert(kSteps % kAhead == 0);
  constexpr int kLast = kPartTiles - 1;
  const ColumnReader reader(place, unit, place.first);
#pragma unroll 2
  for (int block = 0; block < kSteps / kAhead; ++block) {
    const Ahead now = ahead;
    if (block + 1 < kSteps / kAhead) ahead.load(tiles + 128 * kAhead * (block + 1), place.lane);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const int step = kAhead * block + k;
      // 32 features further is the next panel.
      const Address start = flipped(reader.start, 32U * static_cast<unsigned>(step & 3)) +
                            kPanelBytes * static_cast<unsigned>((step >> 2) & 1) +
                            unit_bytes<kSkip>(step >> 3);
      const float a[4] = {now.tile[k].x, now.tile[k].y, now.tile[k].z, now.tile[k].w};
#pragma unroll
      for (int j = 0; j + 1 < kLast; j += 2) {
        std::uint32_t b[4];
        ColumnReader::load(b, start, j);
        product<kPrecision>(c[j], a, __uint_as_float(b[0]), __uint_as_float(b[1]));
        product<kPrecision>(c[j + 1], a, __uint_as_float(b[2]), __uint_as_float(b[3]));
      }
      std::uint32_t b[2];
      load_matrices(b, start + reader.last);
      product<kPrecision>(c[kLast], a, __uint_as_float(b[0]), __uint_as_float(b[1]));
    }
  }
  if (next != nullptr) ahead.load(next, place.lane);
}

/// Sets the rows of c to the rows' biases.
__device__ __forceinline__ void start_with(Fragments& c, float bias0, float bias1) {
#pragma unroll
  for (int j = 0; j < kPartTiles; ++j) {
    c[j][0] = c[j][1] = bias0;
    c[j][2] = c[j][3] = bias1;
  }
}

/// Stores rows first_row + g and + 8 (features of the unit) as operands.
template <Precision kPrecision>
__device__ __forceinline__ void store(const Place& place, const Fragments& c, int first_row,
                                      float* unit) {
  const int f0 = first_row + place.g;
  for_tiles(place, [&](int j, int tile) {
    const int p0 = place.position(tile, 0);
    unit[at(p0, f0)] = operand<kPrecision>(c[j][0]);
    unit[at(p0 + 1, f0)] = operand<kPrecision>(c[j][1]);
    unit[at(p0, f0 + 8)] = operand<kPrecision>(c[j][2]);
    unit[at(p0 + 1, f0 + 8)] = operand<kPrecision>(c[j][3]);
  });
}

/// The same where nothing but products reads it.
template <Precision kPrecision>
__device__ __forceinline__ void store_for_products(const Place& place, const Fragments& c,
                                                   int first_row, float* unit) {
  const int f0 = first_row + place.g;
  for_tiles(place, [&](int j, int tile) {
    const int p0 = place.position(tile, 0);
    unit[at(p0, f0)] = in_register<kPrecision>(c[j][0]);
    unit[at(p0 + 1, f0)] = in_register<kPrecision>(c[j][1]);
    unit[at(p0, f0 + 8)] = in_register<kPrecision>(c[j][2]);
    unit[at(p0 + 1, f0 + 8)] = in_register<kPrecision>(c[j][3]);
  });
}

/// Fragments of 64 rows to memory and back: (tiles x groups x threads x 4).
__device__ __forceinline__ void keep(const Place& place, const Fragments& c, float* memory) {
  auto* to = reinterpret_cast<float4*>(memory);
  for_tiles(place, [&](int j, int tile) {
    __stcg(to + (tile * 4 + place.group) * 32 + place.lane,
           make_float4(c[j][0], c[j][1], c[j][2], c[j][3]));
  });
}
__device__ __forceinline__ void fetch(const Place& place, Fragments& c, const float* memory) {
  const auto* from = reinterpret_cast<const float4*>(memory);
#pragma unroll
  for (int j = 0; j < kPartTiles; ++j) {
    const float4 value = __ldcg(from + (place.tile(j) * 4 + place.group) * 32 + place.lane);
    c[j][0] = value.x;
    c[j][1] = value.y;
    c[j][2] = value.z;
    c[j][3] = value.w;
  }
}

/// The same to where a unit has the part's positions, for the thread itself. All warps of the part
/// are done with these before (part_barrier).
__device__ __forceinline__ float4* own_place(const Place& place, float* unit) {
  return reinterpret_cast<float4*>(unit + place.group / 2 * kPanel) + 32 * (place.group % 2) +
         64 * place.first + place.lane;
}
__device__ __forceinline__ void put_aside(const Place& place, const Fragments& c, float* unit) {
  float4* to = own_place(place, unit);
  for_tiles(place,
            [&](int j, int) { to[64 * j] = make_float4(c[j][0], c[j][1], c[j][2], c[j][3]); });
}
/// c += what was put aside.
__device__ __forceinline__ void add_again(const Place& place, Fragments& c, float* unit) {
  const float4* from = own_place(place, unit);
  for_tiles(place, [&](int j, int) {
    const float4 value = from[64 * j];
    c[j][0] += value.x;
    c[j][1] += value.y;
    c[j][2] += value.z;
    c[j][3] += value.w;
  });
}

/// Asks for `bytes` of global memory, which will be read soon.
__device__ __forceinline__ void prefetch(const void* from, int bytes) {
#pragma unroll 1
  for (int k = 128 * thread_again(); k < bytes; k += 128 * kThreads)
    prefetch_line(static_cast<const char*>(from) + k);
}

/// Copies `count` floats from shared to global memory with all threads; count is a multiple of 4.
__device__ __forceinline__ void copy(const float* from, float* to, int count) {
  const auto* source = reinterpret_cast<const float4*>(from);
  auto* target = reinterpret_cast<float4*>(to);
#pragma unroll 4
  for (int k = thread_again(); k < count / 4; k += kThreads) __stcg(target + k, source[k]);
}

/// The same by the warps of a part, of its positions in a unit.
__device__ __forceinline__ void copy_part(const Place& place, const float* unit, float* to) {
  const int tiles = kPartTiles - (place.part > 0 ? 1 : 0);
  const int thread = thread_again() & 127;
  const int start = (thread / 64 * kPanel + 8 * place.first * kPanelWidth) / 4 + thread % 64;
  const auto* source = reinterpret_cast<const float4*>(unit) + start;
  auto* target = reinterpret_cast<float4*>(to) + start;
  for (int tile = 0; tile < tiles; ++tile) __stcg(target + 64 * tile, source[64 * tile]);
}

/// The same to shared memory, begun only: arrived() and a barrier are to follow.
__device__ __forceinline__ void begin_copy(const float* from, float* to, int count) {
  const Address target = address_of(to);
#pragma unroll 4
  for (int k = 4 * thread_again(); k < count; k += 4 * kThreads)
    begin_copy(target + 4U * static_cast<unsigned>(k), from + k);
}

/// Sums over the thread's positions and the threads with the same rows, of rows g and g+8.
__device__ __forceinline__ void sum_of_rows(const Place& place, const Fragments& c, float& sum0,
                                            float& sum1) {
  constexpr int kLast = kPartTiles - 1;
  sum0 = place.part == 0 ? c[kLast][0] + c[kLast][1] : 0.0F;
  sum1 = place.part == 0 ? c[kLast][2] + c[kLast][3] : 0.0F;
#pragma unroll
  for (int j = 0; j < kLast; ++j) {
    sum0 += c[j][0] + c[j][1];
    sum1 += c[j][2] + c[j][3];
  }
#pragma unroll
  for (int step = 1; step < 4; step *= 2) {
    sum0 += __shfl_xor_sync(0xFFFFFFFFU, sum0, step);
    sum1 += __shfl_xor_sync(0xFFFFFFFFU, sum1, step);
  }
}

/// Puts the sums of rows first_row + g and + 8 over the thread's part of the positions into
/// sums[part * kSumRows + row]; add_parts then writes the whole sums.
constexpr int kSumRows = 64 * 3;
__device__ __forceinline__ void leave_sums(const Place& place, const Fragments& c, int first_row,
                                           float* sums) {
  float sum0, sum1;
  sum_of_rows(place, c, sum0, sum1);
  if (place.t == 0) {
    sums[place.part * kSumRows + first_row + place.g] = sum0;
    sums[place.part * kSumRows + first_row + place.g + 8] = sum1;
  }
}
__device__ __forceinline__ void add_parts(const float* sums, int rows, float* to) {
  const int row = thread_again();
  if (row >= rows) return;
  float sum = sums[row];
#pragma unroll
  for (int part = 1; part < kParts; ++part) sum += sums[part * kSumRows + row];
  __stcs(to + row, sum);
}

/// Writes the gradient dy^T x of a matrix, summed over the positions, in tiles. `dy` and `x` are
/// units; the matrix has kIn columns. Each warp does kRows x kCols tiles: rows first_row + m kStep
/// of tiles, and columns from first_col on, a multiple of kCols. kUnroll tiles of positions are
/// unrolled: kernels that are long already are faster with less.
template <int kRows, int kStep, int kCols, int kIn, Precision kPrecision, int kUnroll,
          bool kSkip = false>
__device__ __forceinline__ void weight_gradient(const Place& place, const float* dy, int first_row,
                                                const float* x, int first_col, float* gradient) {
  static_assert(kRows == 1 || kStep == 4 || (kStep == 1 && kRows == 2));
  float c[kRows][kCols][4] = {};
  const int row = 2 * first_row;  // in eights
  Address a_start[2];
  Address b_start[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int p = place.position(0, half);
    a_start[half] = address_of(dy) +
                    4U * static_cast<unsigned>((row >> 3) * kUnit + at(p, 8 * (row & 7) + place.g));
    b_start[half] =
        address_of(x) + 4U * static_cast<unsigned>((first_col >> 3) * kUnit +
                                                   at(p, 8 * (first_col & 7) + column(place.g)));
  }
#pragma unroll kUnroll
  for (int k = 0; k < kTiles; ++k) {
    const unsigned tile = kTileBytes * static_cast<unsigned>(k);
    float b[kCols][2];
#pragma unroll
    for (int n = 0; n < kCols; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        b[n][half] = load_float(flipped(b_start[half], 32U * static_cast<unsigned>(n)) + tile);
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
      const unsigned flip = kStep == 1 ? 64U * static_cast<unsigned>(m) : 0U;
      const unsigned offset = tile + (kStep == 4 ? unit_bytes<kSkip>(m) : 0U);
      const float a[4] = {load_float(flipped(a_start[0], flip) + offset),
                          load_float(flipped(a_start[0], flip | 32U) + offset),
                          load_float(flipped(a_start[1], flip) + offset),
                          load_float(flipped(a_start[1], flip | 32U) + offset)};
#pragma unroll
      for (int n = 0; n < kCols; ++n) product<kPrecision>(c[m][n], a, b[n][0], b[n][1]);
    }
  }
  auto* to = reinterpret_cast<float4*>(gradient);
#pragma unroll
  for (int m = 0; m < kRows; ++m)
#pragma unroll
    for (int n = 0; n < kCols; ++n)
      __stcs(to + ((first_row + m * kStep) * (kIn / 8) + first_col + n) * 32 + place.lane,
             make_float4(c[m][n][0], c[m][n][2], c[m][n][1], c[m][n][3]));
}

}  // namespace synergraph::cuda
