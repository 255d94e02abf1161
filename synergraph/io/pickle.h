#pragma once

#include <string>
#include <string_view>

#include "synergraph/io/pickle_document.h"

/// Reads the part of Python's pickle format that PyTorch checkpoints need. The parser turns the
/// opcodes into plain data: it imports, calls and executes nothing. A pickle names the functions
/// that its loader must call. The parser knows the functions that rebuild tensors by name and
/// records their calls. The parser refuses all other functions.
namespace synergraph::pickle {

/// Reads a pickle of protocol 2 to 5. Memory and time are linear in the length of the pickle,
/// because repeated references copy nothing. InputErrors begin with `where`.
Document parse(std::string_view bytes, const std::string& where);

}  // namespace synergraph::pickle
