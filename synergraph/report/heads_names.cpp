#include "synergraph/report/heads_names.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/shorten_names.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/layer_labels.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

constexpr std::size_t kLongestLayer = 30;
constexpr std::size_t kLongestName = 16;
constexpr std::size_t kFew = 4;

std::vector<std::string> short_names(std::vector<std::string> names, std::size_t columns) {
  for (std::string& name : names) name = printable(name);
  return shorten_names(names, columns);
}

}  // namespace

HeadsNames::HeadsNames(const HeadsReport& report)
    : heads_(short_names(report.head_names, kLongestName)),
      tokens_(short_names(report.token_names, kLongestName)),
      first_token_(report.range.begin) {
  for (const AttentionLayer& layer : report.head_values.layers) {
    layers_.push_back(layer.name);
    extra_nodes_ = extra_nodes(layer.missing_mass);
  }
  layers_ = short_names(std::move(layers_), kLongestLayer);
  for (std::string& layer : layers_) {
    if (!heads_.empty())
      layer.clear();
    else if (is_number(layer))
      layer.insert(0, "layer ");
  }
}

std::string HeadsNames::head(int h) const {
  const auto index = static_cast<std::size_t>(h);
  return index < heads_.size() ? heads_[index] : fmt::format("{}", h);
}

std::string HeadsNames::heads(const std::vector<int>& heads) const {
  std::vector<std::string> names;
  names.reserve(heads.size());
  for (const int h : heads) names.push_back(head(h));
  const char* noun = !heads_.empty() ? "" : heads.size() == 1 ? "head " : "heads ";
  return noun + listed(names);
}

std::string HeadsNames::few(const std::vector<int>& few, std::size_t all) const {
  return few.size() <= kFew ? heads(few) : fmt::format("{} of {} heads", few.size(), all);
}

std::string HeadsNames::ranges(const std::vector<int>& heads) const {
  std::string text;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    if (!text.empty()) text += heads_.empty() ? " " : ", ";
    text += head(heads[k]);
    std::size_t end = k;
    while (end + 1 < heads.size() && heads[end + 1] == heads[end] + 1) ++end;
    if (!heads_.empty() || end < k + 2) continue;
    text += fmt::format("-{}", heads[end]);
    k = end;
  }
  return text;
}

std::string HeadsNames::set(const std::vector<int>& heads, std::size_t all) const {
  if (heads.empty()) return "none";
  if (heads.size() == all) return "all";
  if (2 * heads.size() <= all || heads.size() <= 2) return ranges(heads);
  std::vector<int> others;
  for (int h = 0; h < static_cast<int>(all); ++h)
    if (std::find(heads.begin(), heads.end(), h) == heads.end()) others.push_back(h);
  return "all but " + ranges(others);
}

std::string HeadsNames::node(int node) const {
  if (node < extra_nodes_) return "the missing mass";
  const auto token = static_cast<std::size_t>(node - extra_nodes_);
  return token < tokens_.size() ? tokens_[token]
                                : fmt::format("token {}", first_token_ + node - extra_nodes_);
}

}  // namespace synergraph
