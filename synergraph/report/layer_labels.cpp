#include "synergraph/report/layer_labels.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/parse_number.h"
#include "synergraph/core/shorten_names.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

constexpr std::size_t kLongest = 18;  // of a name at a tic, in characters

}  // namespace

std::string count_range(const std::vector<AttentionLayer>& layers, int AttentionLayer::*count) {
  const auto [least, most] =
      std::minmax_element(layers.begin(), layers.end(),
                          [&](const auto& a, const auto& b) { return a.*count < b.*count; });
  return (*least).*count == (*most).*count
             ? fmt::format("{}", (*least).*count)
             : fmt::format("{} to {}", (*least).*count, (*most).*count);
}

LayerLabels layer_labels(const std::vector<AttentionLayer>& layers,
                         const std::vector<std::string>& names) {
  LayerLabels labels{names, "layer"};
  if (names.empty())
    for (const AttentionLayer& layer : layers) labels.tics.push_back(layer.name);
  if (layers.size() > 1) {
    // The number in which the names differ.
    const SharedEnds place = shared_ends(labels.tics);
    const auto number = [&](const std::string& name) {
      return name.substr(place.before, name.size() - place.before - place.after);
    };
    if (std::all_of(labels.tics.begin(), labels.tics.end(),
                    [&](const std::string& name) { return is_number(number(name)); })) {
      const std::string& first = labels.tics.front();
      if (place.before + place.after > 0)
        labels.axis = fmt::format("layer N in {}N{}", printable(first.substr(0, place.before)),
                                  printable(first.substr(first.size() - place.after)));
      for (std::string& name : labels.tics) name = number(name);
    }
  }
  const bool one_length = is_number(count_range(layers, &AttentionLayer::tokens));
  for (std::string& tic : labels.tics) tic = printable(tic);
  labels.tics = shorten_names(labels.tics, kLongest);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!one_length) labels.tics[l] += fmt::format(", n={}", layers[l].tokens);
  }
  return labels;
}

}  // namespace synergraph
