#include "synergraph/device/device_full.h"

namespace synergraph {

DeviceFull::~DeviceFull() = default;

}  // namespace synergraph
