#include "synergraph/report/inspect_report.h"

#include <nlohmann/json.hpp>

#include "synergraph/report/documents.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
using nlohmann::ordered_json;

std::string json_report(const TensorFile& file) {
  ordered_json tensors = ordered_json::array();
  for (const Tensor& tensor : file.tensors()) {
    const TensorInfo& info = tensor.info();
    tensors.push_back({{"name", info.name},
                       {"dtype", name_of(info.dtype)},
                       {"shape", info.shape},
                       {"elements", info.elements()},
                       {"bytes", info.bytes()}});
  }
  ordered_json skipped = ordered_json::array();
  for (const SkippedTensor& tensor : file.skipped())
    skipped.push_back({{"name", tensor.name}, {"reason", tensor.reason}});
  ordered_json json = document_of(kInspectDocument, {{"file", file.path()},
                                                     {"format", name_of(file.format())},
                                                     {"tensors", tensors},
                                                     {"skipped", skipped},
                                                     {"metadata", file.metadata()}});
  json.erase("isa");  // nothing is computed
  return json_text(json);
}

}  // namespace synergraph
