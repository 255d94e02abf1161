#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/setting.h"

namespace synergraph {

inline constexpr const char* kOutputGroup = "Output";

/// Describes something that the program writes: a path, or what says how it looks.
constexpr Setting output_setting(std::string_view key, std::string_view help,
                                 std::string_view value = "FILE", std::string_view needs = "") {
  return {.key = key,
          .group = kOutputGroup,
          .help = help,
          .value = value,
          .faces = face::kProgram,
          .effect = SettingEffect::kOutput,
          .needs = needs};
}

/// The description of a JSON file, or of JSON on standard output as a flag.
inline constexpr Setting kJsonFile =
    output_setting("json", "write everything as JSON; - for standard output instead of the tables");
inline constexpr Setting kJsonFlag = output_setting("json", "print everything as JSON", "");

/// How figures look.
struct FigureLook {
  std::string figure_size;
  std::string figure_title;
};

/// See Setting.
template <class Visit>
void visit_settings(FigureLook& look, Visit&& visit) {
  Setting size =
      output_setting("figure_size", "size of the figure in inches (default: what its panels need)",
                     "WxH", "figure");
  Setting title =
      output_setting("figure_title", "title above the panels of the figure", "TEXT", "figure");
  size.excludes = title.excludes = "no_figures";
  visit(size, look.figure_size);
  visit(title, look.figure_title);
}

/// A figure of a command that draws on request.
struct FigureSettings : FigureLook {
  std::string figure;
  std::vector<std::string> figure_names;
};

/// See Setting.
template <class Visit>
void visit_settings(FigureSettings& settings, Visit&& visit) {
  visit(output_setting("figure",
                       "draw a figure of the results: a path that ends in .svg, .pdf or .png"),
        settings.figure);
  visit_settings(static_cast<FigureLook&>(settings), visit);
  visit(output_setting("figure_names",
                       "names of the layers in the figure (of a graph: of the heads), separated by "
                       "commas",
                       "A,B,...", "figure"),
        settings.figure_names);
}

/// An interactive page.
struct PageSettings {
  std::string page;
};

/// See Setting.
template <class Visit>
void visit_settings(PageSettings& settings, Visit&& visit) {
  visit(output_setting("page",
                       "write everything as an interactive page, one HTML file that needs no "
                       "network; - for standard output instead of the tables"),
        settings.page);
}

inline constexpr Setting kPageSamplesSetting =
    output_setting("page_samples",
                   "samples whose attention is in the page (default: 10, or as many as 64 MiB "
                   "hold)",
                   "", "page");

/// A page with attention.
struct AttentionPageSettings : PageSettings {
  std::optional<int> page_samples;
  std::string page_tokens;
};

/// See Setting.
template <class Visit>
void visit_settings(AttentionPageSettings& settings, Visit&& visit) {
  visit_settings(static_cast<PageSettings&>(settings), visit);
  visit(kPageSamplesSetting, settings.page_samples, NumberRange<int>{0, 100000000});
  visit(output_setting("page_tokens",
                       "file with the names of tokens for the page: text with one name per line, "
                       "or .json or .jsonl with one list of names for all samples or one list per "
                       "sample",
                       "FILE", "page"),
        settings.page_tokens);
}

}  // namespace synergraph
