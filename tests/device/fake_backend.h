#pragma once

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/device/backend.h"

namespace synergraph::testing_support {

/// A backend whose devices are the CPU: what it is asked for, and how, is kept.
class FakeBackend : public MetricsBackend {
 public:
  struct Asked {
    bool scores = false;
    std::int64_t samples = 0;
    std::size_t sequences = 0;
    int device = 0;
    void* stream = nullptr;
  };

  int devices = 2;
  std::size_t most_tokens = 1000;  ///< larger systems are refused
  std::string failure;             ///< of every measurement, unless empty
  bool refuses = false;

  std::string describe(int device) const override {
    if (device >= devices) throw InputError("no GPU on this machine");
    return "fake (device " + std::to_string(device) + ")";
  }
  int count() const override { return devices; }
  std::string refusal(const AttentionView& attention, const BatchOptions&) const override {
    return refuses || attention.tokens > static_cast<std::int64_t>(most_tokens) ? "too large" : "";
  }
  std::string refusal(const QueryKeyView& attention, const BatchOptions&) const override {
    return refuses || attention.tokens > static_cast<std::int64_t>(most_tokens) ? "too large" : "";
  }

  BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                       const BatchOptions& options, const DevicePlace& place) override {
    note({false, attention.samples, options.sequences.size(), place.device, place.stream});
    return synergraph::measure(attention, weights, options);
  }
  BatchMetrics measure(const QueryKeyView& attention, std::span<const double> weights,
                       const BatchOptions& options, const DevicePlace& place) override {
    note({true, attention.samples, options.sequences.size(), place.device, place.stream});
    const auto matrix = static_cast<std::size_t>(attention.tokens * attention.tokens);
    std::vector<double> values(static_cast<std::size_t>(attention.samples * attention.heads) *
                               matrix);
    for (std::int64_t s = 0; s < attention.samples; ++s)
      for (std::int64_t h = 0; h < attention.heads; ++h)
        read_probabilities(
            attention, s, h,
            values.data() + static_cast<std::size_t>(s * attention.heads + h) * matrix);
    return synergraph::measure(
        attention_view(values.data(), attention.samples, attention.heads, attention.tokens),
        weights, options);
  }

  std::optional<std::vector<HeadsMetrics>> measure(HeadSource& heads,
                                                   const std::vector<double>& weights,
                                                   const MeasureOptions& options,
                                                   const DevicePlace& place) override {
    note({false, 1, 1, place.device, place.stream});
    if (heads.nodes() > static_cast<int>(most_tokens)) return std::nullopt;
    return synergraph::measure(heads, weights, options);
  }

  std::string refusal(const AttentionView& attention, const SubsetOptions&) const override {
    return refuses || attention.tokens > static_cast<std::int64_t>(most_tokens) ? "too large" : "";
  }
  SubsetValues subset_values(const AttentionView& attention, std::int64_t sample,
                             std::span<const double> weights, const SubsetOptions& options,
                             const DevicePlace& place) override {
    note({false, attention.samples, 0, place.device, place.stream});
    return synergraph::subset_values(attention, sample, weights, options);
  }

  void* allocate(std::size_t bytes, const DevicePlace& /*place*/) override {
    return std::malloc(bytes);
  }
  void release(void* memory, const DevicePlace& /*place*/) noexcept override { std::free(memory); }
  void copy(void* to, const void* from, std::size_t bytes, const DevicePlace& /*place*/) override {
    std::memcpy(to, from, bytes);
  }

  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  void note(Asked one) {
    if (!failure.empty()) throw InputError(failure);
    const std::lock_guard lock(mutex_);
    asked_.push_back(one);
  }

  mutable std::mutex mutex_;
  std::vector<Asked> asked_;
};

}  // namespace synergraph::testing_support
