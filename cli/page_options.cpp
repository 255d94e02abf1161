#include "cli/page_options.h"

#include "cli/number_option.h"
#include "cli/output.h"

namespace synergraph::cli {

void PageArguments::add_to(CLI::App& command, bool attention, const char* group) {
  CLI::Option* page =
      add_output(command, "--page", file,
                 "write everything as an interactive page, one HTML file that needs "
                 "no network; - for standard output instead of the table");
  page->group(group);
  if (!attention) return;
  add_number(command, "--page-samples", samples,
             "samples whose attention is in the page (default: 10, or as many as 64 MiB hold)",
             {0, 100000000})
      ->needs(page)
      ->group(group);
}

void PageArguments::write(const Page& page) const {
  const std::string left_out = write_page(file == "-" ? "/dev/stdout" : file, page);
  if (!left_out.empty()) print_note(left_out);
}

void PageArguments::write(Page page, const AttentionInput& input) const {
  if (input.graph) {
    MultiHeadGraph graph = *input.graph;
    for (std::size_t h = 0; input.weights_from != "graph" && h < graph.heads.size(); ++h)
      graph.heads[h].weight = input.weights.front()[h];
    page.graph = format_graph_text(graph);
    return write(page);
  }
  page.attention = {input.source.get(), input.weights, {}, samples};
  if (input.weights_from == "learned")
    page.attention->learned = input.weights;
  else if (input.model)
    page.attention->learned = weights_of_model(*input.model);
  write(page);
}

}  // namespace synergraph::cli
