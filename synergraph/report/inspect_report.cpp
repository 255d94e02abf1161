#include "synergraph/report/inspect_report.h"

#include <nlohmann/json.hpp>

#include "synergraph/core/version.h"
#include "synergraph/report/json_text.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

/// Version of the JSON layout; see docs/formats.md.
constexpr int kTensorSchema = 1;

}  // namespace

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
  return json_text({{"schema", "synergraph.inspect"},
                    {"schema_version", kTensorSchema},
                    {"program", std::string("synergraph ") + kVersion},
                    {"file", file.path()},
                    {"format", name_of(file.format())},
                    {"tensors", tensors},
                    {"skipped", skipped},
                    {"metadata", file.metadata()}});
}

}  // namespace synergraph
