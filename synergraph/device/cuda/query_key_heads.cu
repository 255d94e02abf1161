#include "synergraph/device/cuda/query_key_heads.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "synergraph/device/cuda/large_kernels.h"
#include "synergraph/device/cuda/launch.cuh"

// Attention from queries and keys, a part of it at a time, because all of it would not fit. Scores
// of float16 and bfloat16 are products on tensor cores that add up in float32; of float32, chains
// of multiply-adds. One pass over all keys of a row finds its largest score, a second the sum of
// what is made of the scores; both keep nothing. Later passes make the entries again, from the same
// products in the same order, and so with the same bits. What limits them: the writing of float32
// entries for wide heads and the exponentials for narrow ones.

namespace synergraph::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kRows = 64;          // of a tile: 16 for each of four warps
constexpr int kKeysAtATime = 128;  // when rows are weighed
constexpr double kLog2E = 1.4426950408889634;

/// Columns of a tile of entries: the keys of a strip, as far as shared memory has room.
template <class T>
constexpr int kColumns = sizeof(T) == 2 ? 256 : 128;

/// What a kernel must know of a system. Scores are `sign` times the products, through the soft cap;
/// entries are exp2(slope * (score - largest)).
struct Scores {
  const void* const* queries;
  const void* const* keys;
  float* most;
  std::int64_t query_stride;
  std::int64_t key_stride;
  int nodes;
  int width;
  int padded;  // width, up to the next multiple of 16
  int window;  // at least 1; nodes where there is none
  float sign;
  float slope;
  float cap;           // 0: none
  float inside_cap;    // what a product is multiplied by before tanh
  const float* sinks;  // learned logits, of every head; null: none
};

/// Elements from one row to the next in shared memory: rows begin in different banks.
template <class T>
__host__ __device__ int pitch_of(int padded) {
  return padded + 16 / static_cast<int>(sizeof(T));
}

// Both round after every operation: no compiler joins a product and a sum in one kernel and not in
// another, so the same scores give the same bits.
__device__ float score_of(const Scores& scores, float product) {
  if (scores.cap == 0.0F) return scores.sign * product;
  return __fmul_rn(scores.cap, tanhf(__fmul_rn(product, scores.inside_cap)));
}

__device__ float entry_of(const Scores& scores, float score, float most) {
  return exp2f(__fmul_rn(__fsub_rn(score, most), scores.slope));
}

__device__ bool allowed(const Scores& scores, int i, int j) {
  return j <= i && j > i - scores.window;
}

/// Rows first .. first + count - 1 of queries or keys to shared memory, zeros where there are none.
template <class T>
__device__ void load_rows(T* to, const Scores& scores, const void* from, std::int64_t stride,
                          int first, int count) {
  constexpr int kEach = 16 / sizeof(T);
  const int pitch = pitch_of<T>(scores.padded);
  const int pieces = scores.padded / kEach;
  const auto* bytes = static_cast<const std::byte*>(from);
  const bool whole = scores.width % kEach == 0 && stride % 16 == 0 &&
                     reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  for (int k = static_cast<int>(threadIdx.x); k < count * pieces; k += kThreads) {
    const int row = k / pieces;
    const int at = k % pieces * kEach;
    T* place = to + row * pitch + at;
    const std::byte* source = bytes + (first + row) * stride + at * static_cast<int>(sizeof(T));
    if (first + row < scores.nodes && whole && at < scores.width) {
      *reinterpret_cast<uint4*>(place) = *reinterpret_cast<const uint4*>(source);
    } else {
      for (int e = 0; e < kEach; ++e)
        place[e] = first + row < scores.nodes && at + e < scores.width
                       ? reinterpret_cast<const T*>(source)[e]
                       : T(0.0F);
    }
  }
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                             __half /*element*/) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                             __nv_bfloat16 /*element*/) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Four 8 x 8 matrices of two-byte elements; a lane gives the address of a row of 16 bytes.
__device__ void load_matrices(unsigned (&to)[4], const void* row) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address));
}

/// Products of a warp's 16 queries with kTiles x 8 keys. Lane 4 g + t gets those of queries g (the
/// first two) and g + 8 with keys 2 t and 2 t + 1 of every tile.
template <class T, int kTiles>
__device__ void multiply(float (&products)[kTiles][4], const T* queries, const T* keys,
                         const Scores& scores) {
  const int pitch = pitch_of<T>(scores.padded);
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int e = 0; e < 4; ++e) products[tile][e] = 0.0F;
  if constexpr (std::is_same_v<T, float>) {
    const float* low = queries + lane / 4 * pitch;
    const float* high = low + 8 * pitch;
    const float* key = keys + 2 * (lane % 4) * pitch;
    for (int k = 0; k < scores.width; ++k) {
      const float a = low[k];
      const float b = high[k];
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile) {
        const float x = key[8 * tile * pitch + k];
        const float y = key[(8 * tile + 1) * pitch + k];
        products[tile][0] = fmaf(a, x, products[tile][0]);
        products[tile][1] = fmaf(a, y, products[tile][1]);
        products[tile][2] = fmaf(b, x, products[tile][2]);
        products[tile][3] = fmaf(b, y, products[tile][3]);
      }
    }
  } else {
    static_assert(kTiles % 2 == 0);
    const T* query = queries + lane % 16 * pitch + lane / 16 * 8;
    const T* key = keys + (lane % 8 + lane / 16 * 8) * pitch + lane / 8 % 2 * 8;
    for (int k = 0; k < scores.padded; k += 16) {
      unsigned a[4];
      load_matrices(a, query + k);
#pragma unroll
      for (int tile = 0; tile < kTiles; tile += 2) {
        unsigned b[4];
        load_matrices(b, key + 8 * tile * pitch + k);
        multiply_add(products[tile], a, b[0], b[1], T{});
        multiply_add(products[tile + 1], a, b[2], b[3], T{});
      }
    }
  }
}

/// Calls visit(which of two queries, key, product) for every product of a lane; keys count from the
/// warp's first.
template <int kTiles, class Visit>
__device__ void visit_products(const float (&products)[kTiles][4], Visit visit) {
  const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
    for (int e = 0; e < 4; ++e) visit(e / 2, 8 * tile + 2 * t + e % 2, products[tile][e]);
}

/// Largest scores and sums of kRows rows of a head. Warps 0 to 3 have 16 rows each and the first
/// half of the keys at hand, warps 4 to 7 the same rows and the other half.
template <class T>
__global__ __launch_bounds__(kThreads) void weigh_rows(Scores scores, const SumsJob* jobs) {
  extern __shared__ uint4 shared[];
  __shared__ float mosts[2][kRows];
  __shared__ double downs[2][kRows];
  __shared__ double owns[kRows];
  const int head = static_cast<int>(blockIdx.y);
  // Long rows first.
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;
  T* queries = reinterpret_cast<T*>(shared);
  T* keys = queries + kRows * pitch_of<T>(scores.padded);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int half = warp / 4;
  const int row = warp % 4 * 16 + lane / 4;  // and row + 8
  constexpr int kTiles = kKeysAtATime / 16;
  const T* own_queries = queries + warp % 4 * 16 * pitch_of<T>(scores.padded);
  const T* own_keys = keys + half * 8 * kTiles * pitch_of<T>(scores.padded);
  load_rows(queries, scores, scores.queries[head], scores.query_stride, first, kRows);
  const int begin = max(0, first - scores.window + 1) / kKeysAtATime * kKeysAtATime;
  const int end = min(first + kRows, scores.nodes);
  const auto over_keys = [&](auto visit) {
    for (int j0 = begin; j0 < end; j0 += kKeysAtATime) {
      __syncthreads();
      load_rows(keys, scores, scores.keys[head], scores.key_stride, j0, kKeysAtATime);
      __syncthreads();
      float products[kTiles][4];
      multiply<T, kTiles>(products, own_queries, own_keys, scores);
      visit_products(products, [&](int which, int j, float product) {
        const int i = first + row + 8 * which;
        const int key = j0 + half * 8 * kTiles + j;
        if (allowed(scores, i, key)) visit(which, i, key, score_of(scores, product));
      });
    }
  };
  float most[2] = {-INFINITY, -INFINITY};
  over_keys([&](int which, int /*i*/, int /*j*/, float score) {
    most[which] = fmaxf(most[which], score);
  });
  for (int which = 0; which < 2; ++which) {
    most[which] = fmaxf(most[which], __shfl_xor_sync(~0U, most[which], 1));
    most[which] = fmaxf(most[which], __shfl_xor_sync(~0U, most[which], 2));
    if (lane % 4 == 0) mosts[half][row + 8 * which] = most[which];
  }
  __syncthreads();
  for (int which = 0; which < 2; ++which)
    most[which] = fmaxf(mosts[0][row + 8 * which], mosts[1][row + 8 * which]);
  double down[2] = {};
  over_keys([&](int which, int i, int j, float score) {
    const double entry = entry_of(scores, score, most[which]);
    if (i == j)
      owns[i - first] = entry;
    else
      down[which] += entry;
  });
  for (int which = 0; which < 2; ++which) {
    down[which] += __shfl_xor_sync(~0U, down[which], 1);
    down[which] += __shfl_xor_sync(~0U, down[which], 2);
    if (lane % 4 == 0) downs[half][row + 8 * which] = down[which];
  }
  __syncthreads();
  const int r = static_cast<int>(threadIdx.x);
  const int i = first + r;
  if (r >= kRows || i >= scores.nodes) return;
  const MatrixSums& sums = jobs[head].sums;
  const float most_of_row = fmaxf(mosts[0][r], mosts[1][r]);
  // A learned sink takes part in the softmax and keeps what it gets.
  const double sink =
      scores.sinks == nullptr
          ? 0.0
          : exp2(kLog2E * double{scores.sinks[head]} - double{most_of_row} * double{scores.slope});
  const double below = downs[0][r] + downs[1][r] + sink;
  const double whole = below + owns[r];
  scores.most[static_cast<std::int64_t>(head) * scores.nodes + i] = most_of_row;
  sums.whole[i] = 1.0;
  sums.scale[i] = 1.0 / whole;
  sums.down[i] = below;
  sums.diagonal[i] = owns[r] / whole;
  if (!(whole >= 1.0 && whole < 1e300)) atomicAdd(sums.bad_rows, 1);  // a score is not finite
  if (sums.missing != nullptr) sums.missing[i] = sink / whole;
  const bool is_first = i == 0 && sums.missing == nullptr;
  if (!is_first && !(below > 0.0)) atomicAdd(sums.rows_that_keep_all, 1);
}

/// Where entries are wanted: rows first_row .. nodes - 1 or fewer, kColumns columns a block.
struct Wanted {
  int first_row;
  int end_row;
  int first_column;
  int row_tiles;           // of a block
  float* to;               // entry (first_row, first_column) of the first head
  std::int64_t row_step;   // elements
  std::int64_t head_step;  // elements
  bool in_pairs;           // pairs of entries are aligned, and there is room for whole ones
};

template <class T>
__global__ __launch_bounds__(kThreads) void make_entries(Scores scores, Wanted wanted) {
  extern __shared__ uint4 shared[];
  const int head = static_cast<int>(blockIdx.z);
  const int pitch = pitch_of<T>(scores.padded);
  T* keys = reinterpret_cast<T*>(shared);
  T* queries = keys + kColumns<T> * pitch;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  constexpr int kTiles = kColumns<T> / 16;
  const int j0 = wanted.first_column + static_cast<int>(blockIdx.y) * kColumns<T>;
  const int own_first = warp / 4 * 8 * kTiles;
  if (j0 >= scores.nodes) return;
  load_rows(keys, scores, scores.keys[head], scores.key_stride, j0, kColumns<T>);
  for (int tile = 0; tile < wanted.row_tiles; ++tile) {
    const int i0 =
        wanted.first_row + (static_cast<int>(blockIdx.x) * wanted.row_tiles + tile) * kRows;
    if (i0 >= wanted.end_row) return;
    if (i0 + kRows <= j0) continue;  // above the diagonal
    __syncthreads();
    load_rows(queries, scores, scores.queries[head], scores.query_stride, i0, kRows);
    __syncthreads();
    float products[kTiles][4];
    multiply<T, kTiles>(products, queries + warp % 4 * 16 * pitch, keys + own_first * pitch,
                        scores);
    const int i = i0 + warp % 4 * 16 + lane / 4;
    float most[2] = {};
    for (int which = 0; which < 2; ++which)
      if (i + 8 * which < wanted.end_row)
        most[which] = scores.most[static_cast<std::int64_t>(head) * scores.nodes + i + 8 * which];
    float* to = wanted.to + head * wanted.head_step + (i - wanted.first_row) * wanted.row_step +
                (j0 - wanted.first_column) + own_first;
    const auto put = [&](int which, int at, float low, float high) {
      const int query = i + 8 * which;
      const int j = j0 + own_first + at;
      if (query >= wanted.end_row || j > query) return;
      const auto entry = [&](int key, float product) {
        return allowed(scores, query, key)
                   ? entry_of(scores, score_of(scores, product), most[which])
                   : 0.0F;
      };
      float* place = to + 8 * which * wanted.row_step + at;
      if (wanted.in_pairs) {  // what is above the diagonal is never read
        *reinterpret_cast<float2*>(place) = make_float2(entry(j, low), entry(j + 1, high));
        return;
      }
      place[0] = entry(j, low);
      if (j + 1 <= query) place[1] = entry(j + 1, high);
    };
#pragma unroll
    for (int k = 0; k < kTiles; ++k)
#pragma unroll
      for (int which = 0; which < 2; ++which)
        put(which, 8 * k + 2 * (lane % 4), products[k][2 * which], products[k][2 * which + 1]);
  }
}

template <class T>
std::size_t weigh_bytes(int padded) {
  return static_cast<std::size_t>((kRows + kKeysAtATime) * pitch_of<T>(padded)) * sizeof(T);
}
template <class T>
std::size_t make_bytes(int padded) {
  return static_cast<std::size_t>((kRows + kColumns<T>)*pitch_of<T>(padded)) * sizeof(T);
}

Scores scores_of(const QueryKeySystem& system, const void* const* lists, float* most) {
  Scores scores;
  scores.queries = lists;
  scores.keys = lists + system.queries.size();
  scores.most = most;
  scores.query_stride = system.query_stride;
  scores.key_stride = system.key_stride;
  scores.nodes = system.nodes;
  scores.width = system.width;
  scores.padded = (system.width + 15) / 16 * 16;
  scores.window = system.window > 0 ? std::min(system.window, system.nodes) : system.nodes;
  const bool capped = system.softcap > 0.0;
  scores.cap = static_cast<float>(system.softcap);
  scores.inside_cap = capped ? static_cast<float>(system.scale / system.softcap) : 0.0F;
  scores.sign = system.scale < 0.0 ? -1.0F : 1.0F;
  scores.slope = static_cast<float>(kLog2E * (capped ? 1.0 : std::abs(system.scale)));
  scores.sinks = system.sinks;
  return scores;
}

void queue_entries(const QueryKeySystem& system, const Scores& scores, const Wanted& wanted,
                   int columns, cudaStream_t stream) {
  with_short_type(system.type, [&](auto element) {
    using T = decltype(element);
    const std::size_t bytes = make_bytes<T>(scores.padded);
    cudaFuncSetAttribute(make_entries<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(bytes));
    const dim3 grid(blocks(wanted.end_row - wanted.first_row, kRows * wanted.row_tiles),
                    blocks(columns, kColumns<T>), static_cast<unsigned>(system.queries.size()));
    make_entries<T><<<grid, kThreads, bytes, stream>>>(scores, wanted);
  });
}

}  // namespace

QueryKeyHeads::QueryKeyHeads(QueryKeySystem system, cudaStream_t stream)
    : system_(std::move(system)),
      lists_(2 * system_.queries.size()),
      most_(system_.queries.size() * static_cast<std::size_t>(system_.nodes)) {
  std::vector<const void*> lists = system_.queries;
  lists.insert(lists.end(), system_.keys.begin(), system_.keys.end());
  lists_.upload(lists.data(), lists.size(), stream);
  require(cudaStreamSynchronize(stream), "copy to the device");
}

void QueryKeyHeads::queue_sums(const std::vector<SumsJob>& jobs, const SumsJob* on_device,
                               cudaStream_t stream) {
  const Scores scores = scores_of(system_, lists_.data(), most_.data());
  const int heads = static_cast<int>(jobs.size());
  with_short_type(system_.type, [&](auto element) {
    using T = decltype(element);
    const std::size_t bytes = weigh_bytes<T>(scores.padded);
    cudaFuncSetAttribute(weigh_rows<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(bytes));
    weigh_rows<T><<<dim3(blocks(system_.nodes, kRows), static_cast<unsigned>(heads)), kThreads,
                    bytes, stream>>>(scores, on_device);
  });
  const auto strip_chunks = static_cast<std::size_t>(chunks_of(system_.nodes));
  const DeviceMemory<double> partial(jobs.size() * strip_chunks * kStrip);
  auto* strips = static_cast<float*>(const_cast<void*>(jobs.front().entries.data));
  const bool cut = jobs.front().cut.cut != nullptr;
  for (int first = 0; first < system_.nodes; first += kStrip) {
    queue_strips(first, strips, stream);
    queue_column_sums(on_device, heads, system_.nodes, first, type(), cut, partial.data(), stream);
  }
  // The memory is in use until then.
  require(cudaStreamSynchronize(stream), "sums of attention");
}

void QueryKeyHeads::queue_strips(int first, void* strips, cudaStream_t stream) {
  Wanted wanted;
  wanted.first_row = wanted.first_column = first;
  wanted.end_row = system_.nodes;
  wanted.row_tiles = 4;
  wanted.to = static_cast<float*>(strips);
  wanted.row_step = kStrip;
  wanted.head_step = static_cast<std::int64_t>(system_.nodes) * kStrip;
  wanted.in_pairs = true;
  queue_entries(system_, scores_of(system_, lists_.data(), most_.data()), wanted, kStrip, stream);
}

void QueryKeyHeads::queue_rows(int first, std::int64_t row_length, void* rows,
                               cudaStream_t stream) {
  Wanted wanted;
  wanted.first_row = first;
  wanted.end_row = std::min(first + kBlock, system_.nodes);
  wanted.first_column = 0;
  wanted.row_tiles = 1;
  wanted.to = static_cast<float*>(rows);
  wanted.row_step = row_length;
  wanted.head_step = row_length * kBlock;
  wanted.in_pairs = row_length % 2 == 0;
  queue_entries(system_, scores_of(system_, lists_.data(), most_.data()), wanted, wanted.end_row,
                stream);
}

}  // namespace synergraph::cuda
