#pragma once

#include "synergraph/device/cuda/device_memory.h"

namespace synergraph::cuda {

/// Makes a device the thread's current one, for as long as this lives; then it is the one it was.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  int before_ = -1;  ///< -1: there is nothing to go back to
};

}  // namespace synergraph::cuda
