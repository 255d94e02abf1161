#include "synergraph/device/measuring_device.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/device/device_name.h"

namespace synergraph {
namespace {

/// The GPUs of a name; InputError where one cannot be used.
std::vector<int> indices_of(const DeviceName& name, const MetricsBackend& backend, int number) {
  const int count = backend.count();
  if (count < 1) {
    backend.describe(0);  // says why
    throw InputError("no GPU on this machine");
  }
  if (name.index && *name.index >= count)
    throw InputError(fmt::format("this machine has {} GPU{}", count, count == 1 ? "" : "s"));
  std::vector<int> indices = {name.index.value_or(std::max(number, 0) % count)};
  if (name.all) {
    indices.resize(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), 0);
  }
  for (const int index : indices) backend.describe(index);
  return indices;
}

}  // namespace

MeasuringDevice choose_measuring_device(std::string_view name, double seconds, int number,
                                        LoadBackend load) {
  const DeviceName wanted = device_name(name);
  if (!wanted.gpu && !wanted.automatic) return {};
  if (wanted.automatic && seconds < kAutomaticSeconds) return {};
  try {
    MetricsBackend& backend = load();
    return {&backend, indices_of(wanted, backend, number), wanted.automatic};
  } catch (const InputError& error) {
    if (wanted.automatic) return {};
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

MeasuringDevice choose_measuring_device(const DeviceRequest& request, double seconds) {
  try {
    MeasuringDevice device = choose_measuring_device(request.name, seconds, request.worker);
    device.automatic = device.automatic || request.optional;
    return device;
  } catch (const InputError&) {
    if (!request.optional) throw;
    return {};
  }
}

}  // namespace synergraph
