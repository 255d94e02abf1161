#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synergraph/core/float_type.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/measure_systems.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Where work on a device lies: its number and the stream of the caller. Work on the device starts
/// after everything that was queued in the stream, and is finished when a call returns.
struct DevicePlace {
  int device = 0;
  void* stream = nullptr;  ///< a cudaStream_t; null: the default stream
};

/// Attention given as queries and keys in a device's memory: row i of a head is the softmax over
/// the allowed keys j <= i of softcap(scale * q_i . k_j).
struct QueryKeyView {
  const void* queries =
      nullptr;                 ///< the element with all indices 0, (samples, heads, tokens, width)
  const void* keys = nullptr;  ///< (samples, key_heads, tokens, width)
  FloatType type = FloatType::kBFloat16;
  std::int64_t samples = 0;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;  ///< divides heads: each serves heads / key_heads heads in a row
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  /// Bytes from one sample, head and token to the next. The features of a token lie side by side.
  struct Strides {
    std::ptrdiff_t sample = 0;
    std::ptrdiff_t head = 0;
    std::ptrdiff_t token = 0;
  };
  Strides query_strides = {};
  Strides key_strides = {};
  double scale = 1.0;
  double softcap = 0.0;                ///< 0: none; else cap * tanh(score / cap)
  std::int64_t window = 0;             ///< 0: none; else only keys j > i - window
  const float* sink_logits = nullptr;  ///< one for each head, on the device; null: none
};

/// Measures attention where it lies, on a device. Each function gives what measure() of
/// heads/measure_systems.h gives for the same probabilities, with the same errors. What the device
/// leaves undecided is decided on the CPU.
class MetricsBackend {
 public:
  MetricsBackend() = default;
  MetricsBackend(const MetricsBackend&) = delete;
  MetricsBackend& operator=(const MetricsBackend&) = delete;
  virtual ~MetricsBackend() = default;

  /// The device for a record: "cuda (NVIDIA H200, sm_90)". InputError where it cannot be used.
  virtual std::string describe(int device) const = 0;

  /// Why a request is not measured on this device; empty: it is. Edges other than attention,
  /// for example, are for the CPU.
  virtual std::string refusal(const AttentionView& attention,
                              const BatchOptions& options) const = 0;

  /// `attention.data` is in the memory of the device, or in that of the CPU.
  virtual BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                               const BatchOptions& options, const DevicePlace& place) = 0;

  virtual BatchMetrics measure(const QueryKeyView& attention, std::span<const double> weights,
                               const BatchOptions& options, const DevicePlace& place) = 0;
};

/// The backend for NVIDIA's GPUs: a library of its own, loaded at the first call. InputError in one
/// line where it cannot be loaded or used: not installed, no driver, a driver that is too old.
MetricsBackend& cuda_backend();

}  // namespace synergraph
#pragma GCC visibility pop
