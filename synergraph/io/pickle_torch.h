#pragma once

#include <string>
#include <string_view>

#include "synergraph/io/pickle_document.h"

namespace synergraph::pickle {

/// Whether a pickle may name this global, "module.name".
bool is_known_global(std::string_view name);

/// What calling a known global with these arguments (the items of a tuple) would give; appended to
/// the document where it is new. `where` begins the messages.
Ref call(Document& document, const std::string& global, Ref arguments, const std::string& where);

/// The storage that a persistent id, ('storage', type, key, location, elements), stands for.
Ref persistent(Document& document, Ref id, const std::string& where);

}  // namespace synergraph::pickle
