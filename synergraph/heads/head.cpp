#include "synergraph/heads/head.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/diffusion/fidelity.h"

namespace synergraph {

namespace {

/// The diffusion of every head, the walk of one that is a graph, and three matrices of all heads
/// together.
void check_heads_memory(const MultiHeadGraph& graph, std::size_t memory,
                        const std::string& remedy) {
  double matrices = 3.0;
  for (const GraphHead& head : graph.heads)
    matrices += std::holds_alternative<FeedforwardGraph>(head.content) ? 2.0 : 1.0;
  const double nodes = graph.nodes;
  const double needed = matrices * nodes * nodes * sizeof(double);
  if (needed <= static_cast<double>(memory)) return;
  constexpr double kMiB = 1024.0 * 1024.0;
  throw InputError(fmt::format(
      "{} head{} of {} nodes need{} {:.0f} MiB of memory; the limit is {:.0f} MiB. Use fewer nodes "
      "or heads{}",
      graph.heads.size(), graph.heads.size() == 1 ? "" : "s", graph.nodes,
      graph.heads.size() == 1 ? "s" : "", std::ceil(needed / kMiB),
      std::floor(static_cast<double>(memory) / kMiB), remedy));
}

}  // namespace

std::vector<Head> heads_of_graph(const MultiHeadGraph& graph, std::size_t memory,
                                 const std::string& remedy) {
  check_heads_memory(graph, memory, remedy);
  std::vector<Head> heads;
  for (const GraphHead& head : graph.heads) {
    if (const auto* edges = std::get_if<FeedforwardGraph>(&head.content))
      heads.push_back({head.name, diffusion_matrix(*edges), walk_of_graph(*edges)});
    else
      heads.push_back(head_of_attention(head.name, std::get<Matrix>(head.content)));
  }
  return heads;
}

Head head_of_attention(std::string name, Matrix attention) {
  return {std::move(name), std::move(attention), std::nullopt};
}

std::vector<double> normalised_weights(const std::vector<double>& raw, std::size_t heads) {
  if (raw.size() != heads)
    throw InputError(fmt::format("{} weights for {} heads", raw.size(), heads));
  for (const double weight : raw)
    if (!std::isfinite(weight) || weight < 0.0)
      throw InputError(fmt::format("head weight {} is not finite and non-negative", weight));
  std::vector<double> weights = raw;
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(sum > 0.0)) throw InputError("all head weights are zero");
  if (!in_safe_range(sum)) {
    scale_to_safe_range(weights.data(), static_cast<int>(weights.size()), weights.data());
    sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> convex_weights(const std::vector<double>& raw, std::size_t heads) {
  std::vector<double> normalised = normalised_weights(raw, heads);
  const double sum = std::accumulate(raw.begin(), raw.end(), 0.0);
  return std::abs(sum - 1.0) <= 1e-15 * static_cast<double>(heads) ? raw : normalised;
}

std::vector<double> learned_weights(ConstMatrixView output_projection, int heads) {
  if (heads < 1 || output_projection.cols % heads != 0)
    throw InputError(fmt::format("an output projection with {} columns cannot be cut into {} heads",
                                 output_projection.cols, heads));
  const int width = output_projection.cols / heads;
  std::vector<double> norms;
  // In units of the largest entry: squares neither overflow nor vanish.
  double largest = 0.0;
  for (int row = 0; row < output_projection.rows; ++row)
    for (int col = 0; col < output_projection.cols; ++col)
      largest = std::max(largest, std::abs(output_projection(row, col)));
  const int shift = in_safe_range(largest * largest) || largest == 0.0 ? 0 : -std::ilogb(largest);
  for (int h = 0; h < heads; ++h) {
    double squares = 0.0;
    for (int row = 0; row < output_projection.rows; ++row)
      for (int col = h * width; col < (h + 1) * width; ++col) {
        const double entry = std::ldexp(output_projection(row, col), shift);
        squares += entry * entry;
      }
    norms.push_back(std::sqrt(squares));
  }
  return normalised_weights(norms, static_cast<std::size_t>(heads));
}

Matrix combine_diffusion(const std::vector<Head>& heads, const std::vector<double>& weights) {
  return convex_sum_of_lower(heads.front().diffusion.rows(), weights, [&](int h) {
    return heads[static_cast<std::size_t>(h)].diffusion.view();
  });
}

Walk head_walk(const MirroredMatrix& diffusion, Normalization normalization, const Walk* own) {
  if (normalization == Normalization::kPublished) return published_walk_of_columns(diffusion);
  return own != nullptr && normalization == Normalization::kPerHead ? *own
                                                                    : walk_of_columns(diffusion);
}

Walk head_walk(const Head& head, Normalization normalization) {
  return head_walk(MirroredMatrix(head.diffusion), normalization,
                   head.graph_walk ? &*head.graph_walk : nullptr);
}

Walk combine_walk(const std::vector<Head>& heads, const std::vector<double>& weights,
                  Normalization normalization) {
  if (normalization != Normalization::kPerHead)
    return head_walk(MirroredMatrix(combine_diffusion(heads, weights)), normalization);
  return combine_walks(heads.front().diffusion.rows(), weights, [&](int h) {
    return head_walk(heads[static_cast<std::size_t>(h)], normalization);
  });
}

}  // namespace synergraph
