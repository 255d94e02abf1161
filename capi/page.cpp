#include "synergraph/report/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "capi/attention.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/documents.h"

using namespace synergraph;        // NOLINT: the function below is its interface
using namespace synergraph::capi;  // NOLINT

namespace {

/// The command that writes such a document. InputError for another one.
std::string command_of(const nlohmann::json& document) {
  const bool named =
      document.is_object() && document.contains("schema") && document["schema"].is_string();
  const std::string schema = named ? document["schema"].get<std::string>() : "";
  if (schema == kAnalyzeDocument.name) return "analyze";
  if (schema == kHeadsDocument.name) return "heads";
  throw InputError("the document is of neither sg_measure() nor sg_heads()");
}

/// InputError if the attention has other layers, heads or tokens than the document.
void check_same_shape(const nlohmann::json& document, const std::string& command,
                      const sg_attention& attention) try {
  const bool analysed = command == "analyze";
  const nlohmann::json& of = analysed ? document.at("conventions").at(0) : document;
  const nlohmann::json& measured = of.at("layers");
  const std::vector<AttentionLayer>& layers = attention.source->layers();
  if (measured.size() != layers.size())
    throw InputError(fmt::format("attention: {}, but {} were measured; pass what was measured",
                                 counted(static_cast<std::int64_t>(layers.size()), "layer"),
                                 measured.size()));
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const std::size_t heads = measured[l].at(analysed ? "heads" : "weights").size();
    const auto tokens = measured[l].at("tokens").get<std::int64_t>();
    if (static_cast<std::size_t>(layers[l].heads) != heads || layers[l].tokens != tokens)
      throw InputError(fmt::format(
          "attention, layer {}: {} heads of {} tokens, but {} of {} were measured; pass what was "
          "measured",
          l, layers[l].heads, layers[l].tokens, heads, tokens));
  }
} catch (const nlohmann::json::exception&) {
  throw InputError("the document is damaged; pass one of sg_result_json()");
}

/// The names of tokens, checked against the attention.
TokenNames names_of(const char* tokens, const sg_attention& attention) {
  TokenNames names = token_names_in_json(tokens, "tokens");
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
    const nlohmann::json parsed = nlohmann::json::parse(document, nullptr, false);
    page.command = command_of(parsed);
    page.title = settings.title;
    page.document = document;
    if (attention == nullptr) {
      if (tokens != nullptr) throw UsageError("tokens need the attention");
      return copied_text(write_page(path, page));
    }
    check_same_shape(parsed, page.command, *attention);
    const std::scoped_lock lock(attention->reading);
    page.attention = PageAttention{.source = attention->source.get(),
                                   .weights = attention->layer_weights(),
                                   .samples = settings.samples};
    if (tokens != nullptr) page.attention->labels = names_of(tokens, *attention);
    return copied_text(write_page(path, page));
  });
}
