#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace synergraph {

/// A document as text with a line feed at its end. Bytes in names that are not UTF-8 are replaced;
/// control characters are escaped, those too that JSON would allow.
std::string json_text(const nlohmann::ordered_json& document);

}  // namespace synergraph
