#include "synergraph/device/cuda/small_systems.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "synergraph/device/cuda/current_device.h"

namespace synergraph::cuda {
namespace {

bool is_packed(const AttentionView& view) {
  const AttentionView packed =
      attention_view(view.data, view.type, view.samples, view.heads, view.tokens);
  return view.strides.sample == packed.strides.sample && view.strides.head == packed.strides.head &&
         view.strides.query == packed.strides.query && view.strides.key == packed.strides.key;
}

/// Calls visit(place of a row in an array without gaps, its first element) for the rows of a head.
template <class Visit>
void each_row(const AttentionView& view, std::int64_t sample, std::int64_t head, Visit visit) {
  const auto* first = static_cast<const std::byte*>(view.data) + sample * view.strides.sample +
                      head * view.strides.head;
  for (std::int64_t i = 0; i < view.tokens; ++i) visit(i, first + i * view.strides.query);
}

/// A head in the memory of the host, as an array without gaps.
void pack_head(const AttentionView& view, std::int64_t sample, std::int64_t head, void* into) {
  const auto item = static_cast<std::int64_t>(item_size(view.type));
  each_row(view, sample, head, [&](std::int64_t place, const std::byte* row) {
    std::byte* to = static_cast<std::byte*>(into) + place * view.tokens * item;
    for (std::int64_t j = 0; j < view.tokens; ++j)
      std::memcpy(to + j * item, row + j * view.strides.key, static_cast<std::size_t>(item));
  });
}

/// The same of a head in the memory of the device.
void fetch_head(const AttentionView& view, std::int64_t sample, std::int64_t head,
                cudaStream_t stream, void* into) {
  const auto item = item_size(view.type);
  const auto row_bytes = item * static_cast<std::size_t>(view.tokens);
  const bool in_rows = view.strides.key == static_cast<std::ptrdiff_t>(item);
  each_row(view, sample, head, [&](std::int64_t place, const std::byte* row) {
    std::byte* to = static_cast<std::byte*>(into) + static_cast<std::size_t>(place) * row_bytes;
    // Rows whose keys lie side by side, or elements one after the other.
    const std::size_t width = in_rows ? row_bytes : item;
    const std::size_t count = in_rows ? 1 : static_cast<std::size_t>(view.tokens);
    const auto pitch = in_rows ? row_bytes : static_cast<std::size_t>(view.strides.key);
    require(cudaMemcpy2DAsync(to, width, row, pitch, width, count, cudaMemcpyDeviceToHost, stream),
            "copy from the device");
  });
  require(cudaStreamSynchronize(stream), "copy from the device");
}

}  // namespace

template <class Use>
auto SmallSystems::with_reached(const AttentionView& attention, std::int64_t sample, Use use) {
  const bool on_device = is_on_device(attention.data);
  int device = 0;
  require(cudaGetDevice(&device), "choice of the device");
  std::mutex fetching;  // threads of the CPU fetch heads one at a time
  const FetchHead fetch = [&, device](std::int64_t of_sample, std::int64_t head, void* into) {
    if (!on_device) return pack_head(attention, of_sample, head, into);
    const std::lock_guard one(fetching);
    const CurrentDevice current(device);
    fetch_head(attention, of_sample, head, stream_, into);
  };
  // Threads of a device read whole elements at their boundaries.
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(attention.data) % item_size(attention.type) == 0;
  if (on_device && aligned) return use(attention, fetch);
  check_view(attention);
  const std::int64_t first = std::max<std::int64_t>(sample, 0);
  const std::int64_t count = sample < 0 ? attention.samples : 1;
  AttentionView reached =
      attention_view(nullptr, attention.type, attention.samples, attention.heads, attention.tokens);
  const auto sample_bytes = static_cast<std::size_t>(reached.strides.sample);
  const std::size_t bytes = static_cast<std::size_t>(count) * sample_bytes;
  uploaded_.reserve(bytes);
  const auto* from =
      static_cast<const std::byte*>(attention.data) + first * attention.strides.sample;
  if (on_device || !is_packed(attention)) {
    packed_.resize(bytes);
    for (std::int64_t k = 0; k < count * attention.heads; ++k)
      fetch(first + k / attention.heads, k % attention.heads,
            packed_.data() + k * reached.strides.head);
    from = packed_.data();
  }
  uploaded_.upload(from, bytes, stream_);
  reached.data = uploaded_.data();
  if (sample >= 0) reached.strides.sample = 0;  // its only sample stands for all
  return use(reached, fetch);
}

BatchMetrics SmallSystems::measure(const AttentionView& attention, std::span<const double> weights,
                                   const BatchOptions& options) {
  runner_.start_clock();
  return with_reached(attention, -1, [&](const AttentionView& reached, const FetchHead& fetch) {
    return small::measure_batch(runner_, reached, weights, options, fetch);
  });
}

SubsetValues SmallSystems::subset_values(const AttentionView& attention, std::int64_t sample,
                                         std::span<const double> weights,
                                         const SubsetOptions& options) {
  runner_.start_clock();
  // Of a sample that is not there, the CPU says so.
  const bool exists = sample >= 0 && sample < attention.samples;
  return with_reached(
      attention, exists ? sample : 0, [&](const AttentionView& reached, const FetchHead& fetch) {
        return small::subset_values(runner_, reached, sample, weights, options, fetch);
      });
}

}  // namespace synergraph::cuda
