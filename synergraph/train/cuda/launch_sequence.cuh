#pragma once

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/train/cuda/launch_sequence.h"
#include "synergraph/train/cuda/sequence_kernel.cuh"

namespace synergraph::cuda {

template <int kHead>
void launch_sequence(const SequenceArguments& arguments, Precision precision, int sequences,
                     cudaStream_t stream) {
  const auto kernel = precision == Precision::kTf32 ? sequence_kernel<kHead, Precision::kTf32>
                                                    : sequence_kernel<kHead, Precision::kFloat32>;
  constexpr int kBytes = Shared::kSize * static_cast<int>(sizeof(float));
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
          "shared memory");
  kernel<<<static_cast<unsigned>(sequences), kThreads, kBytes, stream>>>(arguments);
  require(cudaGetLastError(), "sequences");
}

}  // namespace synergraph::cuda
