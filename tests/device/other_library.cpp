// The library for GPUs of another build.
#include "synergraph/device/cuda_library.h"

extern "C" __attribute__((visibility("default"))) const synergraph::CudaLibrary*
synergraph_cuda_library() {
  static const synergraph::CudaLibrary library = {"0.0.1", synergraph::backend_layout(), nullptr};
  return &library;
}
