#include "synergraph/report/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "capi/attention.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/core/error.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/documents.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

/// The command that writes such a document. InputError for another one.
std::string command_of(const char* text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  const std::string schema = document.is_object() ? document.value("schema", "") : "";
  if (schema == kAnalyzeDocument.name) return "analyze";
  if (schema == kHeadsDocument.name) return "heads";
  throw InputError("the document is of neither sg_measure() nor sg_heads()");
}

/// The names of tokens, checked against the attention.
TokenNames names_of(const char* tokens, const sg_attention& attention) {
  TokenNames names = parse_token_names(tokens, "tokens.json");
  const std::vector<AttentionLayer>& layers = attention.source->layers();
  int samples = 0;
  for (const AttentionLayer& layer : layers) samples = std::max(samples, layer.samples);
  const AttentionLayer& first = layers.front();
  check_token_names(names, samples, first.tokens, "tokens");
  if (first.nodes() > first.tokens)
    for (std::vector<std::string>& list : names) list.insert(list.begin(), "missing mass");
  return names;
}

}  // namespace

int sg_write_page(const char* path, const char* options, const char* document, const char* tokens,
                  sg_attention* attention, char** note) {
  return making(note, [&] {
    require(path, "path");
    require(document, "document");
    const auto settings = take_settings<PageCallSettings>(options);
    Page page;
    page.command = command_of(document);
    page.title = settings.title;
    page.document = document;
    if (attention == nullptr) {
      if (tokens != nullptr) throw UsageError("tokens need the attention");
      return copied_text(write_page(path, page));
    }
    const std::scoped_lock lock(attention->reading);
    page.attention = PageAttention{.source = attention->source.get(),
                                   .weights = attention->layer_weights(),
                                   .samples = settings.samples};
    if (tokens != nullptr) page.attention->labels = names_of(tokens, *attention);
    return copied_text(write_page(path, page));
  });
}
