#pragma once

#include <string>
#include <vector>

#include "synergraph/report/figure.h"
#include "synergraph/report/output_settings.h"

namespace synergraph::cli {

/// How a figure looks, with these names in it. UsageError for a size that is none.
FigureOptions figure_options(const FigureLook& look, std::vector<std::string> names = {});

}  // namespace synergraph::cli
