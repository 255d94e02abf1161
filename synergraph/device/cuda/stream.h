#pragma once

#include "synergraph/device/cuda/device_memory.h"

namespace synergraph::cuda {

/// A stream of the current device. It does not wait for the legacy stream, which others in the
/// process may use at any time, nor do they for it: a capture in it goes on.
class Stream {
 public:
  explicit Stream(int priority = 0) {
    require(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, priority), "stream");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  operator cudaStream_t() const { return stream_; }  // NOLINT: it is one

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace synergraph::cuda
