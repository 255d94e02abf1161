#pragma once

#include "synergraph/core/host_device.h"  // IWYU pragma: export
