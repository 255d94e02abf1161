#pragma once

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"

namespace synergraph {

/// A JSON document that the program writes. The version grows when a field changes its meaning or
/// is removed; document_schema.h describes the fields.
struct DocumentId {
  std::string_view name;
  int version;
  int oldest = version;  ///< version that a reader of this one understands, too
};

inline constexpr DocumentId kAblationDocument{"synergraph.ablation", 1};
inline constexpr DocumentId kAgreementDocument{"synergraph.agreement", 1};
inline constexpr DocumentId kAnalyzeDocument{"synergraph.analyze", 3, 2};
inline constexpr DocumentId kCompareDocument{"synergraph.compare", 1};
inline constexpr DocumentId kDesignDocument{"synergraph.design", 1};
inline constexpr DocumentId kFamiliesDocument{"synergraph.families", 1};
inline constexpr DocumentId kGraphDocument{"synergraph.graph", 1};
inline constexpr DocumentId kHeadsDocument{"synergraph.heads", 2, 1};
inline constexpr DocumentId kInspectDocument{"synergraph.inspect", 1};
inline constexpr DocumentId kStudyDocument{"synergraph.reproduce", 2};
inline constexpr DocumentId kVerifyDocument{"synergraph.verify", 2};

/// The fields that every document begins with.
inline nlohmann::ordered_json document_head(const DocumentId& id) {
  return {{"schema", id.name},
          {"schema_version", id.version},
          {"program", fmt::format("synergraph {}", kVersion)},
          {"isa", instruction_set()}};
}

/// A document: what it begins with, then these fields.
inline nlohmann::ordered_json document_of(const DocumentId& id,
                                          const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json document = document_head(id);
  document.update(fields);
  return document;
}

}  // namespace synergraph
