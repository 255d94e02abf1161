#include "cli/figure_options.h"

#include <fmt/core.h>

#include "cli/number_option.h"
#include "cli/output_paths.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"

namespace synergraph::cli {

void FigureArguments::add_style_to(CLI::App& command, const char* group) {
  command
      .add_option("--figure-size", size,
                  "size of the figure in inches (default: what its panels need)")
      ->type_name("WxH")
      ->group(group);
  command.add_option("--figure-title", title, "title above the panels of the figure")
      ->type_name("TEXT")
      ->group(group);
}

void FigureArguments::add_to(CLI::App& command, const std::string& draws,
                             const std::string& named) {
  const char* group = "Output";
  CLI::Option* figure =
      command.add_option("--figure", file, draws + ": a path that ends in .svg, .pdf or .png");
  figure->type_name("FILE")->group(group);
  add_style_to(command, group);
  as_list(command.add_option("--figure-names", names,
                             fmt::format("names of the {} in it, separated by commas", named)))
      ->type_name("A,B,...")
      ->group(group);
  for (const char* option : {"--figure-size", "--figure-title", "--figure-names"})
    command.get_option(option)->needs(figure);
}

FigureOptions FigureArguments::resolve() const {
  FigureOptions options{{}, title, names};
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
