#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The JSON documents that the program, the C interface and Python give: those with a field
/// `schema` by its value ("synergraph.analyze"), files by their names ("run.json"), short answers
/// by the function of the C interface that gives them ("sg_model_json"); and "documents".
std::vector<std::string> document_names();

/// The JSON Schema (2020-12) of such a document. Objects are closed: a field that is not described
/// is an error. A field with a $comment that the document may lack is in every document that this
/// version of the program writes. "documents" gives all: under $defs every named part and document,
/// under `documents` the part that a document is. UsageError for another name.
std::string document_schema(const std::string& name);

}  // namespace synergraph
#pragma GCC visibility pop
