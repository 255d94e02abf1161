#include "synergraph/device/cuda/small_systems.h"

#include <cstdint>
#include <cstring>

namespace synergraph::cuda {
namespace {

std::size_t bytes_of(const AttentionView& view) {
  return static_cast<std::size_t>(view.samples) * static_cast<std::size_t>(view.heads) *
         static_cast<std::size_t>(view.tokens) * static_cast<std::size_t>(view.tokens) *
         item_size(view.type);
}

bool is_packed(const AttentionView& view) {
  const AttentionView packed =
      attention_view(view.data, view.type, view.samples, view.heads, view.tokens);
  return view.strides.sample == packed.strides.sample && view.strides.head == packed.strides.head &&
         view.strides.query == packed.strides.query && view.strides.key == packed.strides.key;
}

/// Calls visit(place of a row in an array without gaps, its first element) for the rows of a
/// sample.
template <class Visit>
void each_row(const AttentionView& view, std::int64_t sample, Visit visit) {
  std::int64_t place = 0;
  for (std::int64_t h = 0; h < view.heads; ++h)
    for (std::int64_t i = 0; i < view.tokens; ++i, ++place)
      visit(place, static_cast<const std::byte*>(view.data) + sample * view.strides.sample +
                       h * view.strides.head + i * view.strides.query);
}

/// A sample in the memory of the host, as an array without gaps.
void pack_sample(const AttentionView& view, std::int64_t sample, std::byte* into) {
  const auto item = static_cast<std::int64_t>(item_size(view.type));
  each_row(view, sample, [&](std::int64_t place, const std::byte* row) {
    std::byte* to = into + place * view.tokens * item;
    for (std::int64_t j = 0; j < view.tokens; ++j)
      std::memcpy(to + j * item, row + j * view.strides.key, static_cast<std::size_t>(item));
  });
}

/// The same of a sample in the memory of the device.
void fetch_sample(const AttentionView& view, std::int64_t sample, cudaStream_t stream,
                  std::byte* into) {
  const auto item = item_size(view.type);
  const auto row_bytes = item * static_cast<std::size_t>(view.tokens);
  const bool in_rows = view.strides.key == static_cast<std::ptrdiff_t>(item);
  each_row(view, sample, [&](std::int64_t place, const std::byte* row) {
    std::byte* to = into + static_cast<std::size_t>(place) * row_bytes;
    if (in_rows) {
      require(cudaMemcpyAsync(to, row, row_bytes, cudaMemcpyDeviceToHost, stream),
              "copy from the device");
      return;
    }
    for (std::int64_t j = 0; j < view.tokens; ++j)
      require(cudaMemcpyAsync(to + static_cast<std::size_t>(j) * item, row + j * view.strides.key,
                              item, cudaMemcpyDeviceToHost, stream),
              "copy from the device");
  });
  require(cudaStreamSynchronize(stream), "copy from the device");
}

}  // namespace

template <class Use>
auto SmallSystems::with_reached(const AttentionView& attention, Use use) {
  const bool on_device = is_on_device(attention.data);
  const auto fetch = [this, attention, on_device](std::int64_t sample, std::byte* into) {
    if (on_device)
      fetch_sample(attention, sample, stream_, into);
    else
      pack_sample(attention, sample, into);
  };
  // Threads of a device read whole elements at their boundaries.
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(attention.data) % item_size(attention.type) == 0;
  if (on_device && aligned) return use(attention, fetch);
  check_view(attention);
  const std::size_t bytes = bytes_of(attention);
  uploaded_.reserve(bytes);
  const auto* from = static_cast<const std::byte*>(attention.data);
  if (on_device || !is_packed(attention)) {
    packed_.resize(bytes);
    for (std::int64_t s = 0; s < attention.samples; ++s)
      fetch(s, packed_.data() + static_cast<std::size_t>(s) *
                                    (bytes / static_cast<std::size_t>(attention.samples)));
    from = packed_.data();
  }
  uploaded_.upload(from, bytes, stream_);
  return use(attention_view(uploaded_.data(), attention.type, attention.samples, attention.heads,
                            attention.tokens),
             fetch);
}

BatchMetrics SmallSystems::measure(const AttentionView& attention, std::span<const double> weights,
                                   const BatchOptions& options) {
  runner_.start_clock();
  return with_reached(attention, [&](const AttentionView& reached, const auto& fetch) {
    return small::measure_batch(runner_, reached, weights, options, fetch);
  });
}

SubsetValues SmallSystems::subset_values(const AttentionView& attention, std::int64_t sample,
                                         std::span<const double> weights,
                                         const SubsetOptions& options) {
  runner_.start_clock();
  return with_reached(attention, [&](const AttentionView& reached, const auto& fetch) {
    return small::subset_values(runner_, reached, sample, weights, options, fetch);
  });
}

}  // namespace synergraph::cuda
