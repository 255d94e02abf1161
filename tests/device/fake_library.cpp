// A library like the one for GPUs, for machines without: its devices are the CPU.
#include "synergraph/device/cuda_library.h"
#include "tests/device/fake_backend.h"

namespace {

synergraph::testing_support::FakeBackend backend;

}  // namespace

SYNERGRAPH_CUDA_LIBRARY(backend)
