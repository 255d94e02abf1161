#include "synergraph/heads/head.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/simd.h"
#include "synergraph/diffusion/fidelity.h"

namespace synergraph {

std::vector<Head> heads_of_graph(const MultiHeadGraph& graph) {
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
  double sum = 0.0;
  for (const double weight : raw) {
    if (!std::isfinite(weight) || weight < 0.0)
      throw InputError(fmt::format("head weight {} is not finite and non-negative", weight));
    sum += weight;
  }
  if (!(sum > 0.0)) throw InputError("all head weights are zero");
  if (!std::isfinite(sum)) throw InputError("the sum of the head weights is not finite");
  std::vector<double> weights = raw;
  for (double& weight : weights) weight /= sum;
  return weights;
}

std::vector<double> learned_weights(ConstMatrixView output_projection, int heads) {
  if (heads < 1 || output_projection.cols % heads != 0)
    throw InputError(fmt::format("an output projection with {} columns cannot be cut into {} heads",
                                 output_projection.cols, heads));
  const int width = output_projection.cols / heads;
  std::vector<double> norms;
  for (int h = 0; h < heads; ++h) {
    double squares = 0.0;
    for (int row = 0; row < output_projection.rows; ++row)
      for (int col = h * width; col < (h + 1) * width; ++col)
        squares += output_projection(row, col) * output_projection(row, col);
    norms.push_back(std::sqrt(squares));
  }
  return normalised_weights(norms, static_cast<std::size_t>(heads));
}

void add_diffusion(const Matrix& diffusion, double weight, Matrix& combined) {
  for (int i = 0; i < combined.rows(); ++i) {
    const double* from = diffusion.row(i);
    double* to = combined.row(i);
    for (int j = 0; j <= i; ++j) to[j] += weight * from[j];
  }
}

void finish_diffusion(Matrix& combined) {
  // Weights sum to one only up to rounding; a node that keeps all it has must do so exactly.
  for (int i = 0; i < combined.rows(); ++i) {
    double* row = combined.row(i);
    if (std::abs(row[i] - 1.0) < 1e-12 && total(row, i) == 0.0) row[i] = 1.0;
  }
}

Matrix combine_diffusion(const std::vector<Head>& heads, const std::vector<double>& weights) {
  const int n = heads.front().diffusion.rows();
  Matrix combined(n, n);
  for (std::size_t h = 0; h < heads.size(); ++h)
    add_diffusion(heads[h].diffusion, weights[h], combined);
  finish_diffusion(combined);
  return combined;
}

Walk head_walk(const Head& head, Normalization normalization) {
  if (normalization == Normalization::kPublished) return published_walk(head.diffusion);
  if (normalization == Normalization::kPerHead && head.graph_walk) return *head.graph_walk;
  return walk_of_attention(head.diffusion);
}

Walk combine_walk(const std::vector<Head>& heads, const std::vector<double>& weights,
                  Normalization normalization) {
  if (normalization == Normalization::kPublished)
    return published_walk(combine_diffusion(heads, weights));
  if (normalization == Normalization::kPooled)
    return walk_of_attention(combine_diffusion(heads, weights));
  std::vector<Walk> walks;
  walks.reserve(heads.size());
  for (const Head& head : heads) walks.push_back(head_walk(head, normalization));
  std::vector<const Walk*> views;
  views.reserve(heads.size());
  for (const Walk& walk : walks) views.push_back(&walk);
  return combine_walks(views, weights);
}

}  // namespace synergraph
