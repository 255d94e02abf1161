#include "cli/page_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "cli/output.h"
#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph::cli {

std::vector<NamedPath> PageArguments::inputs(std::vector<NamedPath> files) const {
  files.push_back({"--page-tokens", settings_.page_tokens});
  return files;
}

TokenNames PageArguments::read_names(const AttentionInput& input) const {
  const std::string& tokens = settings_.page_tokens;
  if (tokens.empty()) return {};
  if (input.graph) throw UsageError("--page-tokens: a graph has names of its own");
  constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
  TokenNames names = parse_token_names(read_file(tokens, kMostBytes), tokens);
  const std::vector<AttentionLayer>& layers = input.source->layers();
  int all = 0;
  for (const AttentionLayer& layer : layers) all = std::max(all, layer.samples);
  const AttentionLayer& first = layers.front();
  check_token_names(names, all, first.tokens, tokens);
  if (first.nodes() > first.tokens)
    for (std::vector<std::string>& list : names) list.insert(list.begin(), "missing mass");
  return names;
}

void write_page(const PageSettings& settings, const Page& page) {
  const std::string& file = settings.page;
  const std::string left_out = synergraph::write_page(file == "-" ? "/dev/stdout" : file, page);
  if (!left_out.empty()) print_note(left_out);
}

void PageArguments::write(Page page, const AttentionInput& input, TokenNames names) const {
  if (input.graph) {
    MultiHeadGraph graph = *input.graph;
    for (std::size_t h = 0; input.weights_from != "graph" && h < graph.heads.size(); ++h)
      graph.heads[h].weight = input.weights.front()[h];
    page.graph = format_graph_text(graph);
    return write_page(settings_, page);
  }
  page.attention = {
      input.source.get(), input.weights, {}, settings_.page_samples, std::move(names)};
  if (input.weights_from == "learned")
    page.attention->learned = input.weights;
  else if (input.model)
    page.attention->learned = weights_of_model(*input.model);
  write_page(settings_, page);
}

}  // namespace synergraph::cli
