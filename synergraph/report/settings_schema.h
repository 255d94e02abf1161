#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The commands ("measure" is analyze), the calls of the C interface without a command, and
/// "quantities".
std::vector<std::string> schema_names();

/// The JSON Schema (2020-12) of the settings of such a call; each property has its type, range,
/// names, default and description, and the faces that offer it. Of "quantities" the rows of
/// heads/quantity_rows.h. UsageError for another name.
std::string settings_schema(const std::string& name);

}  // namespace synergraph
#pragma GCC visibility pop
