#include "synergraph/device/device_buffer.h"

#include <algorithm>

namespace synergraph {
namespace {

/// The bytes that an array (samples, heads, tokens, width) takes around its first element.
struct Reach {
  std::ptrdiff_t before = 0;
  std::ptrdiff_t after = 0;

  std::size_t bytes() const { return static_cast<std::size_t>(before + after); }
};

Reach reach_of(const QueryKeyView::Strides& strides, const QueryKeyView& view, std::int64_t samples,
               std::int64_t heads) {
  Reach reach;
  reach.after = static_cast<std::ptrdiff_t>(item_size(view.type)) * view.width;
  const auto add = [&](std::ptrdiff_t stride, std::int64_t extent) {
    (stride < 0 ? reach.before : reach.after) += (stride < 0 ? -stride : stride) * (extent - 1);
  };
  add(strides.sample, samples);
  add(strides.head, heads);
  add(strides.token, view.tokens);
  return reach;
}

const std::byte* sample_of(const void* data, std::ptrdiff_t stride, std::int64_t sample) {
  return static_cast<const std::byte*>(data) + stride * sample;
}

}  // namespace

ScoresOnDevice::ScoresOnDevice(MetricsBackend& backend, const QueryKeyView& scores,
                               std::int64_t first, std::int64_t count, const DevicePlace& place)
    : view_(scores),
      queries_(backend, reach_of(scores.query_strides, scores, count, scores.heads).bytes(), place),
      keys_(backend, reach_of(scores.key_strides, scores, count, scores.key_heads).bytes(), place),
      logits_(backend, sizeof(float) * static_cast<std::size_t>(scores.heads), place) {
  const auto copy = [&](const void*& data, const QueryKeyView::Strides& strides, std::int64_t heads,
                        DeviceBuffer& into) {
    const Reach reach = reach_of(strides, scores, count, heads);
    into.upload(sample_of(data, strides.sample, first) - reach.before, reach.bytes());
    data = static_cast<const std::byte*>(into.data()) + reach.before;
  };
  copy(view_.queries, scores.query_strides, scores.heads, queries_);
  copy(view_.keys, scores.key_strides, scores.key_heads, keys_);
  view_.samples = count;
  if (scores.sink_logits == nullptr) return;
  logits_.upload(scores.sink_logits, sizeof(float) * static_cast<std::size_t>(scores.heads));
  view_.sink_logits = static_cast<const float*>(logits_.data());
}

}  // namespace synergraph
