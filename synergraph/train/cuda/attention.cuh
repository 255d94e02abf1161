#pragma once

#include "synergraph/train/cuda/fragments.cuh"

namespace synergraph::cuda {

/// Dropout of the attention weights of one sequence and layer.
struct AttentionDropout {
  const uint2* words;  ///< see Masks; null: none
  float scale;

  /// The words of tile (queries, keys) of a head; all ones where there is no dropout.
  __device__ __forceinline__ uint2 tile(int head, int queries, int keys) const {
    if (words == nullptr) return make_uint2(~0U, ~0U);
    const int row = min(queries, kTiles - 1);
    return words[head * kMaskTiles + row * (row + 1) / 2 + keys];
  }
};

/// Attention with heads of kHead features. A warp takes a block of sixteen queries (or keys) of a
/// head at a time: rows g and g+8 of a product are its own, the columns come in tiles of eight.
template <int kHead, Precision kPrecision>
struct Attention {
  static constexpr int kHeads = kWidth / kHead;
  static constexpr int kSteps = kHead < 8 ? 1 : kHead / 8;  ///< of products over a head's features
  static constexpr int kOut = kSteps;                       ///< tiles of a head's features
  static constexpr int kTasks = kHeads * kBlocks;
  static constexpr float kLog2E = 1.44269504088896341F;

  static __device__ __forceinline__ float root() { return sqrtf(static_cast<float>(kHead)); }

  /// A warp's block and this thread's place in it.
  struct Block {
    int head, first;  ///< first row: query or key
    int row0, row1;   ///< this thread's, within the unit

    __device__ Block(const Place& place, int head_index, int block)
        : head(head_index),
          first(16 * block),
          row0(min(first + place.g, kPositions - 1)),
          row1(min(first + place.g + 8, kPositions - 1)) {}
  };

  /// Adds to s[c] the products of the block's rows of `rows` with tiles first_tile + c of
  /// `columns`, over the head's features.
  template <int kCount>
  static __device__ __forceinline__ void scores(const Place& place, const Block& block,
                                                const float* rows, const float* columns,
                                                int first_tile, float (&s)[kCount][4]) {
    const int feature = block.head * kHead;
    if constexpr (kHead < 8) {
      const float a[2] = {rows[at(block.row0, feature + place.t)],
                          rows[at(block.row1, feature + place.t)]};
#pragma unroll
      for (int c = 0; c < kCount; ++c) {
        const int tile = min(first_tile + c, kTiles - 1);
        product<kPrecision>(s[c], a, columns[at(8 * tile + column(place.g), feature + place.t)]);
      }
    } else {
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        const int f = feature + 8 * k + place.t;
        const float a[4] = {rows[at(block.row0, f)], rows[at(block.row1, f)],
                            rows[at(block.row0, f + 4)], rows[at(block.row1, f + 4)]};
#pragma unroll
        for (int c = 0; c < kCount; ++c) {
          const int position = 8 * min(first_tile + c, kTiles - 1) + column(place.g);
          product<kPrecision>(s[c], a, columns[at(position, f)], columns[at(position, f + 4)]);
        }
      }
    }
  }

  /// out += w V for one tile: w (16 x 8) as a product left it, V the tile's eight positions of
  /// `unit`.
  static __device__ __forceinline__ void combine(const Place& place, const Block& block,
                                                 const float (&w)[4], const float* unit, int tile,
                                                 float (&out)[kOut][4]) {
    const float a[4] = {operand<kPrecision>(w[0]), operand<kPrecision>(w[2]),
                        operand<kPrecision>(w[1]), operand<kPrecision>(w[3])};
    const int p = 8 * min(tile, kTiles - 1) + place.t;
#pragma unroll
    for (int n = 0; n < kOut; ++n) {
      const int f = (block.head * kHead + 8 * n + column(place.g)) & (kWidth - 1);
      product<kPrecision>(out[n], a, unit[at(p, f)], unit[at(p + 4, f)]);
    }
  }

  /// Stores the block's rows of a head's features.
  static __device__ __forceinline__ void store_rows(const Place& place, const Block& block,
                                                    const float (&out)[kOut][4], float factor0,
                                                    float factor1, float* unit) {
#pragma unroll
    for (int n = 0; n < kOut; ++n) {
      const int f = block.head * kHead + 8 * n + place.t;
#pragma unroll
      for (int e = 0; e < (kHead < 8 ? 1 : 2); ++e) {
        if (block.first + place.g < kPositions)
          unit[at(block.row0, f + 4 * e)] = operand<kPrecision>(out[n][e] * factor0);
        if (block.first + place.g + 8 < kPositions)
          unit[at(block.row1, f + 4 * e)] = operand<kPrecision>(out[n][2 + e] * factor1);
      }
    }
  }

  /// The heads' outputs take the place of the queries. log_sums (heads x positions) gets the
  /// logarithms, base 2, of the sums of exponentials.
  static __device__ void forward(const Place& place, float* query, const float* key,
                                 const float* value, const AttentionDropout& dropout,
                                 float* log_sums) {
    constexpr int kAtOnce = 4;
    const float factor = kLog2E / root();
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const int index = kBlocks - 1 - task / kHeads;
      const Block block(place, task % kHeads, index);
      const int tiles = min(2 * index + 2, kTiles);
      const int query0 = block.first + place.g;
      float top[2] = {-3.0e38F, -3.0e38F};
      float sum[2] = {};
      float out[kOut][4] = {};
#pragma unroll 1
      for (int first = 0; first < tiles; first += kAtOnce) {
        float s[kAtOnce][4] = {};
        scores(place, block, query, key, first, s);
        float highest[2] = {top[0], top[1]};
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int position = 8 * (first + c) + place.t + 4 * (e & 1);
            s[c][e] = position <= query0 + 8 * (e >> 1) ? s[c][e] * factor : -3.0e38F;
            highest[e >> 1] = fmaxf(highest[e >> 1], s[c][e]);
          }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          highest[r] = fmaxf(highest[r], __shfl_xor_sync(0xFFFFFFFFU, highest[r], 1));
          highest[r] = fmaxf(highest[r], __shfl_xor_sync(0xFFFFFFFFU, highest[r], 2));
          const float shrink = exp2_of(top[r] - highest[r]);
          top[r] = highest[r];
          sum[r] *= shrink;
#pragma unroll
          for (int n = 0; n < kOut; ++n) {
            out[n][2 * r] *= shrink;
            out[n][2 * r + 1] *= shrink;
          }
        }
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c) {
          const uint2 kept0 = dropout.tile(block.head, 2 * index, first + c);
          const uint2 kept1 = dropout.tile(block.head, 2 * index + 1, first + c);
          const std::uint32_t bits[4] = {kept0.x, kept0.y, kept1.x, kept1.y};
          float w[4];
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const float weight = exp2_of(s[c][e] - top[e >> 1]);
            sum[e >> 1] += weight;
            w[e] = ((bits[e] >> place.lane) & 1U) != 0 ? weight : 0.0F;
          }
          combine(place, block, w, value, first + c, out);
        }
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        sum[r] += __shfl_xor_sync(0xFFFFFFFFU, sum[r], 1);
        sum[r] += __shfl_xor_sync(0xFFFFFFFFU, sum[r], 2);
        const int position = query0 + 8 * r;
        if (place.t == 0 && position < kPositions)
          log_sums[block.head * kPositions + position] = top[r] + log2f(sum[r]);
      }
      __syncwarp();
      store_rows(place, block, out, dropout.scale / sum[0], dropout.scale / sum[1], query);
    }
  }

  /// dots (heads x positions): the products of each head's output and its gradient.
  static __device__ void dots(const float* out, const float* dout, float* dots) {
    for (int k = static_cast<int>(threadIdx.x); k < kHeads * kPositions; k += kThreads) {
      const int head = k / kPositions;
      const int p = k % kPositions;
      float sum = 0.0F;
#pragma unroll
      for (int f = head * kHead; f < (head + 1) * kHead; f += 4) {
        const float4 a = *reinterpret_cast<const float4*>(out + at(p, f));
        const float4 b = *reinterpret_cast<const float4*>(dout + at(p, f));
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
      }
      dots[k] = sum;
    }
  }

  /// The gradient of the queries, in fragments.
  static __device__ void query_gradient(const Place& place, const float* query, const float* key,
                                        const float* value, const float* dout,
                                        const AttentionDropout& dropout, const float* log_sums,
                                        const float* dots, float* dquery) {
    constexpr int kAtOnce = 2;
    const float factor = kLog2E / root();
    const float inverse_root = 1.0F / root();
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const int index = kBlocks - 1 - task / kHeads;
      const Block block(place, task % kHeads, index);
      const int tiles = min(2 * index + 2, kTiles);
      const int query0 = block.first + place.g;
      const float* sums = log_sums + block.head * kPositions;
      const float* dot = dots + block.head * kPositions;
      const float log_sum[2] = {sums[block.row0], sums[block.row1]};
      const float shift[2] = {dot[block.row0], dot[block.row1]};
      float out[kOut][4] = {};
#pragma unroll 1
      for (int first = 0; first < tiles; first += kAtOnce) {
        float s[kAtOnce][4] = {};
        float dw[kAtOnce][4] = {};
        scores(place, block, query, key, first, s);
        scores(place, block, dout, value, first, dw);
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c) {
          const uint2 kept0 = dropout.tile(block.head, 2 * index, first + c);
          const uint2 kept1 = dropout.tile(block.head, 2 * index + 1, first + c);
          const std::uint32_t bits[4] = {kept0.x, kept0.y, kept1.x, kept1.y};
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int r = e >> 1;
            const bool seen = 8 * (first + c) + place.t + 4 * (e & 1) <= query0 + 8 * r;
            const bool kept = ((bits[e] >> place.lane) & 1U) != 0;
            const float weight = exp2_of(s[c][e] * factor - log_sum[r]);
            const float gradient = (kept ? dropout.scale * dw[c][e] : 0.0F) - shift[r];
            s[c][e] = seen ? weight * inverse_root * gradient : 0.0F;
          }
          combine(place, block, s[c], key, first + c, out);
        }
      }
      auto* to = reinterpret_cast<float4*>(dquery) + task * kOut * 32 + place.lane;
#pragma unroll
      for (int n = 0; n < kOut; ++n)
        to[32 * n] = make_float4(out[n][0], out[n][1], out[n][2], out[n][3]);
    }
  }

  /// What query_gradient left, into the queries' unit. Rows from `length` on become zero.
  static __device__ void store_query_gradient(const Place& place, const float* dquery, int length,
                                              float* unit) {
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block(place, task % kHeads, kBlocks - 1 - task / kHeads);
      const auto* from = reinterpret_cast<const float4*>(dquery) + task * kOut * 32 + place.lane;
      float out[kOut][4];
#pragma unroll
      for (int n = 0; n < kOut; ++n) {
        const float4 part = from[32 * n];
        out[n][0] = part.x;
        out[n][1] = part.y;
        out[n][2] = part.z;
        out[n][3] = part.w;
      }
      store_rows(place, block, out, block.row0 < length ? 1.0F : 0.0F,
                 block.row1 < length ? 1.0F : 0.0F, unit);
    }
  }

  /// The gradients of keys and values take their place.
  static __device__ void key_value_gradient(const Place& place, const float* query, float* key,
                                            float* value, const float* dout,
                                            const AttentionDropout& dropout, const float* log_sums,
                                            const float* dots, int length) {
    constexpr int kAtOnce = kHead > 16 ? 1 : 2;
    const float factor = kLog2E / root();
    const float inverse_root = 1.0F / root();
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const int index = task / kHeads;
      const Block block(place, task % kHeads, index);
      const int key0 = block.first + place.g;
      const float* sums = log_sums + block.head * kPositions;
      const float* dot = dots + block.head * kPositions;
      float dkey[kOut][4] = {};
      float dvalue[kOut][4] = {};
#pragma unroll 1
      for (int first = 2 * index; first < kTiles; first += kAtOnce) {
        float s[kAtOnce][4] = {};
        float dw[kAtOnce][4] = {};
        scores(place, block, key, query, first, s);
        scores(place, block, value, dout, first, dw);
#pragma unroll
        for (int c = 0; c < kAtOnce; ++c) {
          const uint2 kept0 = dropout.tile(block.head, first + c, 2 * index);
          const uint2 kept1 = dropout.tile(block.head, first + c, 2 * index + 1);
          const std::uint32_t words[2] = {place.g < 4 ? kept0.x : kept0.y,
                                          place.g < 4 ? kept1.x : kept1.y};
          float kept_weight[4];
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int r = e >> 1;
            const int q = 8 * (first + c) + place.t + 4 * (e & 1);
            const int inside = min(q, kPositions - 1);
            const bool seen = key0 + 8 * r <= q && q < length;
            const bool kept =
                ((words[r] >> (4 * (place.t + 4 * (e & 1)) + (place.g & 3))) & 1U) != 0;
            const float weight = seen ? exp2_of(s[c][e] * factor - sums[inside]) : 0.0F;
            const float gradient = (kept ? dropout.scale * dw[c][e] : 0.0F) - dot[inside];
            kept_weight[e] = kept ? weight * dropout.scale : 0.0F;
            s[c][e] = weight * inverse_root * gradient;
          }
          combine(place, block, kept_weight, dout, first + c, dvalue);
          combine(place, block, s[c], query, first + c, dkey);
        }
      }
      __syncwarp();
      store_rows(place, block, dkey, 1.0F, 1.0F, key);
      store_rows(place, block, dvalue, 1.0F, 1.0F, value);
    }
  }
};

}  // namespace synergraph::cuda
