#pragma once

#include "synergraph/train/cuda/attention.cuh"
#include "synergraph/train/cuda/trainee.h"

// Forward and backward pass of whole sequences, one block of threads a sequence. The activations
// of the layer at hand live in shared memory, the residual stream and products in registers;
// what the backward pass needs again goes to global memory, which the L2 cache holds. Two
// sequences share a multiprocessor, so that one computes while the other waits at a barrier.
// Parameters are read as tensor-core operands that the update kernel has prepared. Latency
// limits it: two sequences give a scheduler four warps, too few to hide waits for memory and
// earlier results.

namespace synergraph::cuda {

/// What the pass over the sequences of a step reads and writes. The models follow each other, and
/// so do the `batch` places of a model.
struct SequenceArguments {
  Layout layout;
  Saved saved_layout;
  Masks mask_layout;
  int batch;            ///< places a model
  float dropout_scale;  ///< of what is kept
  bool dropout;
  bool training;     ///< false: nothing but losses and correct
  bool prefetching;  ///< ask early for what is read later: pays where few sequences run at once
  const Trainee* trainees;
  const std::uint32_t*
      attention_masks;            ///< all ones without dropout; (models x batch x layers x words())
  const std::uint8_t* mlp_masks;  ///< (models x batch x layers x kMlpBytes)
  float* saved;                   ///< (models x batch x saved_layout.size())
  float* partial;                 ///< (models x batch x layout.partial_size())
  double* losses;                 ///< (models x batch)
  std::int32_t* correct;
};

/// What all threads of a block know of their sequence.
struct Context {
  Layout layout;
  Saved saved_layout;
  const float* parameters;  ///< as products take them
  const float* transposed;
  float* saved;
  float* partial;
  const uint2* attention_masks;   ///< of the first layer
  const std::uint8_t* mlp_masks;  ///< the same
  double* loss;
  std::int32_t* correct;
  float dropout_scale;  ///< 1 without dropout
  float gradient_scale;
  float inverse_width;
  float inverse_root;  ///< of the heads' width
  bool dropout;
  bool training;
  bool prefetching;
};

/// Shared memory of a sequence, in floats.
struct Shared {
  static constexpr int kUnits = 4;
  static constexpr int kColumnParts = kThreads / 128;
  static constexpr int kPart = kUnits * kUnit;                ///< (positions x groups)
  static constexpr int kSums = kPart + 4 * kPositions;        ///< the parts' sums of rows
  static constexpr int kTargets = kSums + kParts * kSumRows;  ///< (positions)
  static constexpr int kAnswers = kTargets + kPositions;      ///< (positions)
  static constexpr int kColumnSums = kAnswers + kPositions;   ///< (column parts x 128)
  static constexpr int kContext = kColumnSums + 128 * kColumnParts;
  static constexpr int kSize = kContext + 48;
  static_assert(sizeof(Context) <= 48 * sizeof(float) && kContext % 4 == 0);
  static_assert(kSize * sizeof(float) <= kSharedBytes);
};

/// How a position's largest logit compares with the others.
struct Standing {
  float top;
  float rest;  ///< sum of exp(logit - top) over the others
  int best;    ///< the first that has it

  /// Of tokens that come later.
  __device__ __forceinline__ void merge(float value, int token) {
    const float other = exp2_of(-kLog2E * fabsf(value - top));
    const bool above = value > top;
    rest = above ? (rest + 1.0F) * other : rest + other;
    best = above ? token : best;
    top = fmaxf(top, value);
  }
  __device__ __forceinline__ void merge(Standing other) {
    const bool above = other.top > top || (other.top == top && other.best < best);
    const float high = above ? other.top : top;
    const float low = above ? top : other.top;
    const float behind = (above ? rest : other.rest) + 1.0F;
    rest = (above ? other.rest : rest) + behind * exp2_of((low - high) * kLog2E);
    best = above ? other.best : best;
    top = high;
  }
  static constexpr float kNothing = -3.0e38F;
};

/// Forward and backward pass of one sequence by one block of threads. What it knows is in shared
/// memory, and each of its parts begins with the thread's number alone, so that each has all
/// registers to itself. (In functions that are called, each load would first fetch where memory
/// is.)
template <int kHead, Precision kPrecision>
struct SequencePass {
  using Heads = Attention<kHead, kPrecision>;
  static constexpr int kHeads = kWidth / kHead;             ///< slots
  static constexpr int kUnroll = kHeads == 1 ? 2 : kTiles;  ///< of weight gradients, as measured

  Place place;
  int row;  ///< of the residual stream: 16 group + g; the other is row + 8

  __device__ __forceinline__ SequencePass() : row(16 * place.group + place.g) {}

  static __device__ __forceinline__ float* part() { return shared_memory + Shared::kPart; }
  static __device__ __forceinline__ float* sums() { return shared_memory + Shared::kSums; }
  static __device__ __forceinline__ std::int32_t* targets() {
    return reinterpret_cast<std::int32_t*>(shared_memory + Shared::kTargets);
  }
  static __device__ __forceinline__ float* answers() { return shared_memory + Shared::kAnswers; }
  static __device__ __forceinline__ Context& context() {
    return *reinterpret_cast<Context*>(shared_memory + Shared::kContext);
  }
  static __device__ __forceinline__ const float* weights(int layer) {
    return context().parameters + layer * Layout::kLayer;
  }
  static __device__ __forceinline__ const float* back(int layer) {
    return context().transposed + layer * Layout::kLayer;
  }
  static __device__ __forceinline__ float* kept(int layer) {
    return context().saved + layer * (Saved::kLogSums + kHeads * kPositions);
  }
  static __device__ __forceinline__ float* gradient(int layer) {
    return context().partial + layer * Layout::kLayer;
  }
  static __device__ __forceinline__ AttentionSettings attention_settings(int layer) {
    return {context().attention_masks + layer * (Masks{kHeads}.words() / 2),
            context().dropout_scale, context().inverse_root};
  }
  /// Where x goes when `layer` is the next: the residual stream, or after the last layer, and on
  /// the way back, its gradient.
  static __device__ __forceinline__ float* stream(int layer) {
    return layer < context().layout.layers ? kept(layer) + Saved::kX : gradient_stream();
  }
  static __device__ __forceinline__ float* dots() {
    return context().saved + context().saved_layout.dots();
  }
  static __device__ __forceinline__ float* dquery() {
    return context().saved + context().saved_layout.dquery();
  }
  static __device__ __forceinline__ float* gradient_stream() {
    return context().saved + context().saved_layout.dx();
  }

  /// What will be read later. With one head even to ask whether to ask costs more than it gains.
  static __device__ __forceinline__ void ask_for(const void* from, int bytes) {
    if constexpr (kHeads > 1) {
      if (context().prefetching) prefetch(from, bytes);
    }
  }

  /// The dropout mask of rows `row` and `row` + 8: bits 8j and 8j + 1 are for tile j.
  struct Dropped {
    std::uint64_t rows[2];
  };
  __device__ __forceinline__ Dropped dropped(int layer) const {
    const std::uint8_t* bytes = context().mlp_masks + layer * Masks::kMlpBytes +
                                row * Masks::kMlpRow + place.part * Masks::kMlpPart;
    const auto* rows = reinterpret_cast<const unsigned long long*>(bytes);
    return {{__ldg(rows) >> (2 * place.t), __ldg(rows + Masks::kMlpRow) >> (2 * place.t)}};
  }
  /// Multiplies what is kept by the scale, the rest by zero.
  __device__ __forceinline__ void drop(const Dropped& mask, Fragments& c) const {
    if (!context().dropout) return;
    const float scale = context().dropout_scale;
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const auto word = static_cast<std::uint32_t>(mask.rows[e >> 1] >> (32 * (j / 4)));
        c[j][e] = (word & (1U << (8 * (j % 4) + (e & 1)))) != 0 ? c[j][e] * scale : 0.0F;
      }
  }

  __device__ void embed(const SequenceArguments& args, const Trainee& trainee) {
    const int sequence = static_cast<int>(blockIdx.x);
    const int length = args.layout.length;
    const std::ptrdiff_t start =
        static_cast<std::ptrdiff_t>(trainee.sequence(args.batch, sequence % args.batch)) * length;
    const std::int32_t* tokens = trainee.inputs + start;
    const float* token = trainee.parameters + args.layout.tokens();
    const float* position = trainee.parameters + args.layout.positions();
    float* saved = args.saved + static_cast<std::size_t>(sequence) * args.saved_layout.size();
    if (threadIdx.x == 0) {
      const auto index = static_cast<std::size_t>(sequence);
      Context& to = context();
      to.layout = args.layout;
      to.saved_layout = args.saved_layout;
      to.parameters = kPrecision == Precision::kTf32 ? trainee.operands : trainee.parameters;
      to.transposed = trainee.transposed;
      to.saved = saved;
      to.partial = args.partial + index * args.layout.partial_size();
      to.attention_masks = reinterpret_cast<const uint2*>(
          args.attention_masks + index * args.layout.layers * args.mask_layout.words());
      to.mlp_masks = args.mlp_masks + index * args.layout.layers * Masks::kMlpBytes;
      to.loss = args.losses + index;
      to.correct = args.correct + index;
      to.dropout_scale = args.dropout ? args.dropout_scale : 1.0F;
      to.gradient_scale =
          static_cast<float>(1.0 / (trainee.count(args.batch) * trainee.sequence_positions));
      to.inverse_width = 1.0F / static_cast<float>(args.layout.width);
      to.inverse_root = 1.0F / sqrtf(static_cast<float>(args.layout.head_width()));
      to.dropout = args.dropout;
      to.training = args.training;
      to.prefetching = args.prefetching;
    }
    for (int p = thread_again(); p < kPositions; p += kThreads)
      targets()[p] = p < length ? trainee.targets[start + p] : -1;
    Fragments x;
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = place.position(tile, e);
        x[j][e] = x[j][2 + e] = 0.0F;
        if (p < length) {
          const float* from = token + tokens[p] * kWidth + row;
          const float* at_position = position + p * kWidth + row;
          x[j][e] = from[0] + at_position[0];
          x[j][2 + e] = from[8] + at_position[8];
        }
      }
    });
    keep(place, x, saved + Saved::kX);
    __syncthreads();
  }

  /// Sums over the 64 features, of a value for each of the thread's positions: leaves them for
  /// summed(), which is to be called after a barrier.
  __device__ __forceinline__ void leave_parts(float (&values)[kPartTiles][2]) {
#pragma unroll
    for (int step = 4; step < 32; step *= 2)
#pragma unroll
      for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          values[j][e] += __shfl_xor_sync(0xFFFFFFFFU, values[j][e], step);
    if (place.g == 0)
      for_tiles(place, [&](int j, int tile) {
#pragma unroll
        for (int e = 0; e < 2; ++e)
          part()[4 * place.position(tile, e) + place.group] = values[j][e];
      });
  }
  static __device__ __forceinline__ float summed(int position) {
    const float4 four = *reinterpret_cast<const float4*>(part() + 4 * position);
    return (four.x + four.y) + (four.z + four.w);
  }

  /// RMSNorm of x into a unit, with a barrier within. inverse (positions) gets the factors.
  __device__ __forceinline__ void norm(const Fragments& x, const float* gain, float* to,
                                       float* inverse) {
    const float gain0 = __ldg(gain + row);
    const float gain1 = __ldg(gain + row + 8);
    const float inverse_width = context().inverse_width;
    float squares[kPartTiles][2];
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) squares[j][e] = x[j][e] * x[j][e] + x[j][2 + e] * x[j][2 + e];
    leave_parts(squares);
    part_barrier(place.part);
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = place.position(tile, e);
        const float r = rsqrtf(summed(p) * inverse_width + 0x1.0p-23F);
        to[at(p, row)] = in_register<kPrecision>(x[j][e] * r * gain0);
        to[at(p, row + 8)] = in_register<kPrecision>(x[j][2 + e] * r * gain1);
        if (place.group == 0 && place.g == 0) __stcg(inverse + p, r);
      }
    });
  }
  /// The factors that the forward pass kept, of the thread's positions.
  using Inverses = float[kPartTiles][2];
  __device__ __forceinline__ void fetch_inverses(const float* inverse, Inverses& r) const {
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j) {
      const auto* both =
          reinterpret_cast<const float2*>(inverse + place.position(place.tile(j), 0));
      const float2 two = __ldcg(both);
      r[j][0] = two.x;
      r[j][1] = two.y;
    }
  }
  /// The same again from what the forward pass kept.
  __device__ __forceinline__ void norm_again(const Fragments& x, const float* gain,
                                             const Inverses& r, float* to) {
    const float gain0 = __ldg(gain + row);
    const float gain1 = __ldg(gain + row + 8);
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = place.position(tile, e);
        to[at(p, row)] = in_register<kPrecision>(x[j][e] * r[j][e] * gain0);
        to[at(p, row + 8)] = in_register<kPrecision>(x[j][2 + e] * r[j][e] * gain1);
      }
    });
  }

  // A layer. Every step ends with a barrier before its results are read.

  /// Queries (as Attention takes them), keys and values, into units 0 to 2.
  __device__ void prepare_attention(int layer) {
    ask_for(attention_settings(layer).words, 8 * kHeads * kMaskTiles);
    ask_for(context().mlp_masks + layer * Masks::kMlpBytes, Masks::kMlpBytes);
    ask_for(weights(layer) + Layout::kProjection, 4 * (Layout::kQkvBias - Layout::kProjection));
    Fragments x;
    Ahead ahead;
    fetch(place, x, kept(layer) + Saved::kX);
    ahead.load(weights(layer) + Layout::kQkv + 1024 * place.group, place.lane);
    norm(x, weights(layer) + Layout::kNorm1, unit(3), kept(layer) + Saved::kInverse1);
    part_barrier(place.part);
#pragma unroll 1
    for (int m = 0; m < 3; ++m) {
      const float* tiles = weights(layer) + Layout::kQkv + 1024 * (4 * m + place.group);
      const float* bias = weights(layer) + Layout::kQkvBias + 64 * m + row;
      Fragments c;
      start_with(c, __ldg(bias), __ldg(bias + 8));
      multiply<8, kPrecision>(place, ahead, tiles, unit(3), c, m < 2 ? tiles + 4096 : nullptr);
      if (m == 0) {
        const float factor = kLog2E * context().inverse_root;
#pragma unroll
        for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) c[j][e] *= factor;
      }
      store_for_products<kPrecision>(place, c, 16 * place.group, unit(m));
    }
    __syncthreads();
    if (context().training) copy(unit(0), kept(layer) + Saved::kQkv, 3 * kUnit);
  }
  /// From what attention gave, in unit 3, to the next layer's x.
  __device__ void finish_layer(int layer) {
    ask_for(weights(layer + 1), 4 * Layout::kProjection);  // or of the output
    Fragments x;
    Ahead ahead;
    ahead.load(weights(layer) + Layout::kProjection + 1024 * place.group, place.lane);
    fetch(place, x, kept(layer) + Saved::kX);
    add_bias(x, weights(layer) + Layout::kProjectionBias);
    __syncthreads();
    multiply<8, kPrecision>(place, ahead, weights(layer) + Layout::kProjection + 1024 * place.group,
                            unit(3), x, weights(layer) + Layout::kMlpIn + 1024 * place.group);
    keep(place, x, kept(layer) + Saved::kX2);
    if (context().training) copy_part(place, unit(3), kept(layer) + Saved::kAttended);
    norm(x, weights(layer) + Layout::kNorm2, unit(0), kept(layer) + Saved::kInverse2);
    put_aside(place, x, unit(3));  // norm() has a barrier
    part_barrier(place.part);
    const float* mlp_out = weights(layer) + Layout::kMlpOut + 2048 * place.group;
#pragma unroll 1
    for (int m = 0; m < 2; ++m) {
      const float* tiles = weights(layer) + Layout::kMlpIn + 1024 * (4 * m + place.group);
      const float* bias = weights(layer) + Layout::kMlpInBias + 64 * m + row;
      Fragments c;
      start_with(c, __ldg(bias), __ldg(bias + 8));
      multiply<8, kPrecision>(place, ahead, tiles, unit(0), c, m < 1 ? tiles + 4096 : mlp_out);
#pragma unroll
      for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) c[j][e] = fmaxf(c[j][e], 0.0F);
      store<kPrecision>(place, c, 16 * place.group, unit(1 + m));
    }
    const Dropped mask = dropped(layer);
    part_barrier(place.part);
    if (context().training) {
      copy_part(place, unit(1), kept(layer) + Saved::kHiddenUnits);
      copy_part(place, unit(2), kept(layer) + Saved::kHiddenUnits + kUnit);
    }
    Fragments c;
    const float* bias = weights(layer) + Layout::kMlpOutBias + row;
    start_with(c, __ldg(bias), __ldg(bias + 8));
    multiply<16, kPrecision>(place, ahead, mlp_out, unit(1), c);
    drop(mask, c);
    add_again(place, c, unit(3));
    keep(place, c, stream(layer + 1));
  }

  __device__ __forceinline__ void add_bias(Fragments& x, const float* bias) {
    const float bias0 = __ldg(bias + row);
    const float bias1 = __ldg(bias + row + 8);
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j) {
      x[j][0] += bias0;
      x[j][1] += bias0;
      x[j][2] += bias1;
      x[j][3] += bias1;
    }
  }

  /// The logits of 64 tokens, from unit 0. `ahead` then has the first tiles from `next` on.
  __device__ __forceinline__ void logits(int chunk, Ahead& ahead, Fragments& c, const float* next) {
    const float* bias =
        context().parameters + context().layout.output_bias() + chunk * kChunk + row;
    start_with(c, __ldg(bias), __ldg(bias + 8));
    multiply<8, kPrecision>(place, ahead, output_tiles(chunk), unit(0), c, next);
  }
  __device__ __forceinline__ const float* output_tiles(int chunk) const {
    return context().parameters + context().layout.output() + 1024 * (4 * chunk + place.group);
  }

  /// Compares the logits: (positions x groups) standings, from unit 1 on.
  __device__ void compare() {
    Fragments x;
    fetch(place, x, gradient_stream());
    const int chunks = context().layout.chunks();
    const int vocabulary = context().layout.vocabulary;
    Ahead ahead;
    ahead.load(output_tiles(0), place.lane);
    store_for_products<kPrecision>(place, x, 16 * place.group, unit(0));
    part_barrier(place.part);
    // Set one by one: the compiler fills an array of members with defaults with zeros instead.
    Standing standing[kPartTiles][2];
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) standing[j][e] = {Standing::kNothing, 0.0F, 0};
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      Fragments c;
      logits(chunk, ahead, c, output_tiles(chunk + 1 < chunks ? chunk + 1 : 0));
      const int token = chunk * kChunk + row;
      for_tiles(place, [&](int j, int tile) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int target = targets()[place.position(tile, e)] - token;
          if (target == 0 || target == 8)
            answers()[place.position(tile, e)] = target == 0 ? c[j][e] : c[j][2 + e];
        }
      });
#pragma unroll
      for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int own = token + 8 * (e >> 1);
          standing[j][e & 1].merge(own < vocabulary ? c[j][e] : -HUGE_VALF, own);
        }
    }
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        Standing mine = standing[j][e];
#pragma unroll
        for (int step = 4; step < 32; step *= 2) {
          Standing other;
          other.top = __shfl_xor_sync(0xFFFFFFFFU, mine.top, step);
          other.rest = __shfl_xor_sync(0xFFFFFFFFU, mine.rest, step);
          other.best = __shfl_xor_sync(0xFFFFFFFFU, mine.best, step);
          mine.merge(other);
        }
        if (place.g == 0 && (j < kPartTiles - 1 || place.part == 0))
          standing_of(place.position(place.first + j, e), place.group) =
              make_float4(mine.top, mine.rest, __int_as_float(mine.best), 0.0F);
      }
    part_barrier(place.part);
    conclude();
  }

  // What is known of a position lies in its row of unit 1, where only warps of its part look.
  static __device__ __forceinline__ float4& standing_of(int position, int group) {
    return *reinterpret_cast<float4*>(unit(1) + at(position, 4 * group));
  }
  /// The top logit and the factor of the exponentials.
  static __device__ __forceinline__ float2& end_of(int position) {
    return *reinterpret_cast<float2*>(unit(1) + at(position, 32));
  }
  static __device__ __forceinline__ double& loss_of(int position) {
    return *reinterpret_cast<double*>(unit(1) + at(position, 34));
  }
  static __device__ __forceinline__ Standing merged(int position) {
    Standing all;
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      const float4 one = standing_of(position, group);
      Standing standing;
      standing.top = one.x;
      standing.rest = one.y;
      standing.best = __float_as_int(one.z);
      if (group == 0)
        all = standing;
      else
        all.merge(standing);
    }
    return all;
  }
  /// Loss and number of correct answers, with a barrier within.
  __device__ void conclude() {
    const int inside = thread_again() & 127;
    const int p = 8 * place.first + inside;
    if (inside < 8 * (kPartTiles - (place.part > 0 ? 1 : 0))) {
      const Standing all = merged(p);
      end_of(p) = make_float2(all.top, context().gradient_scale / (1.0F + all.rest));
      loss_of(p) =
          targets()[p] >= 0 ? log1p(static_cast<double>(all.rest)) + (all.top - answers()[p]) : 0.0;
      // What is right is noted where the answers were.
      answers()[p] = all.best == targets()[p] ? 1.0F : 0.0F;
    }
    __syncthreads();
    if (place.warp != 0) return;
    double loss = 0.0;
    int correct = 0;
    for (int k = place.lane; k < kPositions; k += 32) {
      loss += loss_of(k);
      correct += answers()[k] > 0.0F ? 1 : 0;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      loss += __shfl_xor_sync(0xFFFFFFFFU, loss, step);
      correct += __shfl_xor_sync(0xFFFFFFFFU, correct, step);
    }
    if (place.lane == 0) {
      *context().loss = loss;
      *context().correct = correct;
    }
  }

  /// The gradient of the loss: what the last layer gave, in unit 0, becomes its gradient.
  __device__ void judge_backward() {
    const int last = context().layout.layers - 1;
    ask_for(kept(last) + Saved::kHiddenUnits, 8 * kUnit);
    ask_for(kept(last) + Saved::kX2, 4 * kUnit);
    ask_for(back(last) + Layout::kMlpIn, 4 * (Layout::kQkvBias - Layout::kMlpIn));
    const int chunks = context().layout.chunks();
    const int vocabulary = context().layout.vocabulary;
    Ahead ahead;
    ahead.load(output_tiles(0), place.lane);
    Fragments x;
    start_with(x, 0.0F, 0.0F);
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; ++chunk) {
      float* gradient = unit(2 + (chunk & 1));
      Fragments c;
      const float* back = context().transposed + context().layout.output() +
                          128 * (8 * chunks * place.group + 8 * chunk);
      logits(chunk, ahead, c, back);
      const float gradient_scale = context().gradient_scale;
      const int token = chunk * kChunk + row;
      for_tiles(place, [&](int j, int tile) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int own = token + 8 * (e >> 1);
          const int p = place.position(tile, e & 1);
          const int target = targets()[p];
          const float2 end = end_of(p);
          float value = exp2_of((c[j][e] - end.x) * kLog2E) * end.y;
          if (target == own) value -= gradient_scale;
          c[j][e] = target < 0 || own >= vocabulary ? 0.0F : value;
        }
      });
      float* chunk_sums = sums() + 64 * (chunk & 1);
      leave_sums(place, c, 16 * place.group, chunk_sums);
      store_for_products<kPrecision>(place, c, 16 * place.group, gradient);
      __syncthreads();
      add_parts(chunk_sums, 64,
                context().partial + context().layout.output_bias() + chunk * kChunk);
      multiply<8, kPrecision>(place, ahead, back, gradient, x,
                              output_tiles(chunk + 1 < chunks ? chunk + 1 : 0));
      square_gradient(gradient, unit(0),
                      context().partial + context().layout.output() + chunk * kChunk * kWidth);
    }
    keep(place, x, gradient_stream());
    __syncthreads();
  }

  /// The gradient of a matrix of 64 x 64.
  __device__ __forceinline__ void square_gradient(const float* dy, const float* x, float* to) {
    weight_gradient<2, 1, 2, kWidth, kPrecision, kUnroll>(place, dy, 2 * (place.warp & 1), x,
                                                          2 * (place.warp >> 1), to);
  }

  /// Through RMSNorm: the stream gets what dy passes on; the sums of the gain's gradient are left
  /// in gain_sums. Has a barrier within.
  __device__ __forceinline__ void norm_backward(const Fragments& x, const float* gain,
                                                const Inverses& r, Fragments& dy,
                                                float* gain_sums) {
    const float gain0 = __ldg(gain + row);
    const float gain1 = __ldg(gain + row + 8);
    const float inverse_width = context().inverse_width;
    float products[kPartTiles][2];
#pragma unroll
    for (int j = 0; j < kPartTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        products[j][e] = dy[j][e] * x[j][e] * gain0 + dy[j][2 + e] * x[j][2 + e] * gain1;
    leave_parts(products);
    Fragments dx;
    fetch(place, dx, gradient_stream());
    part_barrier(place.part);
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = place.position(tile, e);
        const float factor = r[j][e];
        const float shrink = summed(p) * factor * factor * factor * inverse_width;
        dx[j][e] += dy[j][e] * (factor * gain0) - x[j][e] * shrink;
        dx[j][2 + e] += dy[j][2 + e] * (factor * gain1) - x[j][2 + e] * shrink;
        dy[j][e] *= x[j][e] * factor;
        dy[j][2 + e] *= x[j][2 + e] * factor;
      }
    });
    keep(place, dx, gradient_stream());
    leave_sums(place, dy, 16 * place.group, gain_sums);
  }

  /// The gradient of the layer's output becomes that of x2.
  __device__ void mlp_backward(int layer) {
    ask_for(kept(layer) + Saved::kQkv, 4 * (Saved::kHiddenUnits - Saved::kQkv));
    ask_for(back(layer), 4 * Layout::kMlpIn);
    begin_copy(kept(layer) + Saved::kHiddenUnits, unit(1), 2 * kUnit);
    {
      Fragments dy;
      Fragments x2;
      Inverses r;
      const Dropped mask = dropped(layer);
      fetch(place, dy, gradient_stream());
      fetch(place, x2, kept(layer) + Saved::kX2);
      fetch_inverses(kept(layer) + Saved::kInverse2, r);
      drop(mask, dy);
      leave_sums(place, dy, 16 * place.group, sums());
      store_for_products<kPrecision>(place, dy, 16 * place.group, unit(0));
      norm_again(x2, weights(layer) + Layout::kNorm2, r, unit(3));
    }
    arrived();
    __syncthreads();
    add_parts(sums(), 64, gradient(layer) + Layout::kMlpOutBias);
    weight_gradient<2, 1, 4, kHidden, kPrecision, kUnroll>(place, unit(0), 2 * (place.warp & 1),
                                                           unit(1), 4 * (place.warp >> 1),
                                                           gradient(layer) + Layout::kMlpOut);
    // The gradient of the hidden features takes their place.
    Ahead ahead;
    ahead.load(back(layer) + Layout::kMlpOut + 1024 * place.group, place.lane);
    Fragments dhidden[2];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const float* tiles = back(layer) + Layout::kMlpOut + 1024 * (4 * m + place.group);
      start_with(dhidden[m], 0.0F, 0.0F);
      multiply<8, kPrecision>(place, ahead, tiles, unit(0), dhidden[m],
                              m < 1 ? tiles + 4096 : nullptr);
      const float* hidden = unit(1 + m);
      for_tiles(place, [&](int j, int tile) {
        const int p = place.position(tile, 0);
        if (!(hidden[at(p, row)] > 0.0F)) dhidden[m][j][0] = 0.0F;
        if (!(hidden[at(p + 1, row)] > 0.0F)) dhidden[m][j][1] = 0.0F;
        if (!(hidden[at(p, row + 8)] > 0.0F)) dhidden[m][j][2] = 0.0F;
        if (!(hidden[at(p + 1, row + 8)] > 0.0F)) dhidden[m][j][3] = 0.0F;
      });
      leave_sums(place, dhidden[m], 64 * m + 16 * place.group, sums() + 64);
    }
    __syncthreads();
    store_for_products<kPrecision>(place, dhidden[0], 16 * place.group, unit(1));
    store_for_products<kPrecision>(place, dhidden[1], 16 * place.group, unit(2));
    add_parts(sums() + 64, 128, gradient(layer) + Layout::kMlpInBias);
    __syncthreads();
    weight_gradient<2, 1, 4, kWidth, kPrecision, kUnroll>(place, unit(1), 2 * (place.warp & 3),
                                                          unit(3), 4 * (place.warp >> 2),
                                                          gradient(layer) + Layout::kMlpIn);
    Fragments dy;
    start_with(dy, 0.0F, 0.0F);
    const float* mlp_in = back(layer) + Layout::kMlpIn + 2048 * place.group;
    ahead.load(mlp_in, place.lane);
    multiply<16, kPrecision>(place, ahead, mlp_in, unit(1), dy);
    pass_norm(dy, kept(layer) + Saved::kX2, kept(layer) + Saved::kInverse2,
              weights(layer) + Layout::kNorm2, gradient(layer) + Layout::kNorm2, sums());
  }

  /// The gradient dy of a norm's output is added to that of its input x in the stream.
  __device__ __forceinline__ void pass_norm(Fragments& dy, const float* input, const float* inverse,
                                            const float* gain, float* gain_gradient,
                                            float* gain_sums) {
    Fragments x;
    Inverses r;
    fetch(place, x, input);
    fetch_inverses(inverse, r);
    norm_backward(x, gain, r, dy, gain_sums);
    __syncthreads();
    add_parts(gain_sums, 64, gain_gradient);
  }

  /// Through the projection: what the gradients of attention need, and the gradient of its output
  /// in unit 2.
  __device__ void projection_backward(int layer) {
    ask_for(attention_settings(layer).words, 8 * kHeads * kMaskTiles);
    ask_for(kept(layer) + Saved::kX, 4 * kUnit);
    ask_for(kept(layer) + Saved::kInverse1, 8 * kPositions);
    begin_copy(kept(layer) + Saved::kAttended, unit(1), kUnit);
    begin_copy(kept(layer) + Saved::kQkv + 2 * kUnit, unit(3), kUnit);
    {
      Fragments dx;
      fetch(place, dx, gradient_stream());
      leave_sums(place, dx, 16 * place.group, sums() + 64);
      store_for_products<kPrecision>(place, dx, 16 * place.group, unit(0));
    }
    Ahead ahead;
    ahead.load(back(layer) + Layout::kProjection + 1024 * place.group, place.lane);
    arrived();
    __syncthreads();
    add_parts(sums() + 64, 64, gradient(layer) + Layout::kProjectionBias);
    {
      Fragments dout;
      start_with(dout, 0.0F, 0.0F);
      multiply<8, kPrecision>(place, ahead, back(layer) + Layout::kProjection + 1024 * place.group,
                              unit(0), dout);
      store<kPrecision>(place, dout, 16 * place.group, unit(2));
    }
    square_gradient(unit(0), unit(1), gradient(layer) + Layout::kProjection);
    __syncthreads();
    begin_copy(kept(layer) + Saved::kQkv, unit(0), kUnit);
    Heads::dots(unit(1), unit(2), kept(layer) + Saved::kLogSums, dots());
    __syncthreads();
    begin_copy(kept(layer) + Saved::kQkv + kUnit, unit(1), kUnit);
    arrived();
    __syncthreads();
  }
  /// The gradient of x2 becomes that of x, by the gradients of queries, keys and values.
  __device__ void qkv_backward(int layer) {
    if (layer > 0) {
      ask_for(kept(layer - 1) + Saved::kHiddenUnits, 8 * kUnit);
      ask_for(kept(layer - 1) + Saved::kX2, 4 * kUnit);
      ask_for(kept(layer - 1) + Saved::kInverse1, 8 * kPositions);
      ask_for(context().mlp_masks + (layer - 1) * Masks::kMlpBytes, Masks::kMlpBytes);
      ask_for(back(layer - 1) + Layout::kMlpIn, 4 * (Layout::kQkvBias - Layout::kMlpIn));
    }
    Heads::store_query_gradient(place, dquery(), unit(0));
    {
      Fragments x;
      Inverses r;
      fetch(place, x, kept(layer) + Saved::kX);
      fetch_inverses(kept(layer) + Saved::kInverse1, r);
      norm_again(x, weights(layer) + Layout::kNorm1, r, unit(2));
    }
    __syncthreads();
    column_sums();
    weight_gradient<3, 4, 4, kWidth, kPrecision, kUnroll, true>(place, unit(0), place.warp & 3,
                                                                unit(2), 4 * (place.warp >> 2),
                                                                gradient(layer) + Layout::kQkv);
    Ahead ahead;
    Fragments dy;
    start_with(dy, 0.0F, 0.0F);
    const float* qkv = back(layer) + Layout::kQkv + 3072 * place.group;
    ahead.load(qkv, place.lane);
    multiply<24, kPrecision, true>(place, ahead, qkv, unit(0), dy);
    pass_norm(dy, kept(layer) + Saved::kX, kept(layer) + Saved::kInverse1,
              weights(layer) + Layout::kNorm1, gradient(layer) + Layout::kNorm1, sums() + 128);
    const int thread = thread_again();
    if (thread < 192) {
      // A bias of the keys adds the same to all scores of a query: its gradient is zero.
      const float* parts = shared_memory + Shared::kColumnSums;
      const int column = thread < 64 ? thread : thread - 64;
      float sum = 0.0F;
      if (thread / 64 != 1)
#pragma unroll
        for (int k = 0; k < Shared::kColumnParts; ++k) sum += parts[128 * k + column];
      __stcs(gradient(layer) + Layout::kQkvBias + thread, sum);
    }
  }

  /// Sums over the positions of the features of units 0 and 3.
  __device__ __forceinline__ void column_sums() {
    constexpr int kRows = kPositions / Shared::kColumnParts;
    const int thread = thread_again();
    const int feature = thread & 63;
    const int which = (thread >> 6) & 1;
    const int column_part = thread >> 7;
    const float* from = unit(3 * which);
    float sum = 0.0F;
#pragma unroll 4
    for (int p = column_part * kRows; p < (column_part + 1) * kRows; ++p)
      sum += from[at(p, feature)];
    shared_memory[Shared::kColumnSums + 128 * column_part + 64 * which + feature] = sum;
  }

  __device__ void write_embedded() {
    Fragments x;
    fetch(place, x, gradient_stream());
    float* to = context().partial + context().layout.embedded();
    for_tiles(place, [&](int j, int tile) {
      const int p = place.position(tile, 0);
      to[p * kWidth + row] = x[j][0];
      to[(p + 1) * kWidth + row] = x[j][1];
      to[p * kWidth + row + 8] = x[j][2];
      to[(p + 1) * kWidth + row + 8] = x[j][3];
    });
  }

  static __device__ __forceinline__ void attention_backward(int layer) {
    const AttentionSettings settings = attention_settings(layer);
    if constexpr (kHeads == 1) {
      Heads::one_head_gradients(settings, dots(), dquery());
    } else {
      Heads::query_gradient(settings, dots(), dquery());
      __syncthreads();
      Heads::key_value_gradient(settings, dots());
      __syncthreads();
    }
  }

  static __device__ __forceinline__ void run(const SequenceArguments& args,
                                             const Trainee& trainee) {
    SequencePass().embed(args, trainee);
#pragma unroll 1
    for (int layer = 0; layer < args.layout.layers; ++layer) {
      SequencePass().prepare_attention(layer);
      Heads::forward(attention_settings(layer), kept(layer) + Saved::kLogSums);
      SequencePass().finish_layer(layer);
    }
    SequencePass().compare();
    if (!args.training) return;
    SequencePass().judge_backward();
#pragma unroll 1
    for (int layer = args.layout.layers - 1; layer >= 0; --layer) {
      SequencePass().mlp_backward(layer);
      SequencePass().projection_backward(layer);
      attention_backward(layer);
      SequencePass().qkv_backward(layer);
    }
    SequencePass().write_embedded();
  }
};

constexpr int kSequencesAtOnce = 2;  ///< on a multiprocessor
template <int kHead, Precision kPrecision>
__global__ void __launch_bounds__(kThreads, kSequencesAtOnce)
    sequence_kernel(const __grid_constant__ SequenceArguments arguments) {
  const int sequence = static_cast<int>(blockIdx.x);
  const Trainee& trainee = arguments.trainees[sequence / arguments.batch];
  if (sequence % arguments.batch >= trainee.count(arguments.batch)) return;
  SequencePass<kHead, kPrecision>::run(arguments, trainee);
}

}  // namespace synergraph::cuda
