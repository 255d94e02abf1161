#include "synergraph/device/measure_on_device.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/progress.h"
#include "synergraph/device/device_buffer.h"
#include "synergraph/device/system_batch.h"
#include "synergraph/heads/view_source.h"
#include "synergraph/heads/visit_systems.h"

namespace synergraph {
namespace {

using Keep = std::function<void(int layer, int sample, std::vector<HeadsMetrics> by_convention)>;

/// Bytes of attention that a device is given at once, where systems are small.
constexpr double kBatchBytes = 1U << 30U;
constexpr double kMostBatch = 65536;

/// Samples of a layer that lie in memory, for one device.
struct LyingBatch {
  int layer;
  int first;
  int end;
};

std::size_t systems_in(double bytes, double matrix_bytes, int heads) {
  return static_cast<std::size_t>(std::clamp(bytes / (matrix_bytes * heads), 1.0, kMostBatch));
}

class DeviceMeasurement {
 public:
  DeviceMeasurement(const MeasuringDevice& device, AttentionSource& source,
                    const SystemWeights& weights, const MeasureOptions& options, const Keep& keep)
      : device_(device),
        source_(source),
        views_(dynamic_cast<ViewSource*>(&source)),
        weights_(weights),
        options_(options),
        keep_(keep),
        busy_(device.indices.size()) {
    request_.conventions = options.conventions;
    request_.nodes = options.nodes;
    request_.execution = options.execution;
    request_.execution.progress = {};
  }

  MeasuredOn run(const std::vector<SampleRange>& samples);

 private:
  enum class Way {
    kLying,  ///< handed to the device as it lies in memory
    kRead,   ///< read, and then handed over in batches
    kCpu,
  };

  Way way_of(int layer) const;
  BatchOptions lying_options(const LyingBatch& batch) const;
  void plan_lying(int layer, const std::vector<SampleRange>& samples);
  void measure_lying(const std::vector<SampleRange>& samples);
  void measure_lying(const LyingBatch& batch, int index);
  BatchMetrics on_device(const LyingBatch& batch, const BatchOptions& options,
                         std::span<const double> weights, int index);
  void measure_read(const std::vector<SampleRange>& samples);
  void take(const VisitedSystem& system);
  void flush(std::unique_lock<std::mutex> gathering);
  void measure_batch(const SystemBatch& batch, int index);
  void measure_on_cpu(const VisitedSystem& system);
  void measure_on_cpu(int layer, const std::vector<SampleRange>& samples);
  ProgressOptions progress_of_call();
  void finished(int layer, int systems, std::optional<int> device);

  const MeasuringDevice& device_;
  AttentionSource& source_;
  ViewSource* views_;
  const SystemWeights& weights_;
  const MeasureOptions& options_;
  const Keep& keep_;
  BatchOptions request_;
  std::vector<Way> ways_;
  std::vector<std::deque<LyingBatch>> lying_;  // for every device
  std::mutex gathering_;
  SystemBatch batch_;
  std::size_t next_ = 0;         // device for the next batch
  std::deque<std::mutex> busy_;  // one work at a time on a device
  Progress* progress_ = nullptr;
  std::mutex counting_;
  MeasuredOn result_;
  std::uint64_t told_ = 0;  // heads that progress has, and no finished system yet
};

/// Hears of heads that are done, while their systems are under way.
ProgressOptions DeviceMeasurement::progress_of_call() {
  return {.listener = [this, last = std::uint64_t{0}](std::uint64_t done, std::uint64_t,
                                                      const std::string&) mutable {
    if (done <= last) return;
    const std::lock_guard counting(counting_);
    told_ += done - last;
    progress_->add(done - last);
    last = done;
  }};
}

void DeviceMeasurement::finished(int layer, int systems, std::optional<int> device) {
  const std::uint64_t heads =
      static_cast<std::uint64_t>(systems) *
      static_cast<std::uint64_t>(source_.layers()[static_cast<std::size_t>(layer)].heads);
  const std::lock_guard counting(counting_);
  (device ? result_.on_device : result_.on_cpu) += static_cast<std::uint64_t>(systems);
  if (device) result_.devices.insert(*device);
  const std::uint64_t before = std::min(heads, told_);
  told_ -= before;
  progress_->add(heads - before);
}

DeviceMeasurement::Way DeviceMeasurement::way_of(int layer) const {
  const AttentionLayer& shape = source_.layers()[static_cast<std::size_t>(layer)];
  if (views_ != nullptr && views_->memory(layer).lies_in_memory()) {
    const LayerMemory& memory = views_->memory(layer);
    BatchOptions request = request_;
    request.row_tolerance = views_->row_tolerance();
    request.missing_mass = views_->missing_mass();
    const std::string why = memory.scores ? device_.backend->refusal(*memory.scores, request)
                                          : device_.backend->refusal(memory.view, request);
    return why.empty() ? Way::kLying : Way::kCpu;
  }
  const AttentionView view =
      attention_view(this, FloatType::kFloat64, 1, shape.heads, shape.nodes());
  return device_.backend->refusal(view, request_).empty() ? Way::kRead : Way::kCpu;
}

void DeviceMeasurement::plan_lying(int layer, const std::vector<SampleRange>& samples) {
  const LayerMemory& memory = views_->memory(layer);
  const auto tokens = static_cast<double>(memory.view.tokens);
  const auto count = static_cast<int>(
      systems_in(kBatchBytes, 4.0 * tokens * tokens, static_cast<int>(memory.view.heads)));
  for (const SampleRange& range : samples) {
    const int end = std::min(range.end, source_.layers()[static_cast<std::size_t>(layer)].samples);
    for (int first = range.begin; first < end; first += count) {
      std::size_t device = next_++ % device_.indices.size();
      if (memory.place)  // where it lies, whatever was asked for
        device = static_cast<std::size_t>(std::find(device_.indices.begin(), device_.indices.end(),
                                                    memory.place->device) -
                                          device_.indices.begin()) %
                 device_.indices.size();
      lying_[device].push_back({layer, first, std::min(first + count, end)});
    }
  }
}

BatchOptions DeviceMeasurement::lying_options(const LyingBatch& batch) const {
  BatchOptions options = request_;
  options.row_tolerance = views_->row_tolerance();
  options.missing_mass = views_->missing_mass();
  for (int sample = batch.first; sample < batch.end; ++sample)
    options.sequences.push_back(views_->span(batch.layer, sample));
  return options;
}

BatchMetrics DeviceMeasurement::on_device(const LyingBatch& batch, const BatchOptions& options,
                                          std::span<const double> weights, int index) {
  const LayerMemory& memory = views_->memory(batch.layer);
  MetricsBackend& backend = *device_.backend;
  const DevicePlace place = memory.place.value_or(DevicePlace{index});
  if (!memory.scores) return backend.measure(memory.view, weights, options, place);
  if (memory.place) return backend.measure(*memory.scores, weights, options, place);
  const auto [low, high] = std::minmax_element(
      options.sequences.begin(), options.sequences.end(),
      [](const TokenSpan& a, const TokenSpan& b) { return a.sample < b.sample; });
  const std::int64_t first = low->sample;
  const ScoresOnDevice scores(backend, *memory.scores, first, high->sample - first + 1, place);
  BatchOptions moved = options;
  for (TokenSpan& sequence : moved.sequences) sequence.sample -= first;
  return backend.measure(scores.view(), weights, moved, place);
}

void DeviceMeasurement::measure_lying(const LyingBatch& batch, int index) {
  options_.execution.check();
  const std::vector<double> weights = weights_(batch.layer, batch.first);
  // Weights that differ go to the device one system at a time.
  for (int sample = batch.first + 1; sample < batch.end; ++sample) {
    if (weights_(batch.layer, sample) == weights) continue;
    for (int each = batch.first; each < batch.end; ++each)
      measure_lying({batch.layer, each, each + 1}, index);
    return;
  }
  BatchOptions request = lying_options(batch);
  request.execution.progress = progress_of_call();
  BatchMetrics measured;
  try {
    measured = on_device(batch, request, weights, index);
  } catch (const InputError& error) {
    if (device_.automatic)  // the CPU measures it, or says what is wrong with it
      return measure_on_cpu(batch.layer, {{batch.first, batch.end}});
    if (source_.layers().size() == 1) throw;
    throw InputError(fmt::format("layer {}, {}",
                                 source_.layers()[static_cast<std::size_t>(batch.layer)].name,
                                 error.what()));
  }
  for (int sample = batch.first; sample < batch.end; ++sample) {
    std::vector<HeadsMetrics> by_convention;
    for (auto& sequences : measured.sequences)
      by_convention.push_back(std::move(sequences[static_cast<std::size_t>(sample - batch.first)]));
    keep_(batch.layer, sample, std::move(by_convention));
  }
  const LayerMemory& memory = views_->memory(batch.layer);
  finished(batch.layer, batch.end - batch.first, memory.place ? memory.place->device : index);
}

/// Devices side by side, each with one batch at a time.
void DeviceMeasurement::measure_lying(const std::vector<SampleRange>& samples) {
  lying_.resize(device_.indices.size());
  for (int layer = 0; layer < static_cast<int>(ways_.size()); ++layer)
    if (ways_[static_cast<std::size_t>(layer)] == Way::kLying) plan_lying(layer, samples);
  parallel_for(lying_.size(), static_cast<int>(lying_.size()), [&](std::size_t device, int) {
    for (const LyingBatch& batch : lying_[device]) measure_lying(batch, device_.indices[device]);
  });
}

void DeviceMeasurement::measure_on_cpu(const VisitedSystem& system) {
  MeasureOptions each = options_;
  each.execution = system.execution;
  each.head_done = [&] { system.execution.check(); };
  keep_(system.layer, system.sample,
        measure(system.heads, weights_(system.layer, system.sample), each));
  finished(system.layer, 1, std::nullopt);
}

void DeviceMeasurement::measure_on_cpu(int layer, const std::vector<SampleRange>& samples) {
  visit_systems(source_, {samples, layer, request_.execution},
                [&](const VisitedSystem& system) { measure_on_cpu(system); });
}

void DeviceMeasurement::measure_batch(const SystemBatch& batch, int index) {
  options_.execution.check();
  BatchOptions options = request_;
  options.sequences = batch.sequences();
  BatchMetrics measured;
  try {
    measured = device_.backend->measure(batch.view(), batch.weights(), options, {index});
  } catch (const InputError&) {
    if (!device_.automatic) throw;
    for (const SystemBatch::Place& place : batch.places())
      measure_on_cpu(place.layer, {{place.sample, place.sample + 1}});
    return;
  }
  for (std::size_t k = 0; k < batch.size(); ++k) {
    std::vector<HeadsMetrics> by_convention;
    for (auto& sequences : measured.sequences) by_convention.push_back(std::move(sequences[k]));
    const auto [layer, sample] = batch.places()[k];
    keep_(layer, sample, std::move(by_convention));
    finished(layer, 1, index);
  }
}

/// Hands what was gathered to the next device. Meanwhile other threads gather the next batch: two
/// batches are in memory at most, for they wait here while all devices are busy.
void DeviceMeasurement::flush(std::unique_lock<std::mutex> gathering) {
  if (batch_.size() == 0) return;
  const std::size_t device = next_++ % device_.indices.size();
  const std::lock_guard working(busy_[device]);
  const SystemBatch full = std::exchange(batch_, {});
  gathering.unlock();
  measure_batch(full, device_.indices[device]);
}

void DeviceMeasurement::take(const VisitedSystem& system) {
  const Way way = ways_[static_cast<std::size_t>(system.layer)];
  if (way == Way::kCpu || system.heads.rows() != nullptr || system.heads.row_shares() != nullptr ||
      system.heads.own_walk(0) != nullptr)
    return measure_on_cpu(system);
  const AttentionLayer& layer = source_.layers()[static_cast<std::size_t>(system.layer)];
  const std::vector<double> weights = weights_(system.layer, system.sample);
  SystemBatch one(system.heads.heads(), layer.nodes());
  one.add({system.layer, system.sample}, system.heads, weights);
  std::unique_lock gathering(gathering_);
  // While a batch is measured, other threads may gather another shape.
  while (batch_.size() > 0 && !batch_.same_shape(one)) {
    flush(std::move(gathering));
    gathering = std::unique_lock(gathering_);
  }
  const double matrix = 8.0 * layer.nodes() * static_cast<double>(layer.nodes());
  const double memory =
      std::min(kBatchBytes, static_cast<double>(options_.execution.memory.bytes()) / 4);
  batch_.add(std::move(one));
  if (batch_.size() < systems_in(memory, matrix, layer.heads)) return;
  flush(std::move(gathering));
}

void DeviceMeasurement::measure_read(const std::vector<SampleRange>& samples) {
  const auto visit = [&](std::optional<int> layer) {
    visit_systems(source_, {samples, layer, request_.execution},
                  [&](const VisitedSystem& system) { take(system); });
  };
  if (views_ == nullptr) {
    visit({});
  } else {
    for (int layer = 0; layer < static_cast<int>(ways_.size()); ++layer)
      if (ways_[static_cast<std::size_t>(layer)] != Way::kLying) visit(layer);
  }
  flush(std::unique_lock(gathering_));
}

MeasuredOn DeviceMeasurement::run(const std::vector<SampleRange>& samples) {
  std::uint64_t heads = 0;
  for (int layer = 0; layer < static_cast<int>(source_.layers().size()); ++layer) {
    ways_.push_back(way_of(layer));
    const AttentionLayer& shape = source_.layers()[static_cast<std::size_t>(layer)];
    for (const SampleRange& range : samples)
      heads += static_cast<std::uint64_t>(
                   std::max(0, std::min(range.end, shape.samples) - range.begin)) *
               static_cast<std::uint64_t>(shape.heads);
  }
  Progress progress("heads", heads, 0, options_.execution.progress);
  progress_ = &progress;
  measure_lying(samples);
  measure_read(samples);
  return std::move(result_);
}

}  // namespace

std::string MeasuredOn::text(const MeasuringDevice& device) const {
  if (device.is_cpu() || on_device == 0) return {};
  std::string text;
  for (const int index : devices) {
    const std::string one = device.backend->describe(index);
    if (text.find(one) == std::string::npos) text += (text.empty() ? "" : ", ") + one;
  }
  text += ", float64";
  if (on_cpu > 0) text += fmt::format("; {} of {} systems on the CPU", on_cpu, on_cpu + on_device);
  return text;
}

MeasuredOn measure_systems_on(const MeasuringDevice& device, AttentionSource& source,
                              const std::vector<SampleRange>& samples, const SystemWeights& weights,
                              const MeasureOptions& options, const Keep& keep) {
  if (!device.is_cpu()) {
    check_conventions(options.conventions);
    return DeviceMeasurement(device, source, weights, options, keep).run(samples);
  }
  std::atomic<std::uint64_t> systems{0};
  measure_systems(source, samples, weights, options,
                  [&](int layer, int sample, std::vector<HeadsMetrics> by_convention) {
                    ++systems;
                    keep(layer, sample, std::move(by_convention));
                  });
  return {.on_cpu = systems};
}

HeadsMetrics measure_heads_on(const MeasuringDevice& device, const std::vector<Head>& heads,
                              const std::vector<double>& weights, const MetricsOptions& options,
                              const Execution& execution, std::string& measured_on) {
  MeasuredOn on;
  if (!device.is_cpu()) {
    HeadList source(heads);
    const MeasureOptions request{.conventions = {options}, .execution = execution};
    const int index = device.indices.front();
    if (auto found = device.backend->measure(source, weights, request, {index})) {
      on.on_device = 1;
      on.devices = {index};
      measured_on = on.text(device);
      return std::move(found->front());
    }
  }
  return measure_heads(heads, weights, options, execution);
}

double cpu_seconds(const AttentionLayer& layer) {
  return 1e-9 * (5.0 * layer.heads + 9.0) * std::pow(layer.nodes(), 3);
}

}  // namespace synergraph
