#pragma once

#include <string>
#include <string_view>

#include "synergraph/io/pickle_document.h"

namespace synergraph::pickle {

/// Whether a pickle may name this global, "module.name".
bool is_known_global(std::string_view name);

/// Returns the result that calling a known global with these arguments (the items of a tuple) would
/// give. A new result is appended to the document. Messages begin with `where`.
Ref call(Document& document, const std::string& global, Ref arguments, const std::string& where);

/// Returns the storage for a persistent id, ('storage', type, key, location, elements).
Ref persistent(Document& document, Ref id, const std::string& where);

}  // namespace synergraph::pickle
