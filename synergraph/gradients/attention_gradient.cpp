#include "synergraph/gradients/attention_gradient.h"

#include <algorithm>
#include <cstddef>

#include "synergraph/core/array_math.h"
#include "synergraph/core/panels.h"
#include "synergraph/gradients/extents.h"

namespace synergraph {
namespace {

constexpr int kBlock = CombinedRows::kBlock;

/// Makes rows of a gradient, zeros above the diagonal.
class GradientBlocks {
 public:
  explicit GradientBlocks(const LowRankGradient& gradient)
      : gradient_(gradient), columns_(extent(gradient.rank()) * extent(gradient.nodes())) {
    const int n = gradient.nodes();
    constexpr int kTile = 16;  // so that both sides of the transposition stay in cache
    for (int k = 0; k < n; k += kTile)
      for (int s = 0; s < gradient.rank(); ++s)
        for (int to = k; to < std::min(n, k + kTile); ++to)
          columns_[extent(s) * extent(n) + extent(to)] = gradient.right(to, s);
  }

  /// Rows begin .. end - 1, `end` numbers each.
  void write(int begin, int end, double* into) const {
    std::fill_n(into, extent(end - begin) * extent(end), 0.0);
    add_panel_products({gradient_.left.row(begin), gradient_.left.stride, 1, end - begin,
                        gradient_.rank(), columns_.data(), gradient_.nodes(), into, end, end});
    for (int i = begin; i < end; ++i) {
      double* row = into + static_cast<std::ptrdiff_t>(i - begin) * end;
      std::fill(row + i + 1, row + end, 0.0);
      if (!gradient_.diagonal.empty()) row[i] = gradient_.diagonal[extent(i)];
    }
  }

 private:
  LowRankGradient gradient_;
  std::vector<double> columns_;  // right, transposed: (rank, nodes)
};

/// The derivative towards weights that are divided by their sum.
std::vector<double> of_given_weights(const CombinedRows& attention, std::vector<double> inner) {
  double mean = 0.0;
  for (std::size_t h = 0; h < inner.size(); ++h) mean += attention.weights()[h] * inner[h];
  for (double& of_head : inner) of_head = (of_head - mean) / attention.given_sum();
  return inner;
}

template <class Number>
void add_row(const double* from, double weight, int count, void* to) {
  auto* row = static_cast<Number*>(to);
  for (int k = 0; k < count; ++k) row[k] += static_cast<Number>(weight * from[k]);
}

}  // namespace

AttentionGradient::AttentionGradient(const CombinedRows& attention, const DenseGradient& dense,
                                     bool weights)
    : attention_(attention), dense_(dense), inner_(weights ? extent(attention.heads()) : 0, 0.0) {}

void AttentionGradient::add(const LowRankGradient& gradient) {
  const GradientBlocks blocks(gradient);
  const int n = gradient.nodes();
  std::vector<double> block(extent(std::min(n, kBlock)) * extent(n));
  std::vector<double> head(inner_.empty() ? 0 : block.size());
  for (int begin = 0; begin < n; begin += kBlock) {
    const int end = std::min(n, begin + kBlock);
    blocks.write(begin, end, block.data());
    for (int h = 0; h < attention_.heads(); ++h) {
      if (!inner_.empty()) {
        attention_.rows().read(h, begin, end, head.data());
        inner_[extent(h)] += dot(head.data(), block.data(), (end - begin) * end);
      }
      const double weight = attention_.weights()[extent(h)];
      if (dense_.data == nullptr || weight == 0.0) continue;
      auto* to = static_cast<std::byte*>(dense_.data) + h * dense_.head_stride;
      for (int i = begin; i < end; ++i) {
        const double* from = block.data() + static_cast<std::ptrdiff_t>(i - begin) * end;
        if (dense_.type == FloatType::kFloat32)
          add_row<float>(from, weight, i + 1, to + i * dense_.query_stride);
        else
          add_row<double>(from, weight, i + 1, to + i * dense_.query_stride);
      }
    }
  }
}

std::vector<double> AttentionGradient::weights() const {
  return of_given_weights(attention_, inner_);
}

QueryKeyGradient::QueryKeyGradient(const CombinedRows& attention, const ScoreRows& rows)
    : attention_(attention),
      rows_(rows),
      queries_(extent(rows.heads()) * extent(rows.nodes()) * extent(rows.view().width), 0.0),
      keys_(extent(rows.view().key_heads) * extent(rows.nodes()) * extent(rows.view().width), 0.0),
      inner_(extent(rows.heads()), 0.0) {}

void QueryKeyGradient::add(const LowRankGradient& gradient) {
  const GradientBlocks blocks(gradient);
  const int n = gradient.nodes();
  const int width = static_cast<int>(rows_.view().width);
  std::vector<double> block(extent(std::min(n, kBlock)) * extent(n));
  std::vector<double> head(block.size());
  std::vector<double> scores(block.size());
  std::vector<double> queries(extent(kBlock) * extent(width));
  std::vector<double> keys(extent(kKeyTile) * extent(width));
  std::vector<double> inner(extent(kBlock));
  for (int begin = 0; begin < n; begin += kBlock) {
    const int end = std::min(n, begin + kBlock);
    const int rows = end - begin;
    blocks.write(begin, end, block.data());
    for (int h = 0; h < rows_.heads(); ++h) {
      rows_.read(h, begin, end, head.data());
      const double weight = attention_.weights()[extent(h)];
      std::copy_n(block.data(), extent(rows) * extent(end), scores.data());
      rows_.softmax_backward(h, begin, end, weight, head.data(), scores.data(), inner.data());
      for (int i = 0; i < rows; ++i) inner_[extent(h)] += inner[extent(i)];
      if (weight == 0.0) continue;
      const int key_head = rows_.key_head(h);
      rows_.read_queries(h, begin, end, queries.data());
      double* dqueries =
          queries_.data() + (static_cast<std::ptrdiff_t>(h) * rows_.nodes() + begin) * width;
      for (int key = 0; key < end; key += kKeyTile) {
        const int last = std::min(end, key + kKeyTile);
        rows_.read_keys(key_head, key, last, keys.data());
        add_panel_products({scores.data() + key, end, 1, rows, last - key, keys.data(), width,
                            dqueries, width, width});
        double* dkeys =
            keys_.data() + (static_cast<std::ptrdiff_t>(key_head) * rows_.nodes() + key) * width;
        add_panel_products({scores.data() + key, 1, end, last - key, rows, queries.data(), width,
                            dkeys, width, width});
      }
    }
  }
}

std::vector<double> QueryKeyGradient::weights() const {
  return of_given_weights(attention_, inner_);
}

}  // namespace synergraph
