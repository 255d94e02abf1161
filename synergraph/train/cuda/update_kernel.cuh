#pragma once

#include "synergraph/train/cuda/fragments.cuh"
#include "synergraph/train/cuda/trainee.h"

// Adam's step for all models of a fleet. The gradients of a step's sequences are added up in
// order, so that results do not depend on scheduling; then parameters and moments are updated,
// and the operands that the sequence kernel reads are written. Embeddings have a kernel of their
// own: a warp gathers the positions of one token. Memory bandwidth limits both kernels.

namespace synergraph::cuda {

struct UpdateArguments {
  Layout layout;
  int batch;
  Precision precision;
  Trainee* trainees;
  const float* partial;  ///< (models x batch x partial_size())
};

/// Updates parameter p and its moments by gradient g.
__device__ __forceinline__ void adam(const Factors& f, float g, float& p, float& m, float& v) {
  m = f.beta1 * m + f.rest1 * g;
  v = f.beta2 * v + f.rest2 * (g * g);
  p -= f.rate * m / (sqrtf(v) * f.root + f.epsilon);
}

constexpr int kUpdateThreads = 128;

/// A matrix of a model.
struct MatrixPlace {
  int start, cols, rows;
};

/// The matrix that entry k of a layer or of the output belongs to; no rows if to none.
__device__ inline MatrixPlace matrix_at(const Layout& layout, int k) {
  if (k >= layout.output()) {
    if (k >= layout.output_bias()) return {0, 0, 0};
    return {layout.output(), kWidth, layout.chunks() * kChunk};
  }
  const int start = k / Layout::kLayer * Layout::kLayer;
  const int inside = k - start;
  if (inside < Layout::kProjection) return {start, kWidth, 3 * kWidth};
  if (inside < Layout::kMlpIn) return {start + Layout::kProjection, kWidth, kWidth};
  if (inside < Layout::kMlpOut) return {start + Layout::kMlpIn, kWidth, kHidden};
  if (inside < Layout::kQkvBias) return {start + Layout::kMlpOut, kHidden, kWidth};
  return {0, 0, 0};
}

/// Parameters up to this are taken. Rounding to TF32 makes a zero of what is no number, so that a
/// loss need not tell; but what is none in the residual stream makes gradients of the norms' gains
/// none, and so the gains. Within this bound queries, keys, values and hidden features are numbers:
/// sums of 64 products of at most 8 b^2 each, since a normed entry is at most 8 times a gain, and a
/// bias, times log2(e) at most, which is less than 2^127 for b = 2^58.
__device__ inline float largest_parameter(Precision precision) {
  return precision == Precision::kTf32 ? 0x1.0p58F : 0x1.fffffep127F;
}

/// Writes what products take of four parameters from entry k on, which one thread of a tile holds,
/// and notes in the trainee if one is beyond all that they take.
__device__ inline void write_operands(const UpdateArguments& args, const Trainee& trainee, int k,
                                      const float (&parameters)[4]) {
  const MatrixPlace matrix = matrix_at(args.layout, k);
  const float most = largest_parameter(args.precision);
  bool sound = true;
#pragma unroll
  for (int e = 0; e < 4; ++e) sound = sound && fabsf(parameters[e]) <= most;
  if (!sound) *trainee.broken = 1;
  float value[4];
#pragma unroll
  for (int e = 0; e < 4; ++e)
    value[e] = matrix.rows > 0 && args.precision == Precision::kTf32 ? rounded(parameters[e])
                                                                     : parameters[e];
  *reinterpret_cast<float4*>(trainee.operands + k) =
      make_float4(value[0], value[1], value[2], value[3]);
  if (matrix.rows == 0) return;
  const int inside = k - matrix.start;
  const int tile = inside / 128;
  const int thread = inside % 128 / 4;
  const int row = tile / (matrix.cols / 8) * 16 + thread / 4;
  const int col = tile % (matrix.cols / 8) * 8 + thread % 4;
#pragma unroll
  for (int e = 0; e < 4; ++e)
    trainee.transposed[matrix.start + tiled(col + 4 * (e >> 1), row + 8 * (e & 1), matrix.rows)] =
        value[e];
}

/// Writes what products take of models (y).
__global__ void __launch_bounds__(kUpdateThreads) operands_kernel(const UpdateArguments args) {
  const int k = 4 * static_cast<int>(blockIdx.x * kUpdateThreads + threadIdx.x);
  if (k >= args.layout.tokens()) return;
  const Trainee& trainee = args.trainees[blockIdx.y];
  const float4 p = *reinterpret_cast<const float4*>(trainee.parameters + k);
  write_operands(args, trainee, k, {p.x, p.y, p.z, p.w});
}

/// Sums the gradients of the sequences in order and does Adam's step, for all but the embeddings.
/// A thread takes four entries of a model (y).
__global__ void __launch_bounds__(kUpdateThreads) update_kernel(const UpdateArguments args) {
  const int k = 4 * static_cast<int>(blockIdx.x * kUpdateThreads + threadIdx.x);
  if (k >= args.layout.tokens()) return;
  const Trainee& trainee = args.trainees[blockIdx.y];
  const int count = trainee.count(args.batch);
  if (count == 0) return;
  const std::size_t stride = static_cast<std::size_t>(args.layout.partial_size()) / 4;
  const auto* from = reinterpret_cast<const float4*>(args.partial + k) +
                     static_cast<std::size_t>(blockIdx.y) * args.batch * stride;
  float g[4] = {};
#pragma unroll 10
  for (int s = 0; s < count; ++s) {
    const float4 part = __ldcs(from + s * stride);
    g[0] += part.x;
    g[1] += part.y;
    g[2] += part.z;
    g[3] += part.w;
  }
  const Factors factors = trainee.factors;
  const float4 p4 = *reinterpret_cast<const float4*>(trainee.parameters + k);
  const float4 m4 = *reinterpret_cast<const float4*>(trainee.first_moment + k);
  const float4 v4 = *reinterpret_cast<const float4*>(trainee.second_moment + k);
  float p[4] = {p4.x, p4.y, p4.z, p4.w};
  float m[4] = {m4.x, m4.y, m4.z, m4.w};
  float v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
  for (int e = 0; e < 4; ++e) adam(factors, g[e], p[e], m[e], v[e]);
  *reinterpret_cast<float4*>(trainee.parameters + k) = make_float4(p[0], p[1], p[2], p[3]);
  *reinterpret_cast<float4*>(trainee.first_moment + k) = make_float4(m[0], m[1], m[2], m[3]);
  *reinterpret_cast<float4*>(trainee.second_moment + k) = make_float4(v[0], v[1], v[2], v[3]);
  if (trainee.gradient != nullptr)
    *reinterpret_cast<float4*>(trainee.gradient + k) = make_float4(g[0], g[1], g[2], g[3]);
  write_operands(args, trainee, k, p);
}

/// The same for the embeddings: a warp takes a row of the tokens' or of the positions' (x) of a
/// model (y), and two features a thread.
__global__ void __launch_bounds__(kUpdateThreads) embedding_kernel(const UpdateArguments args) {
  const Layout& layout = args.layout;
  const Trainee& trainee = args.trainees[blockIdx.y];
  const int count = trainee.count(args.batch);
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int row = static_cast<int>(blockIdx.x * (kUpdateThreads / 32) + threadIdx.x / 32);
  if (row >= layout.vocabulary + layout.length || count == 0) return;
  const std::size_t stride = static_cast<std::size_t>(layout.partial_size());
  const float* dx = args.partial + static_cast<std::size_t>(blockIdx.y) * args.batch * stride +
                    layout.embedded() + 2 * lane;
  float g[2] = {};
  const auto add = [&](int place, int position) {
    const float2 part = *reinterpret_cast<const float2*>(
        dx + static_cast<std::size_t>(place) * stride + position * kWidth);
    g[0] += part.x;
    g[1] += part.y;
  };
  if (row >= layout.vocabulary) {
#pragma unroll 10
    for (int s = 0; s < count; ++s) add(s, row - layout.vocabulary);
  } else {
#pragma unroll 1
    for (int s = 0; s < count; ++s) {
      const std::int32_t* tokens =
          trainee.inputs +
          static_cast<std::ptrdiff_t>(trainee.sequence(args.batch, s)) * layout.length;
      std::uint32_t found[(kPositions + 31) / 32];
#pragma unroll
      for (int u = 0; u < (kPositions + 31) / 32; ++u) {
        const int p = 32 * u + lane;
        found[u] = __ballot_sync(0xFFFFFFFFU,
                                 p < layout.length && tokens[min(p, layout.length - 1)] == row);
      }
#pragma unroll
      for (int u = 0; u < (kPositions + 31) / 32; ++u)
        for (std::uint32_t left = found[u]; left != 0; left &= left - 1)
          add(s, 32 * u + __ffs(static_cast<int>(left)) - 1);
    }
  }
  const Factors factors = trainee.factors;
  const int start = layout.tokens() + row * kWidth + 2 * lane;
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    adam(factors, g[e], trainee.parameters[start + e], trainee.first_moment[start + e],
         trainee.second_moment[start + e]);
    if (trainee.gradient != nullptr) trainee.gradient[start + e] = g[e];
  }
}

/// What is needed between steps.
struct TurnArguments {
  double learning_rate, beta1, beta2, epsilon;
  int batch;
  int models;
  int rounds;  ///< the most steps that a model has
  Trainee* trainees;
  const double* losses;  ///< (models x batch)
  const std::int32_t* correct;
  double* round_losses;  ///< (models x rounds): sums over the sequences
  std::int64_t* round_correct;
};

/// Between two steps: notes the results of the last one and gets ready for the next. A thread a
/// model.
__global__ void turn_kernel(const TurnArguments args) {
  const int model = static_cast<int>(blockIdx.x * kUpdateThreads + threadIdx.x);
  if (model >= args.models) return;
  Trainee& trainee = args.trainees[model];
  if (trainee.round >= 0) {
    const int count = trainee.count(args.batch);
    double loss = 0.0;
    std::int64_t correct = 0;
#pragma unroll 10
    for (int s = 0; s < count; ++s) {
      loss += args.losses[model * args.batch + s];
      correct += args.correct[model * args.batch + s];
    }
    if (trainee.was_broken != 0) loss = __longlong_as_double(0x7FF8000000000000LL);
    if (count > 0) {
      args.round_losses[model * args.rounds + trainee.round] = loss;
      args.round_correct[model * args.rounds + trainee.round] = correct;
      ++trainee.step;
    }
  }
  ++trainee.round;
  trainee.was_broken = trainee.broken != nullptr ? *trainee.broken : 0;
  const double next = trainee.step + 1.0;
  trainee.factors = {static_cast<float>(args.beta1),
                     static_cast<float>(args.beta2),
                     static_cast<float>(1.0 - args.beta1),
                     static_cast<float>(1.0 - args.beta2),
                     static_cast<float>(args.learning_rate / (1.0 - pow(args.beta1, next))),
                     static_cast<float>(1.0 / sqrt(1.0 - pow(args.beta2, next))),
                     static_cast<float>(args.epsilon)};
}

}  // namespace synergraph::cuda
