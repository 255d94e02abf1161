#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "synergraph/core/version.h"
#include "synergraph/device/backend.h"

namespace synergraph {

/// What the library for NVIDIA's GPUs hands over. It is a library of its own: programs start on
/// machines without a GPU, and load it when a GPU is asked for.
struct CudaLibrary {
  const char* version;      ///< kVersion of its build
  std::uint64_t layout;     ///< backend_layout() of its build
  MetricsBackend* backend;  ///< lives as long as the process
};

/// A number that differs between builds that disagree on what they exchange.
constexpr std::uint64_t backend_layout() {
  std::uint64_t hash = 3;  // to be changed with the functions of MetricsBackend
  for (const std::size_t size :
       {sizeof(AttentionView), sizeof(QueryKeyView), sizeof(BatchOptions), sizeof(MetricsOptions),
        sizeof(HeadsMetrics), sizeof(Metrics), sizeof(Execution), sizeof(SubsetOptions),
        sizeof(SubsetValues), sizeof(void*)})
    hash = hash * 1000003 + size;
  return hash;
}

/// The name of the file, and of the only function that it exports: const CudaLibrary* ().
inline constexpr const char* kCudaLibraryFile = "libsynergraph_cuda.so";
inline constexpr const char* kCudaLibraryEntry = "synergraph_cuda_library";
using CudaLibraryEntry = const CudaLibrary*();

}  // namespace synergraph

/// Defines the function that a library exports whose backend is made by an expression.
#define SYNERGRAPH_CUDA_LIBRARY(expression)                                                       \
  extern "C" __attribute__((visibility("default"))) const synergraph::CudaLibrary*                \
  synergraph_cuda_library() {                                                                     \
    static const synergraph::CudaLibrary library = {synergraph::kVersion,                         \
                                                    synergraph::backend_layout(), &(expression)}; \
    return &library;                                                                              \
  }
