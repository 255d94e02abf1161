#include "synergraph/heads/stack.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

Vector unit(int nodes, int at) {
  Vector vector(static_cast<std::size_t>(nodes), 0.0);
  vector[static_cast<std::size_t>(at)] = 1.0;
  return vector;
}

Vector scaled(const Vector& vector, double factor) {
  Vector result = vector;
  for (double& value : result) value *= factor;
  return result;
}

/// out += factor * (row * diffusion).
void add_row_product(const Vector& row, ConstMatrixView diffusion, double factor, Vector& out) {
  for (int i = 0; i < diffusion.rows; ++i)
    if (const double amount = factor * row[static_cast<std::size_t>(i)]; amount != 0.0)
      add_scaled(diffusion.row(i), amount, i + 1, out.data());
}

/// diffusion * column.
Vector product(ConstMatrixView diffusion, const Vector& column) {
  Vector result(column.size());
  for (int i = 0; i < diffusion.rows; ++i)
    result[static_cast<std::size_t>(i)] = dot(diffusion.row(i), column.data(), i + 1);
  return result;
}

void check_options(const StackOptions& options) {
  if (!(options.residual >= 0.0 && options.residual <= 1.0))
    throw InputError(fmt::format("residual share {} is not in 0 to 1", options.residual));
}

/// The layer's weights, normalised; it is number `layer`, from 0.
Vector checked_layer(const HeadSource& heads, std::size_t layer, int nodes, const Vector& weights,
                     const StackOptions& options) {
  if (heads.heads() < 1 || heads.nodes() < 1)
    throw InputError(fmt::format("layer {}: {} heads of {} nodes: nothing to measure", layer,
                                 heads.heads(), heads.nodes()));
  if (heads.nodes() != nodes)
    throw InputError(
        fmt::format("layer {} has {} nodes, the first layer {}: a stack has the same in "
                    "every layer",
                    layer, heads.nodes(), nodes));
  if (options.token && (*options.token < 0 || *options.token >= nodes))
    throw InputError(
        fmt::format("token {} was asked for, there are 0 to {}", *options.token, nodes - 1));
  try {
    return normalised_weights(weights, static_cast<std::size_t>(heads.heads()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("layer {}: {}", layer, error.what()));
  }
}

/// All but the ways, from p_0.
Stack stack_of_signal(Vector signal, const StackOptions& options) {
  Stack stack;
  const auto weakest =
      std::min_element(signal.begin(), std::max(signal.begin() + 1, signal.end() - 1));
  stack.weakest = static_cast<int>(weakest - signal.begin());
  stack.fidelity = *weakest;
  stack.token = options.token.value_or(stack.weakest);
  double entropy = 0.0;
  for (const double share : signal)
    if (share > 0.0) entropy -= share * std::log(share);
  stack.effective_tokens = std::exp(entropy);
  stack.signal = std::move(signal);
  return stack;
}

/// The ways through a layer, with p_l = `row` and s_l = `column`, which becomes s_{l+1}.
StackLayerPath follow_layer(HeadSource& heads, const Vector& weights, const StackOptions& options,
                            const Vector& row, Vector& column) {
  const auto nodes = static_cast<int>(column.size());
  StackLayerPath path;
  path.residual = options.residual * dot(row.data(), column.data(), nodes);
  Vector next = scaled(column, options.residual);
  for (int h = 0; h < heads.heads(); ++h) {
    options.execution.check();
    const double weight = (1.0 - options.residual) * weights[static_cast<std::size_t>(h)];
    const Vector moved = product(heads.head(h).view(), column);
    path.heads.push_back(weight * dot(row.data(), moved.data(), nodes));
    add_scaled(moved.data(), weight, nodes, next.data());
  }
  // Their sum is the token's signal, in every layer.
  const double whole = std::accumulate(path.heads.begin(), path.heads.end(), path.residual);
  for (double& share : path.heads) share /= whole;
  path.residual /= whole;
  column = std::move(next);
  return path;
}

}  // namespace

Stack measure_stack(std::span<HeadSource* const> layers, std::span<const Vector> weights,
                    const StackOptions& options) {
  check_options(options);
  if (layers.empty()) throw InputError("no layers to measure");
  if (weights.size() != layers.size())
    throw InputError(fmt::format("weights of {} layers, for {}", weights.size(), layers.size()));
  const int nodes = layers.front()->nodes();
  std::vector<Vector> convex;
  for (std::size_t l = 0; l < layers.size(); ++l)
    convex.push_back(checked_layer(*layers[l], l, nodes, weights[l], options));

  std::vector<Vector> rows(layers.size() + 1);  // p_0 .. p_L, the last layer first
  rows.back() = unit(nodes, nodes - 1);
  for (std::size_t l = layers.size(); l-- > 0;) {
    rows[l] = scaled(rows[l + 1], options.residual);
    for (int h = 0; h < layers[l]->heads(); ++h) {
      options.execution.check();
      add_row_product(rows[l + 1], layers[l]->head(h).view(),
                      (1.0 - options.residual) * convex[l][static_cast<std::size_t>(h)], rows[l]);
    }
  }
  Stack stack = stack_of_signal(std::move(rows.front()), options);
  Vector column = unit(nodes, stack.token);
  for (std::size_t l = 0; l < layers.size(); ++l)
    stack.layers.push_back(follow_layer(*layers[l], convex[l], options, rows[l + 1], column));
  return stack;
}

StackMeasurement::StackMeasurement(StackOptions options) : options_(std::move(options)) {
  check_options(options_);
}

void StackMeasurement::add(HeadSource& layer, const Vector& weights) {
  if (!rows_.empty()) throw InputError("a layer is added to a stack that is being followed");
  const int nodes = combined_.empty() ? layer.nodes() : combined_.front().rows();
  Vector convex = checked_layer(layer, combined_.size(), nodes, weights, options_);
  combined_.push_back(convex_sum_of_lower(nodes, convex, [&](int h) {
    options_.execution.check();
    return layer.head(h).view();
  }));
  weights_.push_back(std::move(convex));
}

void StackMeasurement::finish_adding() {
  if (!rows_.empty()) return;
  if (combined_.empty()) throw InputError("no layers to measure");
  const int nodes = combined_.front().rows();
  rows_.resize(combined_.size() + 1);
  rows_.back() = unit(nodes, nodes - 1);
  for (std::size_t l = combined_.size(); l-- > 0;) {
    rows_[l] = scaled(rows_[l + 1], options_.residual);
    add_row_product(rows_[l + 1], combined_[l], 1.0 - options_.residual, rows_[l]);
  }
  combined_.clear();
  stack_ = stack_of_signal(rows_.front(), options_);
  column_ = unit(nodes, stack_.token);
}

void StackMeasurement::follow(HeadSource& layer) {
  finish_adding();
  const std::size_t l = stack_.layers.size();
  if (l == weights_.size()) throw InputError("more layers are followed than were added");
  if (layer.nodes() != static_cast<int>(column_.size()) ||
      layer.heads() != static_cast<int>(weights_[l].size()))
    throw InputError(fmt::format("layer {} has other heads or nodes than when it was added", l));
  stack_.layers.push_back(follow_layer(layer, weights_[l], options_, rows_[l + 1], column_));
}

Stack StackMeasurement::take() {
  finish_adding();
  return std::move(stack_);
}

}  // namespace synergraph
