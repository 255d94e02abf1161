#include "synergraph/heads/stack.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/attention_flow.h"

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

/// factors times a vector, entry by entry.
Vector times(const Vector& factors, Vector vector) {
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] *= factors[i];
  return vector;
}

/// factor * vector.
struct Scaled {
  double factor;
  Vector vector;

  Vector product() const { return scaled(vector, factor); }
  double dot_with(const Vector& other) const {
    return factor * dot(other.data(), vector.data(), static_cast<int>(vector.size()));
  }
  double sum() const { return factor * total(vector.data(), static_cast<int>(vector.size())); }
};

/// out += row * diffusion.
void add_row_product(const Scaled& row, ConstMatrixView diffusion, Vector& out) {
  for (int i = 0; i < diffusion.rows; ++i)
    if (const double amount = row.factor * row.vector[static_cast<std::size_t>(i)]; amount != 0.0)
      add_scaled(diffusion.row(i), amount, i + 1, out.data());
}

/// A layer's weights times a vector, whether or not they depend on the row.
class LayerShares {
 public:
  LayerShares(const StackLayerWeights& weights, const StackOptions& options)
      : weights_(weights), residual_(options.residual) {}

  /// a * vector.
  Scaled beside(const Vector& vector) const {
    if (weights_.residual.empty()) return {residual_, vector};
    return {1.0, times(weights_.residual, vector)};
  }
  /// (1-a) * vector.
  Scaled into_heads(const Vector& vector) const {
    if (weights_.residual.empty()) return {1.0 - residual_, vector};
    return {1.0, times(weights_.moved, vector)};
  }
  /// (1-a) w_h * vector.
  Scaled into(int h, const Vector& vector) const {
    Scaled all = into_heads(vector);
    if (weights_.by_row.rows() == 0)
      return {all.factor * weights_.heads[static_cast<std::size_t>(h)], std::move(all.vector)};
    const double* row = weights_.by_row.row(h);
    return {all.factor, times({row, row + weights_.by_row.cols()}, std::move(all.vector))};
  }

 private:
  const StackLayerWeights& weights_;
  double residual_;
};

/// The layer's weights, normalised; it is number `layer`, from 0.
StackLayerWeights checked_layer(HeadSource& heads, std::size_t layer, int nodes,
                                const Vector& weights, const StackOptions& options) {
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
  (void)stack_sources(options, nodes);
  try {
    StackLayerWeights checked{
        normalised_weights(weights, static_cast<std::size_t>(heads.heads())), {}, {}, {}};
    if (const RowShares* shares = heads.row_shares()) {
      checked.by_row = weights_by_row(shares, checked.heads);
      checked.residual = shares->residual;
      checked.moved = shares->moved;
      if (checked.moved.empty())
        for (const double share : checked.residual) checked.moved.push_back(1.0 - share);
    }
    return checked;
  } catch (const InputError& error) {
    throw InputError(fmt::format("layer {}: {}", layer, error.what()));
  }
}

/// All heads of a layer together.
Matrix combine_layer(HeadSource& layer, const StackLayerWeights& weights,
                     const StackOptions& options) {
  return convex_sum_of_lower(
      layer.nodes(), weights.heads,
      [&](int h) {
        options.execution.check();
        return layer.head(h).view();
      },
      weights.by_row);
}

/// The maximum flow of every token, with D_l = combined[l].
Vector flow_of_stack(std::vector<Matrix> combined, const std::vector<StackLayerWeights>& weights,
                     const StackOptions& options) {
  for (std::size_t l = 0; l < combined.size(); ++l) {
    const int nodes = combined[l].rows();
    const LayerShares shares(weights[l], options);
    const Vector ones(static_cast<std::size_t>(nodes), 1.0);
    const Vector beside = shares.beside(ones).product();
    const Vector moved = shares.into_heads(ones).product();
    for (int i = 0; i < nodes; ++i) {
      for (int j = 0; j <= i; ++j) combined[l](i, j) *= moved[static_cast<std::size_t>(i)];
      combined[l](i, i) += beside[static_cast<std::size_t>(i)];
    }
  }
  return attention_flow(combined, options.execution);
}

/// All but the ways, from p_0.
Stack stack_of_signal(Vector signal, const StackOptions& options) {
  Stack stack;
  const auto of = [&](int node) { return signal[static_cast<std::size_t>(node)]; };
  const std::vector<int> sources = stack_sources(options, static_cast<int>(signal.size()));
  stack.weakest = *std::min_element(sources.begin(), sources.end(),
                                    [&](int a, int b) { return of(a) < of(b); });
  stack.fidelity = of(stack.weakest);
  stack.token = options.token.value_or(stack.weakest);
  double entropy = 0.0;
  for (const double share : signal)
    if (share > 0.0) entropy -= share * std::log(share);
  stack.effective_tokens = std::exp(entropy);
  stack.signal = std::move(signal);
  return stack;
}

/// The ways of several signals through a layer, with p_l = `row` and their s_l = `columns`, which
/// become s_{l+1}.
std::vector<StackLayerPath> follow_layer(HeadSource& heads, const StackLayerWeights& weights,
                                         const StackOptions& options, const Vector& row,
                                         std::vector<Vector>& columns) {
  const LayerShares shares(weights, options);
  std::vector<StackLayerPath> paths;
  std::vector<Vector> next;
  for (const Vector& column : columns) {
    const Scaled beside = shares.beside(column);
    paths.push_back({{}, beside.dot_with(row)});
    next.push_back(beside.product());
  }
  for (int h = 0; h < heads.heads(); ++h) {
    options.execution.check();
    const ConstMatrixView head = heads.head(h).view();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Scaled moved = shares.into(h, product(head, columns[c]));
      paths[c].heads.push_back(moved.dot_with(row));
      add_scaled(moved.vector.data(), moved.factor, head.rows, next[c].data());
    }
  }
  for (StackLayerPath& path : paths) {  // their sum is the signal, in every layer
    const double whole = std::accumulate(path.heads.begin(), path.heads.end(), path.residual);
    for (double& share : path.heads) share /= whole;
    path.residual /= whole;
  }
  columns = std::move(next);
  return paths;
}

/// What passes a layer of all that reaches the sink, with p_l = `row`.
StackLayerPath shares_of_layer(const StackLayerWeights& weights, const StackOptions& options,
                               const Vector& row) {
  const LayerShares shares(weights, options);
  StackLayerPath path;
  path.residual = shares.beside(row).sum();
  for (std::size_t h = 0; h < weights.heads.size(); ++h)
    path.heads.push_back(shares.into(static_cast<int>(h), row).sum());
  return path;
}

/// The signals that are followed: the token's, and that of all chosen sources together.
std::vector<Vector> followed_columns(const Stack& stack, const StackOptions& options) {
  const auto nodes = static_cast<int>(stack.signal.size());
  std::vector<Vector> columns = {unit(nodes, stack.token)};
  if (options.from.empty()) return columns;
  columns.emplace_back(stack.signal.size(), 0.0);
  for (const int source : stack_sources(options, nodes))
    columns.back()[static_cast<std::size_t>(source)] = 1.0;
  return columns;
}

/// Follows a layer: adds the ways of the token, and what passes it of all that counts.
void add_layer(HeadSource& heads, const StackLayerWeights& weights, const StackOptions& options,
               const Vector& row, std::vector<Vector>& columns, Stack& stack) {
  std::vector<StackLayerPath> paths = follow_layer(heads, weights, options, row, columns);
  stack.layers.push_back(std::move(paths.front()));
  stack.shares.push_back(paths.size() > 1 ? std::move(paths.back())
                                          : shares_of_layer(weights, options, row));
}

}  // namespace

std::vector<int> stack_sources(const StackOptions& options, int nodes) {
  std::vector<int> sources;
  if (options.from.empty()) {
    sources.resize(static_cast<std::size_t>(std::max(1, nodes - 1)));
    std::iota(sources.begin(), sources.end(), 0);
    return sources;
  }
  sources = options.from.places(nodes - options.first_token, option_mark("from_tokens"));
  for (int& source : sources) source += options.first_token;
  if (sources.size() > 1 && sources.back() == nodes - 1) sources.pop_back();
  return sources;
}

Stack measure_stack(std::span<HeadSource* const> layers, std::span<const Vector> weights,
                    const StackOptions& options) {
  check_options(options);
  if (layers.empty()) throw InputError("no layers to measure");
  if (weights.size() != layers.size())
    throw InputError(fmt::format("weights of {} layers, for {}", weights.size(), layers.size()));
  const int nodes = layers.front()->nodes();
  std::vector<StackLayerWeights> convex;
  for (std::size_t l = 0; l < layers.size(); ++l)
    convex.push_back(checked_layer(*layers[l], l, nodes, weights[l], options));

  std::vector<Vector> rows(layers.size() + 1);  // p_0 .. p_L, the last layer first
  rows.back() = unit(nodes, nodes - 1);
  for (std::size_t l = layers.size(); l-- > 0;) {
    const LayerShares shares(convex[l], options);
    rows[l] = shares.beside(rows[l + 1]).product();
    for (int h = 0; h < layers[l]->heads(); ++h) {
      options.execution.check();
      add_row_product(shares.into(h, rows[l + 1]), layers[l]->head(h).view(), rows[l]);
    }
  }
  Stack stack = stack_of_signal(std::move(rows.front()), options);
  std::vector<Vector> columns = followed_columns(stack, options);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    add_layer(*layers[l], convex[l], options, rows[l + 1], columns, stack);
    stack.measured_residual |= !convex[l].residual.empty();
  }
  if (options.flow) {
    std::vector<Matrix> combined;
    for (std::size_t l = 0; l < layers.size(); ++l)
      combined.push_back(combine_layer(*layers[l], convex[l], options));
    stack.flow = flow_of_stack(std::move(combined), convex, options);
  }
  return stack;
}

StackMeasurement::StackMeasurement(StackOptions options) : options_(std::move(options)) {
  check_options(options_);
}

void StackMeasurement::add(HeadSource& layer, const Vector& weights) {
  if (!rows_.empty()) throw InputError("a layer is added to a stack that is being followed");
  const int nodes = combined_.empty() ? layer.nodes() : combined_.front().rows();
  StackLayerWeights convex = checked_layer(layer, combined_.size(), nodes, weights, options_);
  combined_.push_back(combine_layer(layer, convex, options_));
  weights_.push_back(std::move(convex));
}

void StackMeasurement::finish_adding() {
  if (!rows_.empty()) return;
  if (combined_.empty()) throw InputError("no layers to measure");
  const int nodes = combined_.front().rows();
  rows_.resize(combined_.size() + 1);
  rows_.back() = unit(nodes, nodes - 1);
  for (std::size_t l = combined_.size(); l-- > 0;) {
    const LayerShares shares(weights_[l], options_);
    rows_[l] = shares.beside(rows_[l + 1]).product();
    add_row_product(shares.into_heads(rows_[l + 1]), combined_[l], rows_[l]);
  }
  stack_ = stack_of_signal(rows_.front(), options_);
  if (options_.flow) stack_.flow = flow_of_stack(std::move(combined_), weights_, options_);
  combined_.clear();
  for (const StackLayerWeights& layer : weights_)
    stack_.measured_residual |= !layer.residual.empty();
  columns_ = followed_columns(stack_, options_);
}

void StackMeasurement::follow(HeadSource& layer) {
  finish_adding();
  const std::size_t l = stack_.layers.size();
  if (l == weights_.size()) throw InputError("more layers are followed than were added");
  if (layer.nodes() != static_cast<int>(columns_.front().size()) ||
      layer.heads() != static_cast<int>(weights_[l].heads.size()))
    throw InputError(fmt::format("layer {} has other heads or nodes than when it was added", l));
  add_layer(layer, weights_[l], options_, rows_[l + 1], columns_, stack_);
}

Stack StackMeasurement::take() {
  finish_adding();
  return std::move(stack_);
}

}  // namespace synergraph
