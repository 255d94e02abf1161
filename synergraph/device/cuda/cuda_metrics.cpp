#include "synergraph/device/cuda/cuda_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/device/cuda/current_device.h"
#include "synergraph/device/cuda/large_operators.h"
#include "synergraph/device/cuda/query_key_heads.h"
#include "synergraph/device/cuda/small_systems.h"
#include "synergraph/device/large/measure_large.h"
#include "synergraph/device/small/systems.h"
#include "synergraph/graph/attention_rounding.h"
#include "synergraph/heads/view_batch.h"

namespace synergraph::cuda {
namespace {

/// What a call goes on with: its device, and the caller's stream there.
struct Call {
  explicit Call(const DevicePlace& place)
      : current(place.device), stream(static_cast<cudaStream_t>(place.stream)) {}

  CurrentDevice current;
  cudaStream_t stream;
};

/// A system of a batch: a sequence's heads.
class DeviceSystems {
 public:
  DeviceSystems() = default;
  DeviceSystems(const DeviceSystems&) = delete;
  DeviceSystems& operator=(const DeviceSystems&) = delete;
  virtual ~DeviceSystems() = default;
  /// The heads of a sequence; valid until the next call.
  virtual LargeHeads system(const TokenSpan& span) = 0;
};

/// Attention as given, on the device or on the host.
class GivenSystems final : public DeviceSystems {
 public:
  GivenSystems(const AttentionView& view, cudaStream_t stream)
      : view_(view), stream_(stream), on_device_(is_on_device(view.data)) {}

  LargeHeads system(const TokenSpan& span) override {
    LargeHeads heads;
    heads.nodes = static_cast<int>(span.end - span.begin);
    heads.heads = static_cast<int>(view_.heads);
    heads.begin = static_cast<int>(span.begin);
    heads.after = static_cast<int>(view_.tokens - span.end);
    heads.type = view_.type;
    const auto item = static_cast<std::int64_t>(item_size(view_.type));
    const auto* sample = static_cast<const std::byte*>(view_.data) +
                         span.sample * view_.strides.sample + span.begin * view_.strides.query;
    if (on_device_) {
      heads.stride = view_.strides.query / item;
      for (int h = 0; h < heads.heads; ++h)
        heads.data.push_back(sample + h * view_.strides.head + span.begin * item);
      return heads;
    }
    // Rows begin at multiples of 32 elements.
    const std::int64_t pitch = (view_.tokens + 31) / 32 * 32 * item;
    heads.stride = pitch / item;
    copied_.reserve(static_cast<std::size_t>(heads.heads * heads.nodes * pitch));
    for (int h = 0; h < heads.heads; ++h) {
      std::byte* to = copied_.data() + std::int64_t{h} * heads.nodes * pitch;
      require(
          cudaMemcpy2DAsync(to, static_cast<std::size_t>(pitch), sample + h * view_.strides.head,
                            static_cast<std::size_t>(view_.strides.query),
                            static_cast<std::size_t>(view_.tokens * item),
                            static_cast<std::size_t>(heads.nodes), cudaMemcpyHostToDevice, stream_),
          "copy to the device");
      heads.data.push_back(to + span.begin * item);
    }
    return heads;
  }

 private:
  const AttentionView& view_;
  cudaStream_t stream_;
  bool on_device_;
  DeviceMemory<std::byte> copied_;
};

/// Attention that is made of queries and keys.
class MadeSystems final : public DeviceSystems {
 public:
  MadeSystems(const QueryKeyView& view, cudaStream_t stream) : view_(view), stream_(stream) {}

  LargeHeads system(const TokenSpan& span) override {
    QueryKeySystem made;
    const auto* queries = static_cast<const std::byte*>(view_.queries);
    const auto* keys = static_cast<const std::byte*>(view_.keys);
    for (std::int64_t h = 0; h < view_.heads; ++h) {
      made.queries.push_back(queries + span.sample * view_.query_strides.sample +
                             h * view_.query_strides.head + span.begin * view_.query_strides.token);
      made.keys.push_back(keys + span.sample * view_.key_strides.sample +
                          h / (view_.heads / view_.key_heads) * view_.key_strides.head +
                          span.begin * view_.key_strides.token);
    }
    made.type = view_.type;
    made.nodes = static_cast<int>(span.end - span.begin);
    made.width = static_cast<int>(view_.width);
    made.query_stride = view_.query_strides.token;
    made.key_stride = view_.key_strides.token;
    made.scale = view_.scale;
    made.softcap = view_.softcap;
    made.window = static_cast<int>(std::min<std::int64_t>(view_.window, made.nodes));
    made.sinks = view_.sink_logits;
    LargeHeads heads;
    heads.nodes = made.nodes;
    heads.heads = static_cast<int>(view_.heads);
    heads.type = FloatType::kFloat32;
    maker_ = std::make_unique<QueryKeyHeads>(std::move(made), stream_);
    heads.maker = maker_.get();
    return heads;
  }

  /// A head of a sample in double precision, all tokens of it.
  void fetch(std::int64_t sample, std::int64_t head, void* into);

 private:
  const QueryKeyView& view_;
  cudaStream_t stream_;
  std::unique_ptr<QueryKeyHeads> maker_;
};

/// Attention as the CPU gets it: the extents of queries and keys, in double precision.
AttentionView made_view(const QueryKeyView& view) {
  return attention_view(nullptr, FloatType::kFloat64, view.samples, view.heads, view.tokens);
}

void check_extent(std::int64_t extent, const char* name) {
  if (extent < 1) throw InputError(fmt::format("queries and keys have {} {}", extent, name));
}

void check_queries(const QueryKeyView& view) {
  check_extent(view.samples, "samples");
  check_extent(view.heads, "heads");
  check_extent(view.key_heads, "heads of keys");
  check_extent(view.tokens, "tokens");
  check_extent(view.width, "features");
  if (view.queries == nullptr || view.keys == nullptr)
    throw InputError("queries or keys are missing");
  if (view.heads % view.key_heads != 0)
    throw InputError(fmt::format("{} heads of keys cannot serve {} heads: a divisor is needed",
                                 view.key_heads, view.heads));
  if (view.width > kMostWidth)
    throw InputError(
        fmt::format("heads have {} features: at most {} can be used", view.width, kMostWidth));
  if (view.type == FloatType::kFloat64)
    throw InputError("queries and keys are float64: convert them to float32");
  if (!std::isfinite(view.scale) || !std::isfinite(view.softcap) || view.softcap < 0.0)
    throw InputError("the scale or the soft cap of scores is not a finite number");
  if (view.window < 0) throw InputError(fmt::format("a window of {} keys", view.window));
}

/// The progress of a call counts what the device does; the CPU's part comes at once.
BatchOptions without_progress(BatchOptions options) {
  options.execution.progress = {};
  return options;
}

/// The same request, of a system behind others of so many heads in all.
BatchOptions behind(BatchOptions options, std::uint64_t heads) {
  auto& listener = options.execution.progress.listener;
  if (listener)
    listener = [whole = listener, heads](std::uint64_t done, std::uint64_t total,
                                         const std::string& detail) {
      whole(heads + done, heads + total, detail);
    };
  return options;
}

/// What calls keep for later calls on a device.
struct DeviceState {
  std::mutex busy;  ///< one call at a time
  LargeWorkspace large;
  std::unique_ptr<SmallSystems> small;
  cudaStream_t small_stream = nullptr;

  /// Small systems in this stream.
  SmallSystems& small_in(cudaStream_t stream) {
    if (!small || small_stream != stream) small = std::make_unique<SmallSystems>(stream);
    small_stream = stream;
    return *small;
  }
};

class CudaMetrics final : public MetricsBackend {
 public:
  std::string describe(int device) const override {
    cudaDeviceProp properties{};
    require(cudaGetDeviceProperties(&properties, device), "properties of the device");
    return fmt::format("cuda:{} ({}, sm_{}{})", device, properties.name, properties.major,
                       properties.minor);
  }

  std::string refusal(const AttentionView& attention, const BatchOptions& options) const override {
    const auto item = static_cast<std::ptrdiff_t>(item_size(attention.type));
    if (attention.strides.key != item) return "keys that do not lie side by side";
    if (attention.strides.query < attention.tokens * item || attention.strides.query % item != 0)
      return "rows that overlap";
    if (reinterpret_cast<std::uintptr_t>(attention.data) % static_cast<std::uintptr_t>(item) != 0)
      return "elements that are not aligned";
    return is_small(attention, options) ? std::string() : large_refusal(attention.tokens, options);
  }

  std::string refusal(const QueryKeyView& attention, const BatchOptions& options) const override {
    const bool has_node = options.missing_mass == MissingMass::kNode;
    if (attention.sink_logits != nullptr && !has_node)
      return "learned sinks without a node for missing mass";
    if (attention.sink_logits == nullptr && has_node) return "a node for missing mass";
    if (attention.type == FloatType::kFloat64) return "queries in float64";
    if (attention.width > kMostWidth) return "heads of so many features";
    return large_refusal(attention.tokens, options);
  }

  std::string refusal(const AttentionView& attention, const SubsetOptions& options) const override {
    return small::refusal(attention, options);
  }

  SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                             std::span<const double> weights, const SubsetOptions& options,
                             const DevicePlace& place) override {
    const Call call(place);
    DeviceState& state = state_of(place);
    const std::lock_guard<std::mutex> lock(state.busy);
    return state.small_in(call.stream).subset_values(attention, sample, weights, options);
  }

  BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                       const BatchOptions& options, const DevicePlace& place) override {
    const Call call(place);
    if (!is_on_device(attention.data) && !refusal(attention, options).empty())
      return synergraph::measure(attention, weights, options);
    check_view(attention);
    DeviceState& state = state_of(place);
    const std::lock_guard<std::mutex> lock(state.busy);
    if (is_small(attention, options) && refusal(attention, options).empty())
      return state.small_in(call.stream).measure(attention, weights, options);
    GivenSystems systems(attention, call.stream);
    std::mutex fetching;
    FetchHead fetch;
    if (is_on_device(attention.data))
      fetch = [&](std::int64_t sample, std::int64_t head, void* into) {
        const std::lock_guard<std::mutex> one(fetching);
        const CurrentDevice current(place.device);
        copy_head(attention, sample, head, into, call.stream);
      };
    const BatchOptions quiet = without_progress(options);
    ViewBatch batch(attention, weights, quiet, std::move(fetch));
    const double tolerance =
        attention_check(attention.type, static_cast<int>(attention.tokens), options.row_tolerance)
            .row_tolerance;
    return run(batch, systems, options, tolerance,
               {refusal(attention, options).empty() ? &state.large : nullptr, call.stream});
  }

  BatchMetrics measure(const QueryKeyView& attention, std::span<const double> weights,
                       const BatchOptions& options, const DevicePlace& place) override {
    const Call call(place);
    check_queries(attention);
    DeviceState& state = state_of(place);
    const std::lock_guard<std::mutex> lock(state.busy);
    MadeSystems systems(attention, call.stream);
    std::mutex fetching;
    const BatchOptions quiet = without_progress(options);
    ViewBatch batch(made_view(attention), weights, quiet,
                    [&](std::int64_t sample, std::int64_t head, void* into) {
                      const std::lock_guard<std::mutex> one(fetching);
                      const CurrentDevice current(place.device);
                      systems.fetch(sample, head, into);
                    });
    return run(batch, systems, options, 1e-6,
               {refusal(attention, options).empty() ? &state.large : nullptr, call.stream});
  }

  std::optional<std::vector<HeadsMetrics>> measure(HeadSource& heads,
                                                   const std::vector<double>& weights,
                                                   const MeasureOptions& options,
                                                   const DevicePlace& place) override;

 private:
  /// Where systems are measured: nowhere, if the device does not have the numbers that are wanted.
  struct Room {
    LargeWorkspace* memory;
    cudaStream_t stream;
  };

  /// Whether systems are measured in shared memory.
  static bool is_small(const AttentionView& attention, const BatchOptions& options) {
    return attention.tokens <= small::kMostNodes && small::refusal(options).empty();
  }
  static std::string large_refusal(std::int64_t tokens, const BatchOptions& options) {
    return tokens < 2 ? "a single token" : large::refusal(options);
  }
  static BatchMetrics run(ViewBatch& batch, DeviceSystems& systems, const BatchOptions& options,
                          double tolerance, const Room& room);
  static void copy_head(const AttentionView& view, std::int64_t sample, std::int64_t head,
                        void* into, cudaStream_t stream);

  /// Of the current device.
  DeviceState& state_of(const DevicePlace& place) {
    const std::lock_guard<std::mutex> lock(choosing_);
    return states_[place.device];
  }

  std::mutex choosing_;
  std::map<int, DeviceState> states_;
};

/// Every sequence on the device, and then those that it leaves undecided on the CPU.
BatchMetrics CudaMetrics::run(ViewBatch& batch, DeviceSystems& systems, const BatchOptions& options,
                              double tolerance, const Room& room) {
  BatchMetrics result = batch.result();
  std::vector<SampleRange> undecided;
  for (int sequence = 0; sequence < batch.sequences(); ++sequence) {
    options.execution.check();
    const TokenSpan span = batch.span(sequence);
    std::optional<std::vector<HeadsMetrics>> measured;
    if (room.memory != nullptr && span.end - span.begin > 1) {
      LargeHeads heads = systems.system(span);
      heads.weights = batch.weights(sequence);
      heads.missing_mass = options.missing_mass == MissingMass::kNode;
      heads.published = large::wants_published(options);
      LargeOperators operators(heads, *room.memory, room.stream);
      if (large::is_good(operators, tolerance))
        measured = large::measure(operators, heads.weights,
                                  behind(options, static_cast<std::uint64_t>(sequence) *
                                                      static_cast<std::uint64_t>(heads.heads)));
    }
    if (!measured) {
      undecided.push_back({sequence, sequence + 1});
      continue;
    }
    for (std::size_t c = 0; c < measured->size(); ++c)
      result.sequences[c][static_cast<std::size_t>(sequence)] = std::move((*measured)[c]);
  }
  if (!undecided.empty()) batch.measure_on_cpu(undecided, result);
  return result;
}

/// Lower triangles of matrices on the device, one after the other.
DeviceMemory<double> upload_heads(HeadSource& source, bool of_walks, cudaStream_t stream) {
  const auto n = static_cast<std::size_t>(source.nodes());
  DeviceMemory<double> there(static_cast<std::size_t>(source.heads()) * n * n);
  std::vector<double> lower(n * n, 0.0);
  for (int h = 0; h < source.heads(); ++h) {
    const Walk* walk = of_walks ? source.own_walk(h) : nullptr;
    const ConstMatrixView diffusion = walk == nullptr ? source.head(h).view() : ConstMatrixView{};
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        lower[i * n + j] = walk != nullptr ? walk->step(static_cast<int>(j), static_cast<int>(i))
                                           : diffusion(static_cast<int>(i), static_cast<int>(j));
    require(cudaMemcpyAsync(there.data() + static_cast<std::size_t>(h) * n * n, lower.data(),
                            n * n * sizeof(double), cudaMemcpyHostToDevice, stream),
            "copy to the device");
    require(cudaStreamSynchronize(stream), "copy to the device");
  }
  return there;
}

std::optional<std::vector<HeadsMetrics>> CudaMetrics::measure(HeadSource& heads,
                                                              const std::vector<double>& weights,
                                                              const MeasureOptions& options,
                                                              const DevicePlace& place) try {
  BatchOptions request;
  request.conventions = options.conventions;
  request.nodes = options.nodes;
  request.execution = options.execution;
  check_conventions(request.conventions);
  bool own = true;  // all heads have walks of their own, or none
  for (int h = 0; h < heads.heads(); ++h) own = own && heads.own_walk(h) != nullptr;
  for (int h = 0; h < heads.heads() && !own; ++h)
    if (heads.own_walk(h) != nullptr) return std::nullopt;
  if (heads.nodes() < 2 || heads.row_shares() != nullptr || !large::refusal(request).empty())
    return std::nullopt;
  const Call call(place);
  DeviceState& state = state_of(place);
  const std::lock_guard<std::mutex> lock(state.busy);
  const auto operators_of = [&](const DeviceMemory<double>& data, LargeWorkspace& workspace,
                                bool of_walks) {
    LargeHeads system;
    system.nodes = heads.nodes();
    system.heads = heads.heads();
    system.type = FloatType::kFloat64;
    system.stride = heads.nodes();
    for (int h = 0; h < system.heads; ++h)
      system.data.push_back(data.data() + h * system.stride * system.stride);
    system.weights = convex_weights(weights, static_cast<std::size_t>(system.heads));
    system.published = !of_walks && large::wants_published(request);
    system.as_given = of_walks;
    return std::make_unique<LargeOperators>(system, workspace, call.stream);
  };
  const DeviceMemory<double> diffusions = upload_heads(heads, false, call.stream);
  const auto operators = operators_of(diffusions, state.large, false);
  if (!large::is_good(*operators, 1e-9)) return std::nullopt;
  DeviceMemory<double> walks;
  LargeWorkspace workspace;
  std::unique_ptr<LargeOperators> own_walks;
  if (own) {
    walks = upload_heads(heads, true, call.stream);
    own_walks = operators_of(walks, workspace, true);
  }
  return large::measure(*operators,
                        convex_weights(weights, static_cast<std::size_t>(heads.heads())), request,
                        own_walks.get());
} catch (const DeviceFull&) {
  return std::nullopt;
}

void CudaMetrics::copy_head(const AttentionView& view, std::int64_t sample, std::int64_t head,
                            void* into, cudaStream_t stream) {
  const auto item = static_cast<std::int64_t>(item_size(view.type));
  if (view.strides.key != item || view.strides.query < view.tokens * item)
    throw InputError("attention on a GPU must have keys side by side: make it contiguous");
  const auto* from = static_cast<const std::byte*>(view.data) + sample * view.strides.sample +
                     head * view.strides.head;
  const auto row = static_cast<std::size_t>(view.tokens * item);
  require(cudaMemcpy2DAsync(into, row, from, static_cast<std::size_t>(view.strides.query), row,
                            static_cast<std::size_t>(view.tokens), cudaMemcpyDeviceToHost, stream),
          "copy from the device");
  require(cudaStreamSynchronize(stream), "copy from the device");
}

void MadeSystems::fetch(std::int64_t sample, std::int64_t head, void* into) {
  const auto n = static_cast<std::size_t>(view_.tokens);
  QueryKeyView one = view_;
  const std::int64_t key_head = head / (view_.heads / view_.key_heads);
  one.queries = static_cast<const std::byte*>(view_.queries) + head * view_.query_strides.head;
  one.keys = static_cast<const std::byte*>(view_.keys) + key_head * view_.key_strides.head;
  one.heads = one.key_heads = 1;
  if (one.sink_logits != nullptr) one.sink_logits += head;
  MadeSystems systems(one, stream_);
  const LargeHeads heads = systems.system({sample, 0, view_.tokens});
  DeviceMemory<double> lists(6 * n);
  DeviceMemory<int> flags(2);
  DeviceMemory<float> strip(n * kStrip);
  require(cudaMemsetAsync(flags.data(), 0, 2 * sizeof(int), stream_), "memory of the GPU");
  SumsJob job;
  job.entries = {strip.data(), FloatType::kFloat32, kStrip, lists.data() + n, Held::kOneStrip};
  job.nodes = heads.nodes;
  job.sums = {lists.data(),
              lists.data() + n,
              lists.data() + 2 * n,
              lists.data() + 3 * n,
              lists.data() + 4 * n,
              lists.data() + 5 * n,
              nullptr,
              flags.data(),
              flags.data() + 1};
  DeviceMemory<SumsJob> on_device(1);
  on_device.upload(&job, 1, stream_);
  heads.maker->queue_sums({job}, on_device.data(), stream_);
  std::vector<double> scale(n);
  require(cudaMemcpyAsync(scale.data(), job.sums.scale, n * sizeof(double), cudaMemcpyDeviceToHost,
                          stream_),
          "copy from the device");
  std::vector<float> rows(n * kBlock);
  auto* to = static_cast<double*>(into);
  std::fill_n(to, n * n, 0.0);
  for (std::size_t first = 0; first < n; first += kBlock) {
    heads.maker->queue_rows(static_cast<int>(first), view_.tokens, strip.data(), stream_);
    const std::size_t count = std::min<std::size_t>(kBlock, n - first);
    require(cudaMemcpyAsync(rows.data(), strip.data(), count * n * sizeof(float),
                            cudaMemcpyDeviceToHost, stream_),
            "copy from the device");
    require(cudaStreamSynchronize(stream_), "copy from the device");
    for (std::size_t i = first; i < first + count; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        to[i * n + j] = double{rows[(i - first) * n + j]} * scale[i];
  }
}

}  // namespace

std::unique_ptr<MetricsBackend> make_cuda_metrics() {
  return std::make_unique<CudaMetrics>();
}

}  // namespace synergraph::cuda
