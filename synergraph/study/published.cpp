#include "synergraph/study/published.h"

#include <algorithm>

namespace synergraph {
namespace {

/// The layers of one task and head count.
using Values = std::array<PublishedValue, kPublishedLayers>;
using Comparisons = std::array<PublishedComparison, kPublishedLayers>;

template <class Layers>
struct Row {
  std::string_view task;
  int heads = 0;
  Layers layers;
};

constexpr std::array<Row<Values>, 8> kMixingTimes = {{
    {"copy", 1, {{{3.8344, 0.1391}, {77.9281, 2.8387}, {78.6635, 3.2322}, {73.5020, 3.6750}}}},
    {"copy", 4, {{{3.7370, 0.0259}, {3.7155, 0.0365}, {3.8895, 0.0704}, {7.8050, 0.5391}}}},
    {"copy", 8, {{{3.6793, 0.0171}, {3.6821, 0.0329}, {3.7952, 0.0661}, {3.7467, 0.0731}}}},
    {"copy", 16, {{{3.6328, 0.0150}, {3.6513, 0.0212}, {3.6391, 0.0564}, {3.6594, 0.0687}}}},
    {"cycle", 1, {{{27.0384, 2.4355}, {47.8151, 0.6754}, {47.2291, 1.3803}, {43.0723, 2.8604}}}},
    {"cycle", 4, {{{3.6369, 0.0161}, {3.9092, 0.0374}, {45.7709, 1.9865}, {31.2925, 3.3583}}}},
    {"cycle", 8, {{{3.6426, 0.0098}, {3.7756, 0.0290}, {4.6735, 0.0795}, {47.5304, 0.9180}}}},
    {"cycle", 16, {{{3.5859, 0.0118}, {3.7820, 0.0307}, {4.3759, 0.0583}, {41.9292, 1.9165}}}},
}};

constexpr std::array<Row<Values>, 8> kFidelities = {{
    {"copy", 1, {{{0.30, 0.10}, {0.00, 0.00}, {0.00, 0.00}, {0.00, 0.00}}}},
    {"copy", 4, {{{0.45, 0.07}, {0.28, 0.08}, {0.18, 0.05}, {0.01, 0.01}}}},
    {"copy", 8, {{{0.50, 0.08}, {0.35, 0.08}, {0.19, 0.08}, {0.16, 0.06}}}},
    {"copy", 16, {{{0.58, 0.06}, {0.49, 0.07}, {0.34, 0.07}, {0.25, 0.07}}}},
    {"cycle", 1, {{{0.00, 0.00}, {0.00, 0.00}, {0.00, 0.00}, {0.00, 0.00}}}},
    {"cycle", 4, {{{0.53, 0.08}, {0.48, 0.06}, {0.00, 0.00}, {0.00, 0.00}}}},
    {"cycle", 8, {{{0.54, 0.07}, {0.63, 0.05}, {0.53, 0.07}, {0.00, 0.00}}}},
    {"cycle", 16, {{{0.65, 0.06}, {0.60, 0.05}, {0.52, 0.05}, {0.00, 0.00}}}},
}};

constexpr std::array<Row<Comparisons>, 6> kComparisons = {{
    {"copy", 4, {{{0.30, 0.56}, {0.11, 0.43}, {0.21, 0.19}, {0.00, 0.00}}}},
    {"copy", 8, {{{0.59, 0.51}, {0.29, 0.37}, {0.18, 0.10}, {0.18, 0.17}}}},
    {"copy", 16, {{{0.59, 0.59}, {0.59, 0.51}, {0.52, 0.46}, {0.22, 0.23}}}},
    {"cycle", 4, {{{0.39, 0.59}, {0.39, 0.50}, {0.00, 0.00}, {0.00, 0.00}}}},
    {"cycle", 8, {{{0.35, 0.59}, {0.49, 0.72}, {0.51, 0.55}, {0.00, 0.00}}}},
    {"cycle", 16, {{{0.65, 0.67}, {0.49, 0.55}, {0.68, 0.48}, {0.00, 0.00}}}},
}};

/// The cell of a table; nothing if there is none.
template <class Value, class Rows>
std::optional<Value> cell_of(const Rows& rows, std::string_view task, int heads, int layer) {
  if (layer < 0 || layer >= kPublishedLayers) return std::nullopt;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& entry) {
    return entry.task == task && entry.heads == heads;
  });
  if (row == rows.end()) return std::nullopt;
  return row->layers[static_cast<std::size_t>(layer)];
}

}  // namespace

std::optional<PublishedValue> published_value(const Quantity& quantity, std::string_view task,
                                              int heads, int layer) {
  if (quantity == Quantity::kTruncatedHittingMean)
    return cell_of<PublishedValue>(kMixingTimes, task, heads, layer);
  if (quantity == Quantity::kMinimaxFidelity)
    return cell_of<PublishedValue>(kFidelities, task, heads, layer);
  return std::nullopt;
}

std::optional<PublishedComparison> published_comparison(std::string_view task, int heads,
                                                        int layer) {
  return cell_of<PublishedComparison>(kComparisons, task, heads, layer);
}

bool has_published_size(ModelConfig config) {
  const ModelConfig papers{.vocabulary = 256,
                           .length = 100,
                           .width = 64,
                           .heads = config.heads,
                           .layers = kPublishedLayers,
                           .hidden = 128};
  return config == papers;
}

}  // namespace synergraph
