#pragma once

#include "synergraph/train/cuda/fragments.cuh"

// Writes the attention matrices of one sequence for measuring. One block of threads has one head
// of one layer: its queries and keys are computed again from the saved activations in float32,
// kept in shared memory, and each warp writes one row of weights at a time. Nothing is rounded
// for tensor cores, because the metrics are computed from these numbers. Writing the matrices
// limits it.

namespace synergraph::cuda {

/// What the attention of one sequence is made from, and where it goes.
struct AttentionOutput {
  Layout layout;
  Saved saved_layout;
  const float* parameters;
  const float* saved;  ///< what the sequence's forward pass left
  float* attention;    ///< (layers x heads x length x length)
};

constexpr int kAttentionThreads = 256;
constexpr int kKeysAtOnce = 32;
constexpr int kKeyRounds = (kPositions + kKeysAtOnce - 1) / kKeysAtOnce;

/// Shared memory of a head in a slot of `width` features, in floats. Rows of positions have one
/// more than they need: the same feature of 32 positions then lies in 32 banks.
struct AttentionShared {
  static constexpr int kNormedRow = kWidth + 1;
  int width;

  SYNERGRAPH_HD constexpr int row() const { return width + 1; }
  SYNERGRAPH_HD constexpr int normed() const {
    return width * kWidth;
  }  ///< after a matrix of the head
  SYNERGRAPH_HD constexpr int queries() const { return normed() + kPositions * kNormedRow; }
  SYNERGRAPH_HD constexpr int keys() const { return queries() + kPositions * row(); }
  SYNERGRAPH_HD constexpr int size() const { return keys() + kPositions * row(); }
};

/// Where keep() puts a feature of a position.
__device__ __forceinline__ int kept_at(int position, int feature) {
  const int lane = 4 * (feature % 8) + position % 8 / 2;
  const int entry = 2 * (feature % 16 / 8) + position % 2;
  return 4 * ((position / 8 * 4 + feature / 16) * 32 + lane) + entry;
}

/// The sum of the warp's values, or the largest.
template <bool kLargest>
__device__ __forceinline__ float of_warp(float value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xFFFFFFFFU, value, step);
    value = kLargest ? fmaxf(value, other) : value + other;
  }
  return value;
}

/// The queries (m = 0) or keys (m = 1) of a head, (positions x features), from what the layer was
/// given, normed.
__device__ __forceinline__ void project_head(const float* parameters, int length, int head, int m,
                                             const AttentionShared& shared, float* to) {
  float* matrix = shared_memory;
  const float* normed = shared_memory + shared.normed();
  const int first_row = kWidth * m + head * shared.width;
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < shared.width * kWidth; k += kAttentionThreads)
    matrix[k] =
        __ldg(parameters + Layout::kQkv + tiled(first_row + k / kWidth, k % kWidth, kWidth));
  __syncthreads();
  constexpr int kRoom = 128;  // for positions: a warp's threads have the same features
  for (int k = thread; k < kRoom * shared.width / 4; k += kAttentionThreads) {
    const int position = k % kRoom;
    const int feature = 4 * (k / kRoom);
    if (position >= length) continue;
    const float* x = normed + position * AttentionShared::kNormedRow;
    float sums[4];
#pragma unroll
    for (int e = 0; e < 4; ++e)
      sums[e] = __ldg(parameters + Layout::kQkvBias + first_row + feature + e);
#pragma unroll 4
    for (int c = 0; c < kWidth; c += 4)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float4 row = *reinterpret_cast<const float4*>(matrix + (feature + e) * kWidth + c);
        sums[e] += row.x * x[c];
        sums[e] += row.y * x[c + 1];
        sums[e] += row.z * x[c + 2];
        sums[e] += row.w * x[c + 3];
      }
#pragma unroll
    for (int e = 0; e < 4; ++e) to[position * shared.row() + feature + e] = sums[e];
  }
  __syncthreads();
}

/// The attention weights of head blockIdx.x of layer blockIdx.y, in float32: nothing is rounded for
/// tensor cores.
__global__ void __launch_bounds__(kAttentionThreads)
    attention_kernel(const __grid_constant__ AttentionOutput output) {
  const int head = static_cast<int>(blockIdx.x);
  const int layer = static_cast<int>(blockIdx.y);
  const int heads = output.layout.heads;
  const int length = output.layout.length;
  const AttentionShared shared{kWidth / output.saved_layout.slots};
  const float* parameters = output.parameters + output.layout.layer(layer);
  const float* saved = output.saved + layer * output.saved_layout.layer_size();
  float* normed = shared_memory + shared.normed();
  float* queries = shared_memory + shared.queries();
  float* keys = shared_memory + shared.keys();
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < length * kWidth; k += kAttentionThreads) {
    const int position = k / kWidth;
    const int feature = k % kWidth;
    normed[position * AttentionShared::kNormedRow + feature] =
        saved[Saved::kX + kept_at(position, feature)] * saved[Saved::kInverse1 + position] *
        __ldg(parameters + Layout::kNorm1 + feature);
  }
  project_head(parameters, length, head, 0, shared, queries);
  project_head(parameters, length, head, 1, shared, keys);

  // A warp a query, a thread a key and those 32, 64, ... further.
  const float scale = 1.0F / sqrtf(static_cast<float>(output.layout.head_width()));
  const int lane = thread % 32;
  float* to =
      output.attention + static_cast<std::ptrdiff_t>(layer * heads + head) * length * length;
  for (int query = thread / 32; query < length; query += kAttentionThreads / 32) {
    float weights[kKeyRounds];
#pragma unroll
    for (int r = 0; r < kKeyRounds; ++r) weights[r] = 0.0F;
    for (int feature = 0; feature < shared.width; ++feature) {
      const float q = queries[query * shared.row() + feature];
#pragma unroll
      for (int r = 0; r < kKeyRounds; ++r)
        weights[r] += q * keys[min(lane + kKeysAtOnce * r, query) * shared.row() + feature];
    }
    float largest = -HUGE_VALF;
#pragma unroll
    for (int r = 0; r < kKeyRounds; ++r) {
      weights[r] *= scale;
      if (lane + kKeysAtOnce * r <= query) largest = fmaxf(largest, weights[r]);
    }
    largest = of_warp<true>(largest);
    // A fused multiply-add would take the largest score, which is rounded, from one that is not: of
    // huge scores that is much.
    const bool steep = fabsf(largest) > 0x1.0p20F;
    float sum = 0.0F;
#pragma unroll
    for (int r = 0; r < kKeyRounds; ++r) {
      const float less = steep ? __fsub_rn(weights[r], largest) : weights[r] - largest;
      weights[r] = lane + kKeysAtOnce * r <= query ? expf(less) : 0.0F;
      sum += weights[r];
    }
    sum = of_warp<false>(sum);
#pragma unroll
    for (int r = 0; r < kKeyRounds; ++r)
      if (const int key = lane + kKeysAtOnce * r; key < length)
        to[query * length + key] = weights[r] / sum;
  }
}

}  // namespace synergraph::cuda
