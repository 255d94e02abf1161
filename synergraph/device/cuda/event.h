#pragma once

#include "synergraph/device/cuda/device_memory.h"

namespace synergraph::cuda {

/// A moment in a stream.
class Event {
 public:
  Event() { require(cudaEventCreate(&event_), "event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }

  void record(cudaStream_t stream) { require(cudaEventRecord(event_, stream), "event"); }
  /// What is queued in the stream from now on waits for this moment.
  void hold(cudaStream_t stream) const { require(cudaStreamWaitEvent(stream, event_, 0), "event"); }
  /// Seconds from an earlier moment to this one. Both have passed.
  double seconds_since(const Event& begin) const {
    float milliseconds = 0.0F;
    require(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "event");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace synergraph::cuda
