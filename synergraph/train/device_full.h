#pragma once

#include "synergraph/core/error.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A device has too little memory left: fewer models at once may do.
class DeviceFull : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace synergraph
#pragma GCC visibility pop
