#pragma once

#include "synergraph/train/cuda/fragments.cuh"

// Attention of one sequence and layer inside the training kernel, forward and backward, on
// tensor cores. Queries, keys, values and outputs live in shared memory; scores and weights
// exist only in the registers of the warp that computes them. A warp takes sixteen queries (or
// keys) of a head at a time and visits only the tiles that the causal mask leaves. The weights
// are computed again in the backward pass from the kept logarithms of their sums. Each further
// head adds the instructions of its softmax, while the work of tensor cores hardly grows.

namespace synergraph::cuda {

/// What the attention of one sequence and layer is computed with.
struct AttentionSettings {
  const uint2* words;  ///< dropout's masks, see Masks
  float scale;         ///< of what is kept
  float inverse_root;  ///< of the heads' width

  /// The words of a head's tiles of eight queries with the keys from the first on.
  __device__ __forceinline__ const uint2* row(int head, int queries) const {
    const int inside = min(queries, kTiles - 1);
    return words + head * kMaskTiles + inside * (inside + 1) / 2;
  }
};

/// Attention with heads in slots of kHead features. Queries are multiplied by kLog2E and the
/// inverse root of the heads' width, so that their products with keys are exponents of two: of such
/// scores, however large, the largest less itself is zero. A warp takes a block of sixteen queries
/// (or keys) of a head at a time: rows g and g+8 of a product are its own, the columns come in
/// tiles of eight. The block's own two tiles are the diagonal, where some pairs are not seen.
template <int kHead, Precision kPrecision>
struct Attention {
  static constexpr int kHeads = kWidth / kHead;
  static constexpr int kSteps = kHead < 8 ? 1 : kHead / 8;  ///< of products over a head's features
  static constexpr int kOut = kSteps;                       ///< tiles of a head's features
  static constexpr int kTasks = kHeads * kBlocks;

  /// A warp's block.
  struct Block {
    int head, index;

    __device__ int first() const { return 16 * index; }
    /// Its place among all, the longest first.
    __device__ int task() const { return (kBlocks - 1 - index) * kHeads + head; }
    __device__ bool has(const Place& place, int half) const {
      return first() + place.g + 8 * half < kPositions;
    }
  };

  /// Where a thread reads the block's rows of a unit as first operands.
  static __device__ __forceinline__ Address rows_of(const Place& place, const Block& block,
                                                    const float* from) {
    const int position = min(block.first() + (place.lane & 15), kPositions - 1);
    const int feature = block.head * kHead + (kHead < 8 ? 0 : 4 * (place.lane >> 4));
    return address_of(from) + 4U * static_cast<unsigned>(at(position, feature));
  }
  /// Which of two tiles of second operands a thread names the rows of.
  static __device__ __forceinline__ int tile_of(const Place& place) {
    return (place.lane >> (kHead < 8 ? 3 : 4)) & 1;
  }
  /// Where a thread reads two tiles, from the first of a unit, as second operands.
  static __device__ __forceinline__ Address columns_of(const Place& place, const Block& block,
                                                       const float* from) {
    const int tile = tile_of(place);
    const int feature = block.head * kHead + (kHead < 8 ? 0 : 4 * ((place.lane >> 3) & 1));
    return address_of(from) + 4U * static_cast<unsigned>(at(8 * tile + (place.lane & 7), feature));
  }
  /// The address of features 8k .. 8k + 7 of a head, from that of its first. 32 features further
  /// is the next panel.
  static __device__ __forceinline__ Address feature(Address first, int k) {
    return flipped(first, 32U * static_cast<unsigned>(k & 3)) +
           kPanelBytes * static_cast<unsigned>(k >> 2);
  }

  /// A block's rows as first operands, for more than one product.
  struct Rows {
    std::uint32_t m[kSteps][4];

    __device__ __forceinline__ explicit Rows(Address rows) {
#pragma unroll
      for (int k = 0; k < kSteps; ++k) load_matrices(m[k], feature(rows, k));
    }
  };
  /// A block's rows, to be read for every product.
  struct Remembered {
    Address rows;
    __device__ __forceinline__ explicit Remembered(Address address) : rows(address) {}
  };
  static __device__ __forceinline__ void operands(const Rows& rows, int k, std::uint32_t (&m)[4]) {
#pragma unroll
    for (int e = 0; e < 4; ++e) m[e] = rows.m[k][e];
  }
  static __device__ __forceinline__ void operands(const Remembered& rows, int k,
                                                  std::uint32_t (&m)[4]) {
    load_matrices(m, feature(rows.rows, k));
  }

  // For two blocks at once there are not always registers enough.
  using BackwardRows = std::conditional_t<(kHead > 32), Remembered, Rows>;

  // The warp reads all words of a block's masks at once, a thread one or two; who needs them asks.
  static constexpr std::uint32_t kWarp = 0xFFFFFFFFU;

  /// The masks of a block of queries: thread 16 r + k has those of tile k of the r-th row of tiles.
  struct QueryMasks {
    uint2 word;

    __device__ __forceinline__ QueryMasks(const Place& place, const AttentionSettings& settings,
                                          const Block& block)
        : word(__ldg(settings.row(block.head, 2 * block.index + (place.lane >> 4)) +
                     (place.lane & 15))) {
      static_assert(kTiles <= 16);
    }
    /// The words of tiles `tile` and `tile` + 1: even and odd keys of both rows of queries.
    __device__ __forceinline__ void get(int tile, std::uint32_t (&words)[2][4]) const {
#pragma unroll
      for (int c = 0; c < 2; ++c)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          words[c][2 * r] = __shfl_sync(kWarp, word.x, 16 * r + tile + c);
          words[c][2 * r + 1] = __shfl_sync(kWarp, word.y, 16 * r + tile + c);
        }
    }
  };

  /// No masks: everything is kept.
  struct NoMasks {
    __device__ __forceinline__ NoMasks(const Place& /*place*/,
                                       const AttentionSettings& /*settings*/,
                                       const Block& /*block*/) {}
    __device__ __forceinline__ void get(int /*tile*/, std::uint32_t (&/*words*/)[2][4]) const {}
  };
  template <bool kTraining>
  using MasksOf = std::conditional_t<kTraining, QueryMasks, NoMasks>;

  /// The masks of a block of keys: thread 4 k + 2 r + w has word w of the r-th of its tiles with
  /// the k-th and the (k+8)-th tile of queries that see them.
  struct KeyMasks {
    std::uint32_t words[2];
    int first;  ///< tile of queries
    int own;    ///< word

    __device__ __forceinline__ KeyMasks(const Place& place, const AttentionSettings& settings,
                                        const Block& block)
        : first(2 * block.index), own(place.g & 1) {
      static_assert(kTiles <= 16);
      const auto* all = reinterpret_cast<const std::uint32_t*>(settings.row(block.head, 0)) +
                        2 * first + (place.lane & 3);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int tile = min(first + place.g + 8 * half, kTiles - 1);
        words[half] = __ldg(all + tile * (tile + 1));
      }
    }
    /// The words of the thread's keys with a tile of queries.
    __device__ __forceinline__ void get(int tile, std::uint32_t (&bits)[2]) const {
      const int k = tile - first;
      const std::uint32_t from = k < 8 ? words[0] : words[1];
      bits[0] = __shfl_sync(kWarp, from, 4 * (k & 7) + own);
      bits[1] = __shfl_sync(kWarp, from, 4 * (k & 7) + 2 + own);
    }
  };

  /// s[c] = the products of a block's rows with tiles c of `columns`, over the head's features.
  template <class BlockRows, int kCount>
  static __device__ __forceinline__ void scores(const BlockRows& rows, Address columns,
                                                float (&s)[kCount][4]) {
#pragma unroll
    for (int c = 0; c < kCount; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) s[c][e] = 0.0F;
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      std::uint32_t m[4];
      std::uint32_t b[4];
      operands(rows, k, m);
      load_matrices(b, feature(columns, k));
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
    Address start[2];  ///< positions 2t and 2t+1

    __device__ Transposed(const Place& place, const Block& block, const float* from) {
      const int feature = (block.head * kHead + column(place.g)) & (kWidth - 1);
      start[0] = address_of(from) + 4U * static_cast<unsigned>(at(place.position(0, 0), feature));
      start[1] = address_of(from) + 4U * static_cast<unsigned>(at(place.position(0, 1), feature));
    }
  };
  /// out += w V for one tile: w (16 x 8) as a product left it.
  static __device__ __forceinline__ void combine(const float (&w)[4], const Transposed& from,
                                                 unsigned tile, float (&out)[kOut][4]) {
    const float a[4] = {in_register<kPrecision>(w[0]), in_register<kPrecision>(w[2]),
                        in_register<kPrecision>(w[1]), in_register<kPrecision>(w[3])};
#pragma unroll
    for (int n = 0; n < kOut; ++n) {
      product<kPrecision>(out[n], a, load_float(feature(from.start[0], n) + kTileBytes * tile),
                          load_float(feature(from.start[1], n) + kTileBytes * tile));
    }
  }

  /// Stores the block's rows of a head's features.
  static __device__ __forceinline__ void store_rows(const Place& place, const Block& block,
                                                    const float (&out)[kOut][4], float factor0,
                                                    float factor1, float* to) {
    const Address start =
        address_of(to) +
        4U * static_cast<unsigned>(at(block.first() + place.g, block.head * kHead + place.t));
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (!block.has(place, half)) break;
      const float factor = half == 0 ? factor0 : factor1;
#pragma unroll
      for (int n = 0; n < kOut; ++n)
#pragma unroll
        for (int e = 0; e < (kHead < 8 ? 1 : 2); ++e)
          store_float(feature(flipped(start, 16U * static_cast<unsigned>(e)), n) +
                          kTileBytes * static_cast<unsigned>(half),
                      operand<kPrecision>(out[n][2 * half + e] * factor));
    }
  }

  /// On the diagonal: whether entry e of tile c is a key that the query sees; keys are columns.
  static __device__ __forceinline__ bool sees(const Place& place, int c, int e) {
    return place.position(c, e & 1) <= place.g + 8 * (e >> 1);
  }
  /// The same with queries as columns.
  static __device__ __forceinline__ bool seen(const Place& place, int c, int e) {
    return place.g + 8 * (e >> 1) <= place.position(c, e & 1);
  }

  /// Calls body(first tile, whether it is the diagonal) for the keys of a block of queries, two
  /// tiles at a time.
  template <class Body>
  static __device__ __forceinline__ void for_keys(const Block& block, const Body& body) {
#pragma unroll 1
    for (int tile = 0; tile < 2 * block.index; tile += 2) body(tile, std::false_type());
    body(2 * block.index, std::true_type());
  }

  /// The largest length of a head's rows of a unit, for the warp that asks.
  static __device__ __forceinline__ float longest(const Place& place, const float* from, int head) {
    float most = 0.0F;
    for (int p = place.lane; p < kPositions; p += 32) {
      float sum = 0.0F;
#pragma unroll
      for (int f = 0; f < kHead; f += 4) {
        const float4 a = *reinterpret_cast<const float4*>(from + at(p, head * kHead + f));
        sum += a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
      }
      most = fmaxf(most, sum);
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(kWarp, most, step));
    return sqrtf(most);
  }

  /// Heads whose blocks a warp takes: warp, warp + kWarps, ..., one after another.
  static constexpr int kOwnHeads = kHeads > kWarps ? kHeads / kWarps : 1;
  /// Scores up to this size need no maximum: their exponentials, and sums of these, are far from
  /// the ends of float32.
  static constexpr float kSmallScores = 60.0F;

  /// Whether all scores of each of the warp's heads are small, by the lengths of queries and keys.
  struct SmallScores {
    bool of[kOwnHeads];

    __device__ __forceinline__ explicit SmallScores(const Place& place) {
#pragma unroll
      for (int k = 0; k < kOwnHeads; ++k) {
        const int head = (place.warp + k * kWarps) % kHeads;
        of[k] = longest(place, unit(0), head) * longest(place, unit(1), head) <= kSmallScores;
      }
    }
    __device__ __forceinline__ bool operator[](int task) const {
      return of[kOwnHeads == 1 ? 0 : task / kWarps % kOwnHeads];
    }
  };

  /// Of queries, keys and values in units 0 to 2: the heads' outputs go to unit 3. For training,
  /// log_sums (slots x positions) gets the logarithms, base 2, of the sums of exponentials. Without
  /// training there is no dropout either, and small scores need no maximum.
  template <bool kTraining = true>
  static __device__ __forceinline__ void forward(AttentionSettings settings, float* log_sums) {
    if constexpr (kTraining) {
      forward<true>(settings, log_sums, [](int /*task*/) { return false; });
    } else {
      const SmallScores small{Place()};
      forward<false>(settings, log_sums, [&](int task) { return small[task]; });
    }
  }
  template <bool kTraining, class IsSmall>
  static __device__ __forceinline__ void forward(AttentionSettings settings, float* log_sums,
                                                 const IsSmall& is_small) {
    const float* query = unit(0);
    const float* key = unit(1);
    const float* value = unit(2);
    float* to = unit(3);
    const Place place;
    const std::uint32_t lane_bit = 1U << place.lane;
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, kBlocks - 1 - task / kHeads};
      const Rows rows(rows_of(place, block, query));
      const Address columns = columns_of(place, block, key);
      const MasksOf<kTraining> masks(place, settings, block);
      float top[2] = {-3.0e38F, -3.0e38F};
      if (is_small(task)) {
        top[0] = top[1] = 0.0F;
      } else {
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
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          top[r] = fmaxf(top[r], __shfl_xor_sync(0xFFFFFFFFU, top[r], 1));
          top[r] = fmaxf(top[r], __shfl_xor_sync(0xFFFFFFFFU, top[r], 2));
        }
      }
      const Transposed values(place, block, value);
      float sum[2] = {};
      float out[kOut][4] = {};
      for_keys(block, [&](int tile, auto diagonal) {
        std::uint32_t now[2][4];
        float s[2][4];
        scores(rows, columns + kTileBytes * static_cast<unsigned>(tile), s);
        masks.get(tile, now);
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          if (decltype(diagonal)::value && tile + c >= kTiles) continue;
          const std::uint32_t(&bits)[4] = now[c];
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            float weight = exp2_of(s[c][e] - top[e >> 1]);
            if (decltype(diagonal)::value && !sees(place, c, e)) weight = 0.0F;
            sum[e >> 1] += weight;
            s[c][e] = !kTraining || (bits[e] & lane_bit) != 0 ? weight : 0.0F;
          }
          combine(s[c], values, static_cast<unsigned>(tile + c), out);
        }
      });
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        sum[r] += __shfl_xor_sync(0xFFFFFFFFU, sum[r], 1);
        sum[r] += __shfl_xor_sync(0xFFFFFFFFU, sum[r], 2);
        if (kTraining && place.t == 0 && block.has(place, r))
          log_sums[block.head * kPositions + block.first() + place.g + 8 * r] =
              top[r] + log2f(sum[r]);
      }
      store_rows(place, block, out, settings.scale / sum[0], settings.scale / sum[1], to);
    }
  }

  /// sums (slots x positions x 2): log_sums, and the products of each head's output and its
  /// gradient.
  static __device__ void dots(const float* out, const float* dout, const float* log_sums,
                              float* sums) {
    for (int k = thread_again(); k < kHeads * kPositions; k += kThreads) {
      const int head = k / kPositions;
      const int p = k % kPositions;
      float sum = 0.0F;
#pragma unroll
      for (int f = head * kHead; f < (head + 1) * kHead; f += 4) {
        const float4 a = *reinterpret_cast<const float4*>(out + at(p, f));
        const float4 b = *reinterpret_cast<const float4*>(dout + at(p, f));
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
      }
      __stcg(reinterpret_cast<float2*>(sums) + k, make_float2(__ldcg(log_sums + k), sum));
    }
  }

  /// The gradient of a block of queries, in fragments.
  static __device__ __forceinline__ void query_block(const Place& place, const Block& block,
                                                     const float* query, const float* key,
                                                     const float* value, const float* dout,
                                                     const AttentionSettings& settings,
                                                     const float* sums, float* dquery) {
    const float inverse_root = settings.inverse_root;
    const std::uint32_t lane_bit = 1U << place.lane;
    const BackwardRows rows(rows_of(place, block, query));
    const Address columns = columns_of(place, block, key);
    const BackwardRows drows(rows_of(place, block, dout));
    const Address dcolumns = columns_of(place, block, value);
    const Transposed keys(place, block, key);
    const QueryMasks masks(place, settings, block);
    const auto* pairs = reinterpret_cast<const float2*>(sums) + block.head * kPositions;
    const int row = block.first() + place.g;
    const float2 sums_of[2] = {__ldcg(pairs + row), __ldcg(pairs + min(row + 8, kPositions - 1))};
    float out[kOut][4] = {};
    for_keys(block, [&](int tile, auto diagonal) {
      const unsigned offset = kTileBytes * static_cast<unsigned>(tile);
      std::uint32_t now[2][4];
      float s[2][4];
      float dw[2][4];
      scores(rows, columns + offset, s);
      scores(drows, dcolumns + offset, dw);
      masks.get(tile, now);
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        if (decltype(diagonal)::value && tile + c >= kTiles) continue;
        const std::uint32_t(&bits)[4] = now[c];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const float2& own = sums_of[e >> 1];
          float weight = exp2_of(s[c][e] - own.x);
          if (decltype(diagonal)::value && !sees(place, c, e)) weight = 0.0F;
          const float kept = (bits[e] & lane_bit) != 0 ? settings.scale : 0.0F;
          s[c][e] = weight * (kept * dw[c][e] - own.y);
        }
        combine(s[c], keys, static_cast<unsigned>(tile + c), out);
      }
    });
    auto* to = reinterpret_cast<float4*>(dquery) + block.task() * kOut * 32 + place.lane;
#pragma unroll
    for (int n = 0; n < kOut; ++n)
      __stcg(to + 32 * n, make_float4(out[n][0] * inverse_root, out[n][1] * inverse_root,
                                      out[n][2] * inverse_root, out[n][3] * inverse_root));
  }
  /// The gradient of the queries, in fragments.
  static __device__ __forceinline__ void query_gradient(AttentionSettings settings,
                                                        const float* sums, float* dquery) {
    const float* query = unit(0);
    float* key = unit(1);
    float* value = unit(3);
    const float* dout = unit(2);
    const Place place;
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps)
      query_block(place, Block{task % kHeads, kBlocks - 1 - task / kHeads}, query, key, value, dout,
                  settings, sums, dquery);
  }

  /// What query_gradient left, into the queries' unit.
  static __device__ void store_query_gradient(const Place& place, const float* dquery, float* to) {
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, kBlocks - 1 - task / kHeads};
      const auto* from = reinterpret_cast<const float4*>(dquery) + task * kOut * 32 + place.lane;
      float out[kOut][4];
#pragma unroll
      for (int n = 0; n < kOut; ++n) {
        const float4 part = __ldcg(from + 32 * n);
        out[n][0] = part.x;
        out[n][1] = part.y;
        out[n][2] = part.z;
        out[n][3] = part.w;
      }
      store_rows(place, block, out, 1.0F, 1.0F, to);
    }
  }

  /// The gradients of a block of keys and values. Queries beyond the sequence have a dout of zero,
  /// and add nothing.
  static __device__ __forceinline__ void key_value_block(const Place& place, const Block& block,
                                                         const float* query, const float* key,
                                                         const float* value, const float* dout,
                                                         const AttentionSettings& settings,
                                                         const float* sums, float (&dkey)[kOut][4],
                                                         float (&dvalue)[kOut][4]) {
    constexpr int kAtOnce = kHead > 32 ? 1 : 2;
    // The last tile is read twice: what follows it is another unit, which is being written.
    const unsigned last = kTileBytes * static_cast<unsigned>(kTiles - 1 - tile_of(place));
    const std::uint32_t bit[2] = {1U << (4 * place.position(0, 0) + (place.g >> 1)),
                                  1U << (4 * place.position(0, 1) + (place.g >> 1))};
    const BackwardRows rows(rows_of(place, block, key));
    const Address columns = columns_of(place, block, query);
    const BackwardRows drows(rows_of(place, block, value));
    const Address dcolumns = columns_of(place, block, dout);
    const Transposed queries(place, block, query);
    const Transposed douts(place, block, dout);
    // Of the thread's two queries in a tile, a step ahead of their use.
    const auto* pairs = reinterpret_cast<const float4*>(sums) +
                        (block.head * kPositions + place.position(0, 0)) / 2;
    float4 ahead[kAtOnce];
    const auto fetch = [&](int tile) {
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) ahead[k] = __ldcg(pairs + 4 * min(tile + k, kTiles - 1));
    };
    fetch(2 * block.index);
    const KeyMasks masks(place, settings, block);
    const auto add = [&](int tile, int c, float(&s)[4], const float(&dw)[4], const float4& pair,
                         auto diagonal) {
      std::uint32_t bits[2];
      masks.get(tile, bits);
      const float2 sums_of[2] = {{pair.x, pair.y}, {pair.z, pair.w}};
      float kept_weight[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float2& own = sums_of[e & 1];
        float weight = exp2_of(s[e] - own.x);
        if (decltype(diagonal)::value && !seen(place, c, e)) weight = 0.0F;
        const float scale = (bits[e >> 1] & bit[e & 1]) != 0 ? settings.scale : 0.0F;
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
      float4 now[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) now[k] = ahead[k];
      fetch(tile + kAtOnce);
      scores(rows, columns + offset, s);
      scores(drows, dcolumns + offset, dw);
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (tile + k < kTiles) add(tile + k, c + k, s[k], dw[k], now[k], diagonal);
    };
#pragma unroll 1
    for (int c = 0; c < 2; c += kAtOnce)
      if (2 * block.index + c < kTiles) tiles(2 * block.index + c, c, std::true_type());
#pragma unroll 1
    for (int tile = 2 * block.index + 2; tile < kTiles; tile += kAtOnce)
      tiles(tile, 0, std::false_type());
  }
  /// The gradients of keys and values take their place.
  static __device__ __forceinline__ void key_value_gradient(AttentionSettings settings,
                                                            const float* sums) {
    const float* query = unit(0);
    float* key = unit(1);
    float* value = unit(3);
    const float* dout = unit(2);
    const Place place;
#pragma unroll 1
    for (int task = place.warp; task < kTasks; task += kWarps) {
      const Block block{task % kHeads, task / kHeads};
      float dkey[kOut][4] = {};
      float dvalue[kOut][4] = {};
      key_value_block(place, block, query, key, value, dout, settings, sums, dkey, dvalue);
      __syncwarp();
      store_rows(place, block, dkey, kLn2, kLn2, key);  // of queries as they are kept
      store_rows(place, block, dvalue, 1.0F, 1.0F, value);
    }
  }

  /// Both of the above, with a barrier within: where there is one head, and so at most a block of
  /// keys for a warp, the warps with few queries to each key take many keys to each query.
  static __device__ __forceinline__ void one_head_gradients(AttentionSettings settings,
                                                            const float* sums, float* dquery) {
    const float* query = unit(0);
    float* key = unit(1);
    float* value = unit(3);
    const float* dout = unit(2);
    const Place place;
    if (place.warp > 0)
      query_block(place, Block{0, place.warp - 1}, query, key, value, dout, settings, sums, dquery);
    const Block block{0, place.warp};
    float dkey[kOut][4] = {};
    float dvalue[kOut][4] = {};
    if (block.index < kBlocks)
      key_value_block(place, block, query, key, value, dout, settings, sums, dkey, dvalue);
    __syncthreads();
    if (block.index >= kBlocks) return;
    store_rows(place, block, dkey, kLn2, kLn2, key);  // of queries as they are kept
    store_rows(place, block, dvalue, 1.0F, 1.0F, value);
  }
};

}  // namespace synergraph::cuda
