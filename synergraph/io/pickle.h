#pragma once

#include <string>
#include <string_view>

#include "synergraph/io/pickle_document.h"

/// The part of Python's pickle format that PyTorch checkpoints need. The opcodes are interpreted
/// into plain data: nothing is imported, called or executed. A pickle names the functions that it
/// wants called; those that rebuild tensors are known by name and recorded, all others refused.
namespace synergraph::pickle {

/// Reads a pickle of protocol 2 to 5. Memory and time are linear in its length: nothing is copied
/// when it is referred to again. InputErrors begin with `where`.
Document parse(std::string_view bytes, const std::string& where);

}  // namespace synergraph::pickle
