#include "cli/figure_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"

namespace synergraph::cli {

FigureOptions figure_options(const FigureLook& look, std::vector<std::string> names) {
  const std::string& size = look.figure_size;
  FigureOptions options{{}, look.figure_title, std::move(names)};
  if (size.empty()) return options;
  constexpr double kMost = 40.0;
  const auto side = [&](const std::string& text) {
    double inches = 0.0;
    if (!parse_number(text, inches) || !(inches >= 1.0 && inches <= kMost))
      throw UsageError(
          fmt::format("--figure-size: expected WxH, two numbers of inches from 1 to {}, got '{}'",
                      kMost, size));
    return inches;
  };
  const std::size_t cross = std::min(size.find('x'), size.size());
  options.size = {side(size.substr(0, cross)),
                  side(cross < size.size() ? size.substr(cross + 1) : "")};
  return options;
}

}  // namespace synergraph::cli
