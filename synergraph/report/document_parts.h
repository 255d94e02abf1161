#pragma once

#include <string>
#include <vector>

#include "synergraph/report/schema_types.h"

namespace synergraph::schema {

/// A named part of documents. It is a document itself if it has a document's name.
struct Part {
  const char* name;
  const char* about;
  ordered_json type;
  std::string document = {};
};

inline Part document(const char* name, const DocumentId& id, const char* about,
                     const Fields& fields) {
  return {name, about, object(fields), std::string(id.name)};
}

std::vector<Part> measured_parts();  ///< documents of graph, analyze, heads and inspect
std::vector<Part> study_parts();     ///< of verify and reproduce, files of studies and of training
std::vector<Part> answer_parts();    ///< of pages, and short answers of the C interface

// Fields that documents of several commands have.
Fields sizes();                       ///< of a model
Fields score();                       ///< of a model on a task
Fields judged(const Fields& fields);  ///< of a training run: these, and what judges the model
Fields system(int heads);             ///< of one system with at least so many heads described

}  // namespace synergraph::schema
