#pragma once

#include "synergraph/train/cuda/attention.cuh"
#include "synergraph/train/cuda/trainee.h"

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
  bool training;  ///< false: nothing but losses and correct
  const Trainee* trainees;
  const std::uint32_t*
      attention_masks;            ///< all ones without dropout; (models x batch x layers x words())
  const std::uint8_t* mlp_masks;  ///< (models x batch x layers x kMlpBytes)
  float* saved;                   ///< (models x batch x saved_layout.size())
  float* partial;                 ///< (models x batch x layout.partial_size())
  double* losses;                 ///< (models x batch)
  std::int32_t* correct;
};

/// Shared memory of a sequence, in floats.
struct Shared {
  static constexpr int kUnits = 4;
  static constexpr int kPart = kUnits * kUnit;               ///< (positions x groups)
  static constexpr int kSums = kPart + 4 * kPositions;       ///< two halves of sums of rows
  static constexpr int kTargets = kSums + 2 * kSumRows;      ///< (positions)
  static constexpr int kAnswers = kTargets + kPositions;     ///< (positions)
  static constexpr int kColumnSums = kAnswers + kPositions;  ///< (2 x 128)
  static constexpr int kSize = kColumnSums + 256;
};

/// How a position's largest logit compares with the others.
struct Standing {
  float top;
  float rest;  ///< sum of exp(logit - top) over the others
  int best;    ///< the first that has it

  __device__ __forceinline__ void merge(Standing other) {
    const bool above = other.top > top || (other.top == top && other.best < best);
    const float high = above ? other.top : top;
    const float low = above ? top : other.top;
    const float behind = (above ? rest : other.rest) + 1.0F;
    rest = (above ? other.rest : rest) + behind * exp2_of((low - high) * kLog2E);
    best = above ? other.best : best;
    top = high;
  }
  static constexpr float kLog2E = 1.44269504088896341F;
};

/// Forward and backward pass of one sequence by one block of threads.
template <int kHead, Precision kPrecision>
struct SequencePass {
  using Heads = Attention<kHead, kPrecision>;

  const SequenceArguments& args;
  Place place;
  float* shared;
  int sequence;  ///< among all models'
  const std::int32_t* tokens;
  const std::int32_t* answers_wanted;
  float gradient_scale;
  const float* parameters;
  const float* transposed;
  float* saved;
  float* partial;
  int row;  ///< of the residual stream: 16 group + g; the other is row + 8

  __device__ SequencePass(const SequenceArguments& arguments, const Trainee& trainee, float* memory)
      : args(arguments), shared(memory), sequence(static_cast<int>(blockIdx.x)) {
    const auto index = static_cast<std::size_t>(sequence);
    const int length = args.layout.length;
    const int count = trainee.count(args.batch);
    const std::ptrdiff_t start =
        static_cast<std::ptrdiff_t>(trainee.sequence(args.batch, sequence % args.batch)) * length;
    tokens = trainee.inputs + start;
    answers_wanted = trainee.targets + start;
    gradient_scale = static_cast<float>(1.0 / (static_cast<double>(count) * length));
    parameters = trainee.parameters;
    transposed = trainee.transposed;
    saved = args.saved + index * args.saved_layout.size();
    partial = args.partial + index * args.layout.partial_size();
    row = 16 * place.group + place.g;
  }

  __device__ float* unit(int index) const { return shared + index * kUnit; }
  __device__ float* part() const { return shared + Shared::kPart; }
  __device__ float* sums() const { return shared + Shared::kSums; }
  __device__ std::int32_t* targets() const {
    return reinterpret_cast<std::int32_t*>(shared + Shared::kTargets);
  }
  __device__ float* answers() const { return shared + Shared::kAnswers; }
  __device__ const float* layer_parameters(int layer) const {
    return parameters + args.layout.layer(layer);
  }
  __device__ const float* layer_transposed(int layer) const {
    return transposed + args.layout.layer(layer);
  }
  __device__ float* layer_saved(int layer) const {
    return saved + static_cast<std::ptrdiff_t>(layer) * args.saved_layout.layer_size();
  }
  __device__ float* layer_partial(int layer) const { return partial + args.layout.layer(layer); }
  __device__ AttentionDropout attention_dropout(int layer) const {
    const auto index = static_cast<std::size_t>(sequence) * args.layout.layers + layer;
    return {reinterpret_cast<const uint2*>(args.attention_masks + index * args.mask_layout.words()),
            args.dropout ? args.dropout_scale : 1.0F};
  }
  /// Multiplies what is kept of rows `row` and `row` + 8 by the scale, the rest by zero.
  __device__ __forceinline__ void drop(int layer, Fragments& c) const {
    if (!args.dropout) return;
    const auto index = static_cast<std::size_t>(sequence) * args.layout.layers + layer;
    const std::uint8_t* bytes = args.mlp_masks + index * Masks::kMlpBytes + row * kTiles;
    for_tiles(place, [&](int j, int tile) {
      const unsigned byte0 = bytes[tile];
      const unsigned byte1 = bytes[8 * kTiles + tile];
      c[j][0] *= ((byte0 >> place.t) & 1U) != 0 ? args.dropout_scale : 0.0F;
      c[j][1] *= ((byte0 >> (place.t + 4)) & 1U) != 0 ? args.dropout_scale : 0.0F;
      c[j][2] *= ((byte1 >> place.t) & 1U) != 0 ? args.dropout_scale : 0.0F;
      c[j][3] *= ((byte1 >> (place.t + 4)) & 1U) != 0 ? args.dropout_scale : 0.0F;
    });
  }

  /// Where x goes when `layer` is the next: the residual stream, or after the last layer, and on
  /// the way back, its gradient.
  __device__ float* stream(int layer) const {
    return layer < args.layout.layers ? layer_saved(layer) + Saved::kX
                                      : saved + args.saved_layout.dx();
  }

  __device__ void embed() {
    Fragments x;
    const int length = args.layout.length;
    const float* token = parameters + args.layout.tokens();
    const float* position = parameters + args.layout.positions();
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = 8 * tile + place.t + 4 * e;
        x[j][e] = x[j][2 + e] = 0.0F;
        if (p < length) {
          const float* from = token + tokens[p] * kWidth + row;
          const float* at_position = position + p * kWidth + row;
          x[j][e] = from[0] + at_position[0];
          x[j][2 + e] = from[8] + at_position[8];
        }
      }
    });
    for (int p = static_cast<int>(threadIdx.x); p < kPositions; p += kThreads)
      targets()[p] = p < length ? answers_wanted[p] : -1;
    keep(place, x, stream(0));
  }

  /// Sums over the 64 features, of a value for each of the thread's positions: leaves them for
  /// summed(), which is to be called after a barrier.
  __device__ __forceinline__ void leave_parts(float (&values)[Place::kHalfTiles][2]) {
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float sum = values[j][e];
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 4);
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 8);
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 16);
        if (place.g == 0) part()[4 * (8 * tile + place.t + 4 * e) + place.group] = sum;
      }
    });
  }
  __device__ __forceinline__ float summed(int position) const {
    const float4 four = *reinterpret_cast<const float4*>(part() + 4 * position);
    return (four.x + four.y) + (four.z + four.w);
  }

  /// RMSNorm of x into a unit, with a barrier within. inverse (positions) gets the factors.
  __device__ void norm(const Fragments& x, const float* gain, float* to, float* inverse) {
    float squares[Place::kHalfTiles][2];
#pragma unroll
    for (int j = 0; j < Place::kHalfTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) squares[j][e] = x[j][e] * x[j][e] + x[j][2 + e] * x[j][2 + e];
    leave_parts(squares);
    __syncthreads();
    const float gain0 = gain[row];
    const float gain1 = gain[row + 8];
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = 8 * tile + place.t + 4 * e;
        const float r = 1.0F / sqrtf(summed(p) / kWidth + 0x1.0p-23F);
        to[at(p, row)] = operand<kPrecision>(x[j][e] * r * gain0);
        to[at(p, row + 8)] = operand<kPrecision>(x[j][2 + e] * r * gain1);
        if (place.group == 0 && place.g == 0) inverse[p] = r;
      }
    });
  }
  /// The same again from what the forward pass kept.
  __device__ void norm_again(const Fragments& x, const float* gain, const float* inverse,
                             float* to) {
    const float gain0 = gain[row];
    const float gain1 = gain[row + 8];
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = 8 * tile + place.t + 4 * e;
        const float r = inverse[p];
        to[at(p, row)] = operand<kPrecision>(x[j][e] * r * gain0);
        to[at(p, row + 8)] = operand<kPrecision>(x[j][2 + e] * r * gain1);
      }
    });
  }

  /// One layer. Every step ends with a barrier before its results are read.
  __device__ void forward_layer(int layer) {
    Fragments x = {};
    const float* weights = layer_parameters(layer);
    float* kept = layer_saved(layer);
    Ahead ahead;
    fetch(place, x, kept + Saved::kX);
    ahead.load(weights + Layout::kQkv + 1024 * place.group, place.lane);
    norm(x, weights + Layout::kNorm1, unit(3), kept + Saved::kInverse1);
    __syncthreads();
#pragma unroll 1
    for (int m = 0; m < 3; ++m) {
      const float* tiles = weights + Layout::kQkv + 1024 * (4 * m + place.group);
      const float* bias = weights + Layout::kQkvBias + 64 * m + row;
      Fragments c;
      start_with(c, bias[0], bias[8]);
      multiply<8, kPrecision>(place, ahead, tiles, unit(3), c);
      if (m < 2) ahead.load(tiles + 4096, place.lane);
      store<kPrecision>(place, c, 16 * place.group, unit(m));
    }
    __syncthreads();
    copy(unit(0), kept + Saved::kQkv, 3 * kUnit);
    __syncthreads();
    Heads::forward(unit(0), unit(1), unit(2), attention_dropout(layer), kept + Saved::kLogSums);
    const float* projection = weights + Layout::kProjection + 1024 * place.group;
    ahead.load(projection, place.lane);
    __syncthreads();
    fetch(place, x, kept + Saved::kX);
    add_bias(x, weights + Layout::kProjectionBias);
    multiply<8, kPrecision>(place, ahead, projection, unit(0), x);
    keep(place, x, kept + Saved::kX2);
    copy(unit(0), kept + Saved::kAttended, kUnit);
    const float* mlp_in = weights + Layout::kMlpIn + 1024 * place.group;
    ahead.load(mlp_in, place.lane);
    norm(x, weights + Layout::kNorm2, unit(3), kept + Saved::kInverse2);
    __syncthreads();
#pragma unroll 1
    for (int m = 0; m < 2; ++m) {
      const float* bias = weights + Layout::kMlpInBias + 64 * m + row;
      Fragments c;
      start_with(c, bias[0], bias[8]);
      multiply<8, kPrecision>(place, ahead, mlp_in + 4096 * m, unit(3), c);
      if (m < 1) ahead.load(mlp_in + 4096, place.lane);
#pragma unroll
      for (int j = 0; j < Place::kHalfTiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) c[j][e] = fmaxf(c[j][e], 0.0F);
      store<kPrecision>(place, c, 16 * place.group, unit(1 + m));
    }
    const float* mlp_out = weights + Layout::kMlpOut + 2048 * place.group;
    ahead.load(mlp_out, place.lane);
    __syncthreads();
    copy(unit(1), kept + Saved::kHiddenUnits, 2 * kUnit);
    Fragments c;
    const float* bias = weights + Layout::kMlpOutBias + row;
    start_with(c, bias[0], bias[8]);
    multiply<16, kPrecision>(place, ahead, mlp_out, unit(1), c);
    drop(layer, c);
    for_tiles(place, [&](int j, int) {
#pragma unroll
      for (int e = 0; e < 4; ++e) x[j][e] += c[j][e];
    });
    keep(place, x, stream(layer + 1));
  }

  __device__ __forceinline__ void add_bias(Fragments& x, const float* bias) {
    const float bias0 = bias[row];
    const float bias1 = bias[row + 8];
#pragma unroll
    for (int j = 0; j < Place::kHalfTiles; ++j) {
      x[j][0] += bias0;
      x[j][1] += bias0;
      x[j][2] += bias1;
      x[j][3] += bias1;
    }
  }

  /// The logits of 64 tokens, from unit 0.
  __device__ __forceinline__ void logits(int chunk, Ahead& ahead, Fragments& c) {
    const float* bias = parameters + args.layout.output_bias() + chunk * kChunk + row;
    start_with(c, bias[0], bias[8]);
    multiply<8, kPrecision>(place, ahead, output_tiles(chunk), unit(0), c);
  }
  __device__ __forceinline__ const float* output_tiles(int chunk) const {
    return parameters + args.layout.output() + 1024 * (4 * chunk + place.group);
  }

  /// Loss and its gradient: what the last layer gave becomes its gradient.
  __device__ void judge() {
    Fragments x;
    fetch(place, x, stream(args.layout.layers));
    const int chunks = args.layout.chunks();
    const int vocabulary = args.layout.vocabulary;
    Ahead ahead;
    ahead.load(output_tiles(0), place.lane);
    __syncthreads();
    store<kPrecision>(place, x, 16 * place.group, unit(0));
    __syncthreads();
    // Set one by one: the compiler fills an array of members with defaults with zeros instead.
    Standing standing[Place::kHalfTiles][2];
#pragma unroll
    for (int j = 0; j < Place::kHalfTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) standing[j][e] = {-3.0e38F, 0.0F, 0};
    for (int chunk = 0; chunk < chunks; ++chunk) {
      Fragments c;
      logits(chunk, ahead, c);
      ahead.load(output_tiles(chunk + 1 < chunks ? chunk + 1 : 0), place.lane);
      for_tiles(place, [&](int j, int tile) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int token = chunk * kChunk + row + 8 * (e >> 1);
          const int p = 8 * tile + place.t + 4 * (e & 1);
          if (token >= vocabulary) continue;
          standing[j][e & 1].merge({c[j][e], 0.0F, token});
          if (targets()[p] == token) answers()[p] = c[j][e];
        }
      });
    }
    auto* standings = reinterpret_cast<float4*>(unit(1));  // (positions x groups)
    for_tiles(place, [&](int j, int tile) {
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
        if (place.g == 0)
          standings[4 * (8 * tile + place.t + 4 * e) + place.group] =
              make_float4(mine.top, mine.rest, __int_as_float(mine.best), 0.0F);
      }
    });
    __syncthreads();
    if (place.warp == 0) write_loss(standings);
    if (!args.training) return;
    auto* ends = reinterpret_cast<float2*>(standings + 4 * kPositions);
    for (int p = static_cast<int>(threadIdx.x); p < kPositions; p += kThreads) {
      const Standing all = merged(standings + 4 * p);
      ends[p] = make_float2(all.top, gradient_scale / (1.0F + all.rest));
    }
    __syncthreads();
    start_with(x, 0.0F, 0.0F);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      float* gradient = unit(2 + (chunk & 1));
      Fragments c;
      logits(chunk, ahead, c);
      const float* back =
          transposed + args.layout.output() + 128 * (8 * chunks * place.group + 8 * chunk);
      for_tiles(place, [&](int j, int tile) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int token = chunk * kChunk + row + 8 * (e >> 1);
          const int p = 8 * tile + place.t + 4 * (e & 1);
          const int target = targets()[p];
          const float2 end = ends[p];
          float value = exp2_of((c[j][e] - end.x) * Standing::kLog2E) * end.y;
          if (target == token) value -= gradient_scale;
          c[j][e] = target < 0 || token >= vocabulary ? 0.0F : value;
        }
      });
      float* chunk_sums = sums() + 64 * (chunk & 1);
      leave_sums(place, c, 16 * place.group, chunk_sums);
      store<kPrecision>(place, c, 16 * place.group, gradient);
      __syncthreads();
      add_halves(chunk_sums, 64, partial + args.layout.output_bias() + chunk * kChunk);
      weight_gradient<2, 1, 2, kWidth, kPrecision>(
          place, gradient, 2 * (place.warp & 1), unit(0), 2 * (place.warp >> 1),
          partial + args.layout.output() + chunk * kChunk * kWidth);
      ahead.load(back, place.lane);
      multiply<8, kPrecision>(place, ahead, back, gradient, x);
      ahead.load(output_tiles(chunk + 1 < chunks ? chunk + 1 : 0), place.lane);
    }
    keep(place, x, stream(args.layout.layers));
    __syncthreads();
  }
  static __device__ __forceinline__ Standing merged(const float4* groups) {
    Standing all;
#pragma unroll
    for (int group = 0; group < 4; ++group) {
      const float4 one = groups[group];
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
  /// By one warp.
  __device__ void write_loss(const float4* standings) {
    double loss = 0.0;
    int correct = 0;
    for (int p = place.lane; p < args.layout.length; p += 32) {
      const Standing all = merged(standings + 4 * p);
      loss += log1p(static_cast<double>(all.rest)) + (all.top - answers()[p]);
      correct += all.best == targets()[p] ? 1 : 0;
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      loss += __shfl_xor_sync(0xFFFFFFFFU, loss, step);
      correct += __shfl_xor_sync(0xFFFFFFFFU, correct, step);
    }
    if (place.lane == 0) {
      args.losses[sequence] = loss;
      args.correct[sequence] = correct;
    }
  }

  /// Through RMSNorm: dx gets what dy passes on; the sums of the gain's gradient are left in
  /// gain_sums. Has a barrier within.
  __device__ void norm_backward(const Fragments& x, const float* gain, const float* inverse,
                                Fragments& dy, Fragments& dx, float* gain_sums) {
    const float gain0 = gain[row];
    const float gain1 = gain[row + 8];
    float products[Place::kHalfTiles][2];
#pragma unroll
    for (int j = 0; j < Place::kHalfTiles; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        products[j][e] = dy[j][e] * x[j][e] * gain0 + dy[j][2 + e] * x[j][2 + e] * gain1;
    leave_parts(products);
    __syncthreads();
    for_tiles(place, [&](int j, int tile) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int p = 8 * tile + place.t + 4 * e;
        const float r = inverse[p];
        const float shrink = summed(p) * r * r * r / kWidth;
        dx[j][e] += dy[j][e] * (r * gain0) - x[j][e] * shrink;
        dx[j][2 + e] += dy[j][2 + e] * (r * gain1) - x[j][2 + e] * shrink;
        dy[j][e] *= x[j][e] * r;
        dy[j][2 + e] *= x[j][2 + e] * r;
      }
    });
    leave_sums(place, dy, 16 * place.group, gain_sums);
  }

  /// The gradient of the layer's output becomes that of x2.
  __device__ void mlp_backward(int layer) {
    const float* weights = layer_parameters(layer);
    const float* back = layer_transposed(layer);
    const float* kept = layer_saved(layer);
    float* gradient = layer_partial(layer);
    begin_copy(kept + Saved::kHiddenUnits, unit(1), 2 * kUnit);
    {
      Fragments dy;
      fetch(place, dy, stream(args.layout.layers));
      drop(layer, dy);
      leave_sums(place, dy, 16 * place.group, sums());
      store<kPrecision>(place, dy, 16 * place.group, unit(0));
      fetch(place, dy, kept + Saved::kX2);
      norm_again(dy, weights + Layout::kNorm2, kept + Saved::kInverse2, unit(3));
    }
    arrived();
    __syncthreads();
    add_halves(sums(), 64, gradient + Layout::kMlpOutBias);
    weight_gradient<2, 1, 4, kHidden, kPrecision>(place, unit(0), 2 * (place.warp & 1), unit(1),
                                                  4 * (place.warp >> 1),
                                                  gradient + Layout::kMlpOut);
    // The gradient of the hidden features takes their place.
    Ahead ahead;
    ahead.load(back + Layout::kMlpOut + 1024 * place.group, place.lane);
    Fragments dhidden[2];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      const float* tiles = back + Layout::kMlpOut + 1024 * (4 * m + place.group);
      start_with(dhidden[m], 0.0F, 0.0F);
      multiply<8, kPrecision>(place, ahead, tiles, unit(0), dhidden[m]);
      if (m < 1) ahead.load(tiles + 4096, place.lane);
      const float* hidden = unit(1 + m);
      for_tiles(place, [&](int j, int tile) {
        const int p = 8 * tile + place.t;
        if (!(hidden[at(p, row)] > 0.0F)) dhidden[m][j][0] = 0.0F;
        if (!(hidden[at(p + 4, row)] > 0.0F)) dhidden[m][j][1] = 0.0F;
        if (!(hidden[at(p, row + 8)] > 0.0F)) dhidden[m][j][2] = 0.0F;
        if (!(hidden[at(p + 4, row + 8)] > 0.0F)) dhidden[m][j][3] = 0.0F;
      });
      leave_sums(place, dhidden[m], 64 * m + 16 * place.group, sums() + 64);
    }
    __syncthreads();
    store<kPrecision>(place, dhidden[0], 16 * place.group, unit(1));
    store<kPrecision>(place, dhidden[1], 16 * place.group, unit(2));
    add_halves(sums() + 64, 128, gradient + Layout::kMlpInBias);
    __syncthreads();
    weight_gradient<2, 1, 4, kWidth, kPrecision>(place, unit(1), 2 * (place.warp & 3), unit(3),
                                                 4 * (place.warp >> 2), gradient + Layout::kMlpIn);
    Fragments dy;
    start_with(dy, 0.0F, 0.0F);
    const float* mlp_in = back + Layout::kMlpIn + 2048 * place.group;
    ahead.load(mlp_in, place.lane);
    multiply<16, kPrecision>(place, ahead, mlp_in, unit(1), dy);
    Fragments x2;
    fetch(place, x2, kept + Saved::kX2);
    Fragments dx;
    fetch(place, dx, stream(args.layout.layers));
    norm_backward(x2, weights + Layout::kNorm2, kept + Saved::kInverse2, dy, dx, sums() + 192);
    keep(place, dx, stream(args.layout.layers));
    __syncthreads();
    add_halves(sums() + 192, 64, gradient + Layout::kNorm2);
  }

  /// The gradient of x2 becomes that of x.
  __device__ void attention_backward(int layer) {
    const float* weights = layer_parameters(layer);
    const float* back = layer_transposed(layer);
    const float* kept = layer_saved(layer);
    float* gradient = layer_partial(layer);
    float* dots = saved + args.saved_layout.dots();
    float* dquery = saved + args.saved_layout.dquery();
    begin_copy(kept + Saved::kAttended, unit(1), kUnit);
    begin_copy(kept + Saved::kQkv + 2 * kUnit, unit(3), kUnit);
    {
      Fragments dx;
      fetch(place, dx, stream(args.layout.layers));
      leave_sums(place, dx, 16 * place.group, sums() + 256);
      store<kPrecision>(place, dx, 16 * place.group, unit(0));
    }
    arrived();
    __syncthreads();
    add_halves(sums() + 256, 64, gradient + Layout::kProjectionBias);
    weight_gradient<2, 1, 2, kWidth, kPrecision>(place, unit(0), 2 * (place.warp & 1), unit(1),
                                                 2 * (place.warp >> 1),
                                                 gradient + Layout::kProjection);
    {
      Fragments dout;
      start_with(dout, 0.0F, 0.0F);
      const float* projection = back + Layout::kProjection + 1024 * place.group;
      Ahead ahead;
      ahead.load(projection, place.lane);
      multiply<8, kPrecision>(place, ahead, projection, unit(0), dout);
      store<kPrecision>(place, dout, 16 * place.group, unit(2));
    }
    __syncthreads();
    begin_copy(kept + Saved::kQkv, unit(0), kUnit);
    Heads::dots(unit(1), unit(2), kept + Saved::kLogSums, dots);
    __syncthreads();
    begin_copy(kept + Saved::kQkv + kUnit, unit(1), kUnit);
    arrived();
    __syncthreads();
    const AttentionDropout dropout = attention_dropout(layer);
    Heads::query_gradient(unit(0), unit(1), unit(3), unit(2), dropout, dots, dquery);
    __syncthreads();
    Heads::key_value_gradient(unit(0), unit(1), unit(3), unit(2), dropout, dots);
    __syncthreads();
    Heads::store_query_gradient(place, dquery, unit(0));
    // The units of the three gradients are to follow each other: the values' go to unit 2.
    copy(unit(3), unit(2), kUnit);
    __syncthreads();
    {
      Fragments x;
      fetch(place, x, kept + Saved::kX);
      norm_again(x, weights + Layout::kNorm1, kept + Saved::kInverse1, unit(3));
    }
    column_sums();
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < 192) {
      // A bias of the keys adds the same to all scores of a query: its gradient is zero.
      const float* halves = shared + Shared::kColumnSums;
      const int column = thread < 64 ? thread : thread - 64;
      gradient[Layout::kQkvBias + thread] =
          thread / 64 == 1 ? 0.0F : halves[column] + halves[128 + column];
    }
    weight_gradient<3, 4, 4, kWidth, kPrecision>(place, unit(0), place.warp & 3, unit(3),
                                                 4 * (place.warp >> 2), gradient + Layout::kQkv);
    Fragments dy;
    start_with(dy, 0.0F, 0.0F);
    const float* qkv = back + Layout::kQkv + 3072 * place.group;
    Ahead ahead;
    ahead.load(qkv, place.lane);
    multiply<24, kPrecision>(place, ahead, qkv, unit(0), dy);
    Fragments x;
    Fragments dx;
    fetch(place, x, kept + Saved::kX);
    fetch(place, dx, stream(args.layout.layers));
    norm_backward(x, weights + Layout::kNorm1, kept + Saved::kInverse1, dy, dx, sums() + 320);
    keep(place, dx, stream(args.layout.layers));
    __syncthreads();
    add_halves(sums() + 320, 64, gradient + Layout::kNorm1);
  }

  /// Sums over the positions of the features of units 0 and 2.
  __device__ void column_sums() {
    const int thread = static_cast<int>(threadIdx.x);
    const int feature = thread & 63;
    const int which = (thread >> 6) & 1;
    const int half = thread >> 7;
    const float* from = unit(2 * which);
    float sum = 0.0F;
#pragma unroll 4
    for (int p = half * (kPositions / 2); p < (half + 1) * (kPositions / 2); ++p)
      sum += from[at(p, feature)];
    shared[Shared::kColumnSums + 128 * half + 64 * which + feature] = sum;
  }

  __device__ void write_embedded() {
    Fragments x;
    fetch(place, x, stream(args.layout.layers));
    float* to = partial + args.layout.embedded();
    for_tiles(place, [&](int j, int tile) {
      const int p = 8 * tile + place.t;
      to[p * kWidth + row] = x[j][0];
      to[(p + 4) * kWidth + row] = x[j][1];
      to[p * kWidth + row + 8] = x[j][2];
      to[(p + 4) * kWidth + row + 8] = x[j][3];
    });
  }

  // The parts are calls: each then has all registers to itself.
  static __device__ __noinline__ void do_forward(SequencePass pass, int layer) {
    pass.forward_layer(layer);
  }
  static __device__ __noinline__ void do_judge(SequencePass pass) {
    pass.judge();
  }
  static __device__ __noinline__ void do_mlp_backward(SequencePass pass, int layer) {
    pass.mlp_backward(layer);
  }
  static __device__ __noinline__ void do_attention_backward(SequencePass pass, int layer) {
    pass.attention_backward(layer);
  }

  __device__ void run() {
    embed();
    for (int layer = 0; layer < args.layout.layers; ++layer) do_forward(*this, layer);
    do_judge(*this);
    if (!args.training) return;
    for (int layer = args.layout.layers - 1; layer >= 0; --layer) {
      do_mlp_backward(*this, layer);
      do_attention_backward(*this, layer);
    }
    write_embedded();
  }
};

extern __shared__ __align__(1024) float shared_memory[];

template <int kHead, Precision kPrecision>
__global__ void __launch_bounds__(kThreads, 2)
    sequence_kernel(const __grid_constant__ SequenceArguments arguments) {
  const int sequence = static_cast<int>(blockIdx.x);
  const Trainee& trainee = arguments.trainees[sequence / arguments.batch];
  if (sequence % arguments.batch >= trainee.count(arguments.batch)) return;
  SequencePass<kHead, kPrecision>(arguments, trainee, shared_memory).run();
}

}  // namespace synergraph::cuda
