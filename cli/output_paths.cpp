#include "cli/output_paths.h"

#include <fmt/core.h>

#include "cli/input.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph::cli {
namespace {

bool is_file(const NamedPath& named) {
  return !named.path.empty() && named.path != kStandardInput;
}

}  // namespace

void check_outputs(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& [option, path] = outputs[k];
    if (!is_file(outputs[k])) continue;
    for (const NamedPath& input : inputs) {
      // What is read from standard input may be a file, too.
      const std::string from = input.path == kStandardInput ? "/dev/stdin" : input.path;
      if (!from.empty() && is_same_file(path, from))
        throw UsageError(fmt::format("{}: {} would overwrite {}, which is read", option,
                                     quoted_text(path), input.option));
    }
    for (std::size_t other = 0; other < k; ++other)
      if (is_file(outputs[other]) && is_same_file(path, outputs[other].path))
        throw UsageError(fmt::format("{}: {} is the file of {}", option, quoted_text(path),
                                     outputs[other].option));
  }
  for (const NamedPath& output : outputs)
    if (is_file(output)) check_writable(output.path);
}

}  // namespace synergraph::cli
