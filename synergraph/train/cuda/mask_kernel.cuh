#pragma once

#include "synergraph/train/cuda/trainee.h"

// Draws the dropout masks of a training step, the same bits as the CPU draws. One block of
// threads has one layer of one sequence. Attention masks are drawn row by row into shared memory
// and written as words that a tile of eight queries and eight keys needs together. The integer
// multiplications of Philox limit it.

namespace synergraph::cuda {

/// What the masks of a step are drawn from. See Dropout for the numbers, and Masks for the layout.
struct MaskArguments {
  Layout layout;
  Masks mask_layout;
  int batch;
  std::uint32_t purpose;
  std::uint32_t threshold;
  const Trainee* trainees;
  std::uint32_t* attention_masks;
  std::uint8_t* mlp_masks;
};

/// Philox4x32-10.
__device__ inline uint4 philox(uint4 counter, std::uint64_t seed) {
  auto key0 = static_cast<std::uint32_t>(seed);
  auto key1 = static_cast<std::uint32_t>(seed >> 32U);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * counter.x;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * counter.z;
    counter = make_uint4(
        static_cast<std::uint32_t>(p1 >> 32U) ^ key0 ^ counter.y, static_cast<std::uint32_t>(p1),
        static_cast<std::uint32_t>(p0 >> 32U) ^ key1 ^ counter.w, static_cast<std::uint32_t>(p0));
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return counter;
}

constexpr int kMaskThreads = 256;

/// Bytes of shared memory of mask_kernel.
SYNERGRAPH_HD inline int mask_memory(int heads) {
  return heads * 8 * kMaskTiles + Masks::kMlpBytes + 512;
}

/// `count` bytes of a mask from byte `first` on; first is a multiple of 8. Each group of eight
/// threads draws eight bytes.
__device__ inline void draw_bytes(const MaskArguments& args, std::uint64_t seed, std::uint32_t step,
                                  std::uint64_t first, int count, std::uint8_t* bytes) {
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread & 31;
  // Whole warps: all threads take part in every vote.
  for (int k = thread; k < (count + 31) / 32 * 32; k += kMaskThreads) {
    const std::uint64_t block = first + static_cast<std::uint64_t>(k);
    const uint4 words =
        philox(make_uint4(static_cast<std::uint32_t>(block),
                          static_cast<std::uint32_t>(block >> 32U), step, args.purpose),
               seed);
    const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
    std::uint32_t mine = 0;
#pragma unroll
    for (int half = 0; half < 8; ++half) {
      const std::uint32_t value = (word[half / 2] >> (16 * (half % 2))) & 0xFFFFU;
      const std::uint32_t votes = __ballot_sync(0xFFFFFFFFU, value >= args.threshold);
      if ((lane & 7) == half) mine = (votes >> (lane & 24)) & 0xFFU;
    }
    if (k < count) bytes[k] = static_cast<std::uint8_t>(mine);
  }
}

extern __shared__ std::uint8_t mask_bytes[];

/// A block of threads for every layer (y) of every sequence (x) of every model.
__global__ void __launch_bounds__(kMaskThreads) mask_kernel(const MaskArguments args) {
  const int sequence = static_cast<int>(blockIdx.x);
  const int layer = static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x);
  const Trainee& trainee = args.trainees[sequence / args.batch];
  if (sequence % args.batch >= trainee.count(args.batch)) return;
  const std::uint64_t seed = trainee.seed;
  const std::uint32_t step = trainee.step;
  const auto place = static_cast<std::uint64_t>(sequence % args.batch);
  const std::uint64_t base = static_cast<std::uint64_t>(2 * layer) << 40U;
  const int length = args.layout.length;
  const int rows = (length + 7) / 8;  // of eight queries, or positions
  const int whole = length / 8;
  const int heads = args.layout.heads;
  const int head_bytes = whole * (whole + 1) / 2 * 8 + (rows > whole ? length : 0);
  const int attention_bytes = (heads * head_bytes + 7) / 8 * 8;
  draw_bytes(args, seed, step, base + place * static_cast<std::uint64_t>(attention_bytes),
             attention_bytes, mask_bytes);
  __syncthreads();
  const auto index = static_cast<std::size_t>(sequence) * args.layout.layers + layer;
  auto* words = reinterpret_cast<uint2*>(args.attention_masks + index * args.mask_layout.words());
  const int tiles = rows * (rows + 1) / 2;
  for (int k = thread; k < heads * tiles; k += kMaskThreads) {
    const int head = k / tiles;
    int row = 0;
    int tile = k % tiles;
    while (tile > row) tile -= ++row;
    const std::uint8_t* from = mask_bytes + head * head_bytes + row * (row + 1) / 2 * 8 + 8 * tile;
    std::uint32_t word[2] = {0, 0};
    for (int key = 0; key < 8; ++key) {
      if (8 * tile + key >= length) break;
      const std::uint32_t byte = from[key];
      // Bit r of the byte goes to bit 4r.
      std::uint32_t wide = (byte | (byte << 12U)) & 0x000F000FU;
      wide = (wide | (wide << 6U)) & 0x03030303U;
      wide = (wide | (wide << 3U)) & 0x11111111U;
      word[key % 2] |= wide << (key / 2);
    }
    words[head * kMaskTiles + row * (row + 1) / 2 + tile] = make_uint2(word[0], word[1]);
  }
  __syncthreads();
  const int mlp_bytes = (args.layout.width + 7) / 8 * 8 * rows;
  draw_bytes(args, seed, step,
             base + (std::uint64_t{1} << 40U) + place * static_cast<std::uint64_t>(mlp_bytes),
             mlp_bytes, mask_bytes);
  __syncthreads();
  std::uint8_t* to = args.mlp_masks + index * Masks::kMlpBytes;
  for (int k = thread; k < Masks::kMlpBytes; k += kMaskThreads) {
    const int tile = Masks::mlp_tile(k % Masks::kMlpRow);
    const int feature = k / Masks::kMlpRow;
    to[k] = feature < args.layout.width && tile < rows ? mask_bytes[feature * rows + tile] : 0;
  }
}

}  // namespace synergraph::cuda
