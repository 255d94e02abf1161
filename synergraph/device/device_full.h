#pragma once

#include "synergraph/core/error.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A device has too little memory left: less work at once may fit.
class DeviceFull : public InputError {
 public:
  using InputError::InputError;
  DeviceFull(const DeviceFull&) = default;
  DeviceFull& operator=(const DeviceFull&) = default;
  ~DeviceFull() override;  // in one library: a handler elsewhere knows the type
};

}  // namespace synergraph
#pragma GCC visibility pop
