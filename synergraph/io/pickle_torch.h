#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "synergraph/io/pickle.h"

namespace synergraph::pickle {

/// Pickles with more objects than this, in all or on the stack, are refused.
inline constexpr std::size_t kMaxNodes = std::size_t{1} << 21U;

/// Whether a pickle may name this global, "module.name".
bool is_known_global(std::string_view name);

/// What calling a known global with these arguments (the items of a tuple) would give; appended to
/// the document where it is new. `where` begins the messages.
Ref call(Document& document, const std::string& global, Ref arguments, const std::string& where);

/// The storage that a persistent id, ('storage', type, key, location, elements), stands for.
Ref persistent(Document& document, Ref id, const std::string& where);

/// Adds a node. InputError when there are too many.
Ref add_node(Document& document, Node node, const std::string& where);

}  // namespace synergraph::pickle
