#include "synergraph/train/make_fleet.h"

#include "synergraph/core/error.h"
#include "synergraph/train/cpu/cpu_fleet.h"

namespace synergraph {

std::unique_ptr<Fleet> make_fleet(Device device, const FleetSettings& settings,
                                  const Execution& execution) {
  switch (device) {
    case Device::kCpu:
      return make_cpu_fleet(settings, execution);
  }
  throw UsageError("no such device");
}

}  // namespace synergraph
