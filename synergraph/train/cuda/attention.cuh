#pragma once

#include "synergraph/train/cuda/fragments.cuh"

namespace synergraph::cuda {

/// Dropout of the attention weights of one sequence and layer.
struct AttentionDropout {
  const uint2* words;  ///< see Masks
  float scale;

  /// The words of a head's tiles of eight queries with the keys from the first on.
  __device__ __forceinline__ const uint2* row(int head, int queries) const {
    const int inside = min(queries, kTiles - 1);
    return words + head * kMaskTiles + inside * (inside + 1) / 2;
  }
};

/// Attention with heads of kHead features. A warp takes a block of sixteen queries (or keys) of a
/// head at a time: rows g and g+8 of a product are its own, the columns come in tiles of eight.
/// The block's own two tiles are the diagonal, where some pairs are not seen.
template <int kHead, Precision kPrecision>
struct Attention {
  static constexpr int kHeads = kWidth / kHead;
  static constexpr int kSteps = kHead < 8 ? 1 : kHead / 8;  ///< of products over a head's features
  static constexpr int kOut = kSteps;                       ///< tiles of a head's features
  static constexpr int kTasks = kHeads * kBlocks;
  static constexpr float kLog2E = 1.44269504088896341F;
  static constexpr unsigned kTileBytes = 4 * 8 * kWidth;

  static __device__ __forceinline__ float root() { return sqrtf(static_cast<float>(kHead)); }

  /// A warp's block.
  struct Block {
    int head, index;

    __device__ int first() const { return 16 * index; }
    __device__ bool has(const Place& place, int half) const {
      return first() + place.g + 8 * half < kPositions;
    }
  };

  /// Where a thread reads the block's rows of a unit as first operands.
  static __device__ __forceinline__ Address rows_of(const Place& place, const Block& block,
                                                    const float* unit) {
    const int position = min(block.first() + (place.lane & 15), kPositions - 1);
    const int feature = block.head * kHead + (kHead < 8 ? 0 : 4 * (place.lane >> 4));
    return address_of(unit) + 4U * static_cast<unsigned>(at(position, feature));
  }
  /// Which of two tiles of second operands a thread names the rows of.
  static __device__ __forceinline__ int tile_of(const Place& place) {
    return (place.lane >> (kHead < 8 ? 3 : 4)) & 1;
  }
  /// Where a thread reads two tiles, from the first of a unit, as second operands.
  static __device__ __forceinline__ Address columns_of(const Place& place, const Block& block,
                                                       const float* unit) {
    const int tile = tile_of(place);
    const int feature = block.head * kHead + (kHead < 8 ? 0 : 4 * ((place.lane >> 3) & 1));
    return address_of(unit) +
           4U * static_cast<unsigned>(at(8 * tile + column(place.lane & 7), feature));
  }
  /// s[c] = the products of a block's rows with tiles c of `columns`, over the head's features.
  template <int kCount>
  static __device__ __forceinline__ void scores(Address rows, Address columns,
                                                float (&s)[kCount][4]) {
#pragma unroll
    for (int c = 0; c < kCount; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[c][e] = 0.0F;
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      std::uint32_t m[4];
      std::uint32_t b[4];
      load_matrices(m, flipped(rows, 32U * static_cast<unsigned>(k)));
      load_matrices(b, flipped(columns, 32U * static_cast<unsigned>(k)));
      if constexpr (kHead < 8) {
        const float a[2] = {__uint_as_float(m[0]), __uint_as_float(m[1])};
#pragma unroll
        for (int c = 0; c < kCount; ++c) product<kPrecision>(s[c], a, __uint_as_float(b[c]));
      } else {
        const float a[4] = {__uint_as_float(m[0]), __uint_as_float(m[1]), __uint_as_float(m[2]),
                            __uint_as_float(m[3])};
#pragma unroll
        for (int c = 0; c < kCount; ++c)
          product<kPrecision>(s[c], a, __uint_as_float(b[2 * c]), __uint_as_float(b[2 * c + 1]));
      }
    }
  }

  /// Where a thread reads the eight positions of the first tile of a unit, transposed.
  struct Transposed {
    Address start[2];  ///< positions t and t+4

    __device__ Transposed(const Place& place, const Block& block, const float* unit) {
      const int feature = (block.head * kHead + column(place.g)) & (kWidth - 1);
      start[0] = address_of(unit) + 4U * static_cast<unsigned>(at(place.t, feature));
      start[1] = address_of(unit) + 4U * static_cast<unsigned>(at(place.t + 4, feature));
    }
  };
  /// out += w V for one tile: w (16 x 8) as a product left it.
  static __device__ __forceinline__ void combine(const float (&w)[4], const Transposed& unit,
                                                 unsigned tile, float (&out)[kOut][4]) {
    const float a[4] = {in_register<kPrecision>(w[0]), in_register<kPrecision>(w[2]),
                        in_register<kPrecision>(w[1]), in_register<kPrecision>(w[3])};
#pragma unroll
    for (int n = 0; n < kOut; ++n) {
      const unsigned flip = 32U * static_cast<unsigned>(n);
      product<kPrecision>(out[n], a, load_float(flipped(unit.start[0] + kTileBytes * tile, flip)),
                          load_float(flipped(unit.start[1] + kTileBytes * tile, flip)));
    }
  }

  /// Stores the block's rows of a head's features.
  static __device__ __forceinline__ void store_rows(const Place& place, const Block& block,
                                                    const float (&out)[kOut][4], float factor0,
                                                    float factor1, float* unit) {
    const int row = block.first() + place.g;
#pragma unroll
    for (int n = 0; n < kOut; ++n) {
      const int f = block.head * kHead + 8 * n + place.t;
#pragma unroll
      for (int e = 0; e < (kHead < 8 ? 1 : 2); ++e) {
        if (block.has(place, 0))
          unit[at(row, f + 4 * e)] = operand<kPrecision>(out[n][e] * factor0);
        if (block.has(place, 1))
          unit[at(row + 8, f + 4 * e)] = operand<kPrecision>(out[n][2 + e] * factor1);
      }
    }
  }

  /// On the diagonal: whether entry e of tile c is a key that the query sees; keys are columns.
  static __device__ __forceinline__ bool sees(const Place& place, int c, int e) {
    return 8 * c + place.t + 4 * (e & 1) <= place.g + 8 * (e >> 1);
  }
  /// The same with queries as columns.
  static __device__ __forceinline__ bool seen(const Place& place, int c, int e) {
    return place.g + 8 * (e >> 1) <= 8 * c + place.t + 4 * (e & 1);
  }

  /// Calls body(first tile, whether it is the diagonal) for the keys of a block of queries, two
  /// tiles at a time.
  template <class Body>
  static __device__ __forceinline__ void for_keys(const Block& block, const Body& body) {
#pragma unroll 1
    for (int tile = 0; tile < 2 * block.index; tile += 2) body(tile, std::false_type());
    body(2 * block.index, std::true_type());
  }

  /// The heads' outputs take the place of the queries. log_sums (heads x positions) gets the
  /// logarithms, base 2, of the sums of exponentials.
  static __device__ __noinline__ void forward(float* query, const float* key, const float* value,
                                              AttentionDropout dropout, float* log_sums) {
    const Place place;
    const float factor = kLog2E / root();
    const std::uint32_t lane_bit = 1U << place.lane;
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, kBlocks - 1 - task / kHeads};
      const Address rows = rows_of(place, block, query);
      const Address columns = columns_of(place, block, key);
      float top[2] = {-3.0e38F, -3.0e38F};
      for_keys(block, [&](int tile, auto diagonal) {
        float s[2][4];
        scores(rows, columns + kTileBytes * static_cast<unsigned>(tile), s);
#pragma unroll
        for (int c = 0; c < 2; ++c)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (!decltype(diagonal)::value || sees(place, c, e))
              top[e >> 1] = fmaxf(top[e >> 1], s[c][e]);
      });
      float shift[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        top[r] = fmaxf(top[r], __shfl_xor_sync(0xFFFFFFFFU, top[r], 1));
        top[r] = fmaxf(top[r], __shfl_xor_sync(0xFFFFFFFFU, top[r], 2));
        shift[r] = top[r] * factor;
      }
      const Transposed values(place, block, value);
      const uint2* kept0 = dropout.row(block.head, 2 * block.index);
      const uint2* kept1 = dropout.row(block.head, 2 * block.index + 1);
      float sum[2] = {};
      float out[kOut][4] = {};
      for_keys(block, [&](int tile, auto diagonal) {
        float s[2][4];
        scores(rows, columns + kTileBytes * static_cast<unsigned>(tile), s);
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          if (decltype(diagonal)::value && tile + c >= kTiles) continue;
          const uint2 words0 = kept0[tile + c];
          const uint2 words1 = kept1[tile + c];
          const std::uint32_t bits[4] = {words0.x, words0.y, words1.x, words1.y};
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            float weight = exp2_of(s[c][e] * factor - shift[e >> 1]);
            if (decltype(diagonal)::value && !sees(place, c, e)) weight = 0.0F;
            sum[e >> 1] += weight;
            s[c][e] = (bits[e] & lane_bit) != 0 ? weight : 0.0F;
          }
          combine(s[c], values, static_cast<unsigned>(tile + c), out);
        }
      });
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        sum[r] += __shfl_xor_sync(0xFFFFFFFFU, sum[r], 1);
        sum[r] += __shfl_xor_sync(0xFFFFFFFFU, sum[r], 2);
        if (place.t == 0 && block.has(place, r))
          log_sums[block.head * kPositions + block.first() + place.g + 8 * r] =
              shift[r] + log2f(sum[r]);
      }
      __syncwarp();
      store_rows(place, block, out, dropout.scale / sum[0], dropout.scale / sum[1], query);
    }
  }

  /// sums (heads x positions x 2): log_sums, and the products of each head's output and its
  /// gradient.
  static __device__ void dots(const float* out, const float* dout, const float* log_sums,
                              float* sums) {
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
      reinterpret_cast<float2*>(sums)[k] = make_float2(log_sums[k], sum);
    }
  }

  /// The gradient of the queries, in fragments.
  static __device__ __noinline__ void query_gradient(const float* query, const float* key,
                                                     const float* value, const float* dout,
                                                     AttentionDropout dropout, const float* sums,
                                                     float* dquery) {
    const Place place;
    const float factor = kLog2E / root();
    const float inverse_root = 1.0F / root();
    const std::uint32_t lane_bit = 1U << place.lane;
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, kBlocks - 1 - task / kHeads};
      const Address rows = rows_of(place, block, query);
      const Address columns = columns_of(place, block, key);
      const Address drows = rows_of(place, block, dout);
      const Address dcolumns = columns_of(place, block, value);
      const Transposed keys(place, block, key);
      const uint2* kept0 = dropout.row(block.head, 2 * block.index);
      const uint2* kept1 = dropout.row(block.head, 2 * block.index + 1);
      const auto* pairs = reinterpret_cast<const float2*>(sums) + block.head * kPositions;
      const int row = block.first() + place.g;
      const float2 sums_of[2] = {pairs[row], pairs[min(row + 8, kPositions - 1)]};
      float out[kOut][4] = {};
      for_keys(block, [&](int tile, auto diagonal) {
        const unsigned offset = kTileBytes * static_cast<unsigned>(tile);
        float s[2][4];
        float dw[2][4];
        scores(rows, columns + offset, s);
        scores(drows, dcolumns + offset, dw);
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          if (decltype(diagonal)::value && tile + c >= kTiles) continue;
          const uint2 words0 = kept0[tile + c];
          const uint2 words1 = kept1[tile + c];
          const std::uint32_t bits[4] = {words0.x, words0.y, words1.x, words1.y};
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const float2& own = sums_of[e >> 1];
            float weight = exp2_of(s[c][e] * factor - own.x);
            if (decltype(diagonal)::value && !sees(place, c, e)) weight = 0.0F;
            const float kept = (bits[e] & lane_bit) != 0 ? dropout.scale : 0.0F;
            s[c][e] = weight * (kept * dw[c][e] - own.y);
          }
          combine(s[c], keys, static_cast<unsigned>(tile + c), out);
        }
      });
      auto* to = reinterpret_cast<float4*>(dquery) + task * kOut * 32 + place.lane;
#pragma unroll
      for (int n = 0; n < kOut; ++n)
        to[32 * n] = make_float4(out[n][0] * inverse_root, out[n][1] * inverse_root,
                                 out[n][2] * inverse_root, out[n][3] * inverse_root);
    }
  }

  /// What query_gradient left, into the queries' unit.
  static __device__ void store_query_gradient(const Place& place, const float* dquery,
                                              float* unit) {
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, kBlocks - 1 - task / kHeads};
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
      store_rows(place, block, out, 1.0F, 1.0F, unit);
    }
  }

  /// The gradients of keys and values take their place. Queries beyond the sequence have a dout of
  /// zero, and add nothing.
  static __device__ __noinline__ void key_value_gradient(const float* query, float* key,
                                                         float* value, const float* dout,
                                                         AttentionDropout dropout,
                                                         const float* sums) {
    const Place place;
    constexpr int kAtOnce = kHead > 32 ? 1 : 2;
    const float factor = kLog2E / root();
    const float inverse_root = 1.0F / root();
    // The last tile is read twice: what follows it is another unit, which is being written.
    const unsigned last = kTileBytes * static_cast<unsigned>(kTiles - 1 - tile_of(place));
    const std::uint32_t bit[2] = {1U << (4 * place.t + (place.g & 3)),
                                  1U << (4 * place.t + 16 + (place.g & 3))};
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, task / kHeads};
      const Address rows = rows_of(place, block, key);
      const Address columns = columns_of(place, block, query);
      const Address drows = rows_of(place, block, value);
      const Address dcolumns = columns_of(place, block, dout);
      const Transposed queries(place, block, query);
      const Transposed douts(place, block, dout);
      const auto* pairs = reinterpret_cast<const float2*>(sums) + block.head * kPositions + place.t;
      // The words of the block's keys, for the half of them that this thread has.
      const auto* words = reinterpret_cast<const std::uint32_t*>(dropout.row(block.head, 0)) +
                          4 * block.index + (place.g >> 2);
      float dkey[kOut][4] = {};
      float dvalue[kOut][4] = {};
      const auto add = [&](int tile, int c, float(&s)[4], const float(&dw)[4], auto diagonal) {
        const std::uint32_t* kept = words + tile * (tile + 1);
        const std::uint32_t bits[2] = {kept[0], kept[2]};
        const float2 sums_of[2] = {pairs[8 * tile], pairs[8 * tile + 4]};
        float kept_weight[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float2& own = sums_of[e & 1];
          float weight = exp2_of(s[e] * factor - own.x);
          if (decltype(diagonal)::value && !seen(place, c, e)) weight = 0.0F;
          const float scale = (bits[e >> 1] & bit[e & 1]) != 0 ? dropout.scale : 0.0F;
          kept_weight[e] = weight * scale;
          s[e] = weight * (scale * dw[e] - own.y);
        }
        combine(kept_weight, douts, static_cast<unsigned>(tile), dvalue);
        combine(s, queries, static_cast<unsigned>(tile), dkey);
      };
      const auto tiles = [&](int tile, int c, auto diagonal) {
        const unsigned offset = min(kTileBytes * static_cast<unsigned>(tile), last);
        float s[kAtOnce][4];
        float dw[kAtOnce][4];
        scores(rows, columns + offset, s);
        scores(drows, dcolumns + offset, dw);
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k)
          if (tile + k < kTiles) add(tile + k, c + k, s[k], dw[k], diagonal);
      };
#pragma unroll 1
      for (int c = 0; c < 2; c += kAtOnce)
        if (2 * block.index + c < kTiles) tiles(2 * block.index + c, c, std::true_type());
#pragma unroll 1
      for (int tile = 2 * block.index + 2; tile < kTiles; tile += kAtOnce)
        tiles(tile, 0, std::false_type());
      __syncwarp();
      store_rows(place, block, dkey, inverse_root, inverse_root, key);
      store_rows(place, block, dvalue, 1.0F, 1.0F, value);
    }
  }
};

}  // namespace synergraph::cuda
