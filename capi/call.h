#pragma once

#include <cstddef>
#include <functional>

#include "capi/synergraph.h"
#include "synergraph/core/execution.h"

namespace synergraph::capi {

/// Carries work out as a call asks, NULL for the defaults, in `memory` bytes unless it asks for
/// others. Where progress is to be heard on this thread, the work is done on another one. Stopped
/// if the progress function asks for it.
void run_call(const sg_call* call, std::size_t memory,
              const std::function<void(const Execution& execution)>& work);

}  // namespace synergraph::capi
