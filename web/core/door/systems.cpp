#include "door/systems.h"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include "capi/take_settings.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"

namespace synergraph::door {
namespace {

/// Names of the request, those of a graph, or numbers.
std::vector<std::string> names(capi::Options& options, const char* key,
                               const std::vector<std::string>& own, int count) {
  std::vector<std::string> given = options.take_texts(key).value_or(own);
  if (given.empty())
    for (int k = 0; k < count; ++k) given.push_back(fmt::format("{}", k));
  if (given.size() != static_cast<std::size_t>(count))
    throw UsageError(fmt::format("options: {}: {} for {}", key, given.size(), count));
  return given;
}

}  // namespace

Request::Request(const Place& place, capi::Options& options) {
  const capi::MetricsChoice choice =
      take_metrics(options, place.of_graph() ? graph_options : convention_options);
  convention = choice.conventions.front();
  convention.fidelity.every_node = true;
  const AttentionLayer& layer = capi::layer_of(*place.attention, place.layer);
  head_names = names(options, "head_names", place.attention->head_names, layer.heads);
  node_names = names(options, "node_names", place.attention->token_names, layer.nodes());
  const auto given = options.take_numbers("weights", 0.0, std::numeric_limits<double>::max());
  weights = given ? normalised_weights(*given, head_names.size())
                  : place.attention->layer_weights()[static_cast<std::size_t>(place.layer)];
}

void visit_series(HeadSource& heads, const Request& request,
                  const std::function<void(const Series& series)>& visitor) {
  const int n = heads.nodes();
  const Normalization normalization = request.convention.normalization;
  ConvexSum diffusions(n, n, ConvexSum::Part::kLower);
  WalkSum walks(n);
  for (int h = 0; h < heads.heads(); ++h) {
    const auto at = static_cast<std::size_t>(h);
    const MirroredMatrix& diffusion = heads.head(h);
    const Walk walk = head_walk(diffusion, normalization, heads.own_walk(h));
    visitor({request.head_names[at], diffusion, walk});
    diffusions.add(diffusion.view(), request.weights[at]);
    if (normalization == Normalization::kPerHead) walks.add(walk, request.weights[at]);
  }
  if (heads.heads() == 1) return;
  const MirroredMatrix diffusion(diffusions.take());
  const Walk walk =
      normalization == Normalization::kPerHead ? walks.take() : head_walk(diffusion, normalization);
  visitor({"combined", diffusion, walk});
}

Numbers* copied_numbers(const std::vector<double>& numbers) {
  auto* result = static_cast<Numbers*>(std::malloc(sizeof(Numbers)));
  auto* data = static_cast<double*>(std::malloc(numbers.size() * sizeof(double)));
  if (result == nullptr || data == nullptr) throw std::bad_alloc();
  std::memcpy(data, numbers.data(), numbers.size() * sizeof(double));
  *result = {data, numbers.size()};
  return result;
}

}  // namespace synergraph::door
