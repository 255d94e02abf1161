#include "synergraph/device/subsets_on_device.h"

#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/device/system_batch.h"

namespace synergraph {

void SubsetsOnDevice::count(std::optional<int> device) {
  const std::lock_guard lock(counting_);
  ++(device ? counted_.on_device : counted_.on_cpu);
  if (device) counted_.devices.insert(*device);
}

std::string SubsetsOnDevice::measured_on() const {
  const std::lock_guard lock(counting_);
  return counted_.text(device_);
}

SubsetValues SubsetsOnDevice::values(HeadSource& heads, std::span<const double> weights,
                                     const SubsetOptions& options) {
  const auto on_cpu = [&] {
    count({});
    return subset_values(heads, weights, options);
  };
  if (device_.is_cpu() || heads.row_shares() != nullptr || heads.own_walk(0) != nullptr)
    return on_cpu();
  const AttentionView shape =
      attention_view(this, FloatType::kFloat64, 1, heads.heads(), heads.nodes());
  if (!device_.backend->refusal(shape, options).empty()) return on_cpu();
  SystemBatch batch(heads.heads(), heads.nodes());
  batch.add({0, 0}, heads, {weights.begin(), weights.end()});
  const int index = device_.indices[next_++ % device_.indices.size()];
  try {
    SubsetValues values =
        device_.backend->subset_values(batch.view(), 0, weights, options, DevicePlace{index});
    count(index);
    return values;
  } catch (const InputError&) {
    if (!device_.automatic) throw;
    return on_cpu();
  }
}

}  // namespace synergraph
