#pragma once

#include <cstdint>
#include <vector>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/large_operators.h"

namespace synergraph::cuda {

/// Queries and keys of the heads of one system in the device's memory. See QueryKeyView for what a
/// row is.
struct QueryKeySystem {
  std::vector<const void*> queries;  ///< of the first token that is kept, for every head
  std::vector<const void*> keys;
  FloatType type = FloatType::kBFloat16;  ///< but for float64
  int nodes = 0;
  int width = 0;
  std::int64_t query_stride = 0;  ///< bytes from one token to the next
  std::int64_t key_stride = 0;
  double scale = 1.0;
  double softcap = 0.0;  ///< 0: none
  int window = 0;        ///< 0: none
  /// Learned logits of the heads, on the device: what a row gives to them is missing from it. Null:
  /// there are none.
  const float* sinks = nullptr;
};

/// The widest heads that are made.
inline constexpr int kMostWidth = 256;

/// Makes attention from queries and keys. An entry is exp(score - largest score of the row), in
/// float32; it comes out with the same bits whenever it is made, so that sums of rows and columns
/// are sums of the entries that the steps use.
class QueryKeyHeads final : public HeadMaker {
 public:
  QueryKeyHeads(QueryKeySystem system, cudaStream_t stream);

  FloatType type() const override { return FloatType::kFloat32; }
  void queue_sums(const std::vector<SumsJob>& jobs, const SumsJob* on_device,
                  cudaStream_t stream) override;
  void queue_strips(int first, void* strips, cudaStream_t stream) override;
  void queue_rows(int first, std::int64_t row_length, void* rows, cudaStream_t stream) override;

 private:
  QueryKeySystem system_;
  DeviceMemory<const void*> lists_;  ///< queries, then keys
  DeviceMemory<float> most_;         ///< the largest score of every row, heads x nodes
};

}  // namespace synergraph::cuda
