#include "synergraph/device/cuda/current_device.h"

namespace synergraph::cuda {
namespace {

/// Whether this process uses the device: to make it current would take memory on it otherwise, of
/// every worker that has a GPU of its own.
bool is_in_use(int index) {
  using State = int (*)(int device, unsigned* flags, int* active);
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
  const cudaError_t result = cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &found,
                                                              12000, cudaEnableDefault, &status);
#else
  const cudaError_t result =
      cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", &found, cudaEnableDefault, &status);
#endif
  if (result != cudaSuccess || found == nullptr) {
    cudaGetLastError();
    return true;
  }
  unsigned flags = 0;
  int active = 0;
  return reinterpret_cast<State>(found)(index, &flags, &active) != 0 || active != 0;
}

}  // namespace

CurrentDevice::CurrentDevice(int index) {
  int now = 0;
  require(cudaGetDevice(&now), "choice of the device");
  if (now != index && is_in_use(now)) before_ = now;
  require(cudaSetDevice(index), "choice of the device");
}

CurrentDevice::~CurrentDevice() {
  if (before_ >= 0 && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
}

}  // namespace synergraph::cuda
