#pragma once

#include <string>
#include <vector>

#include "synergraph/core/terminal.h"
#include "synergraph/study/verify.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// For a terminal of so many columns: every published cell beside ours with the difference in
/// standard errors, the best head against all heads over many sequences, the same layers by the
/// exact convention, and whether all cells agree.
std::string format_report(const std::vector<VerifiedModel>& models, const VerifyOptions& options,
                          std::size_t columns = kUnlimited);

/// Everything, as docs/formats.md describes it.
std::string json_report(const std::vector<VerifiedModel>& models, const VerifyOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop
