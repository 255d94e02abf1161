#include "synergraph/train/cpu/attention_promotion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>

#include "synergraph/core/array_math.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/gradients/attention_gradient.h"
#include "synergraph/gradients/attention_rows.h"
#include "synergraph/gradients/fidelity_gradient.h"
#include "synergraph/gradients/hitting_gradient.h"

namespace synergraph {
namespace {

std::size_t square(int n) {
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
}

/// One matrix in memory as the attention of one head.
class MatrixRows final : public AttentionRows {
 public:
  MatrixRows(const std::vector<double>& values, int nodes) : values_(values), nodes_(nodes) {}

  int heads() const override { return 1; }
  int nodes() const override { return nodes_; }
  void read(int, int begin, int end, double* into) const override {
    for (int i = begin; i < end; ++i)
      std::copy_n(values_.data() + static_cast<std::ptrdiff_t>(i) * nodes_, end,
                  into + static_cast<std::ptrdiff_t>(i - begin) * end);
  }

 private:
  const std::vector<double>& values_;
  int nodes_;
};

FidelityGradientOptions fidelity_options(int length) {
  FidelityGradientOptions options;
  options.horizon = std::min(length, kPromotionHorizon);
  options.softness = kPromotionSoftness;
  return options;
}

}  // namespace

AttentionPromotion::AttentionPromotion(const Promotion& promotion, const AttentionShape& shape)
    : promotion_(promotion), shape_(shape) {
  if (!promotion.active()) return;
  const std::size_t matrix = square(shape.length);
  heads_.resize(matrix * static_cast<std::size_t>(shape.heads));
  mean_.resize(matrix);
  gradient_.resize(matrix);
  // The padding of a row stays zero: products run over it.
  by_query_.assign(static_cast<std::size_t>(shape.length) * static_cast<std::size_t>(shape.stride),
                   0.0F);
  by_key_ = by_query_;
}

/// Probabilities of the heads, and their mean.
void AttentionPromotion::combine(const AttentionBuffers& forward) {
  kernels().unpack_attention(shape_, forward.weights, forward.inverse_sums, heads_.data());
  for (float& p : heads_) p = std::fabs(p);  // negative where dropped
  const std::size_t matrix = mean_.size();
  std::fill(mean_.begin(), mean_.end(), 0.0);
  for (int head = 0; head < shape_.heads; ++head) {
    const float* p = heads_.data() + static_cast<std::size_t>(head) * matrix;
    for (std::size_t k = 0; k < matrix; ++k) mean_[k] += static_cast<double>(p[k]);
  }
  for (double& d : mean_) d /= shape_.heads;
}

/// Adds factor times the gradient of the mean entropy of rows; returns the entropy. An entry of 0
/// has no entropy, and the softmax passes no gradient to it.
double AttentionPromotion::add_entropy(double factor) {
  const int n = shape_.length;
  double entropy = 0.0;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k <= i; ++k) {
      const std::size_t at =
          static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(k);
      const double d = mean_[at];
      if (!(d > 0.0)) continue;
      entropy -= d * std::log(d);
      gradient_[at] -= factor * (std::log(d) + 1.0) / n;
    }
  return entropy / n;
}

/// Fills gradient_ with that of -scale sum of strength * metric; false where there is none.
bool AttentionPromotion::differentiate(double scale, PromotedSums& sums) {
  const int n = shape_.length;
  for (int i = 0; i < n; ++i)  // a model that diverges: the loss says so
    if (!within(mean_.data() + static_cast<std::ptrdiff_t>(i) * n, n, 0.0, 2.0)) return false;
  const MatrixRows rows(mean_, n);
  const CombinedRows attention(rows);
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  AttentionGradient sum(
      attention,
      {gradient_.data(), FloatType::kFloat64, 0, static_cast<std::ptrdiff_t>(sizeof(double)) * n},
      false);
  bool any = false;
  for (const auto& [metric, name] : kNamesOf<PromotedMetric>) {
    const double factor = -scale * promotion_[metric];
    if (factor == 0.0) continue;
    const auto at = static_cast<std::size_t>(metric);
    double value = 0.0;
    if (metric == PromotedMetric::kEntropy) {
      value = add_entropy(factor);
    } else {
      const bool speed = metric == PromotedMetric::kSpeed;
      const std::unique_ptr<DifferentiableMetric> made =
          speed ? hitting_time_gradient(attention, {{}, true})
                : minimax_fidelity_gradient(attention, fidelity_options(n));
      const double sign = speed ? -1.0 : 1.0;
      value = sign * made->values()[0];
      if (!std::isfinite(value)) continue;  // such as an infinite time
      const double upstream = sign * factor;
      made->pull_back({&attention, 1}, {&upstream, 1},
                      [&](int, const LowRankGradient& gradient) { sum.add(gradient); });
    }
    any = true;
    sums.sums[at] += value;
    ++sums.counts[at];
  }
  return any;
}

void AttentionPromotion::add_scores(int head, const AttentionBuffers& forward, float* dqkv) {
  const int n = shape_.length;
  const int width = shape_.head_width;
  const std::ptrdiff_t stride = shape_.stride;
  const float* p = heads_.data() + static_cast<std::size_t>(head) * mean_.size();
  const double factor = 1.0 / (shape_.heads * std::sqrt(static_cast<double>(width)));
  for (int i = 0; i < n; ++i) {
    const float* row = p + static_cast<std::ptrdiff_t>(i) * n;
    const double* g = gradient_.data() + static_cast<std::ptrdiff_t>(i) * n;
    double mean = 0.0;
    for (int k = 0; k <= i; ++k) mean += static_cast<double>(row[k]) * g[k];
    float* to = by_query_.data() + i * stride;
    for (int k = 0; k <= i; ++k)
      to[k] = static_cast<float>(factor * static_cast<double>(row[k]) * (g[k] - mean));
  }
  kernels().transpose(n, n, by_query_.data(), stride, by_key_.data(), stride);
  const std::ptrdiff_t features = static_cast<std::ptrdiff_t>(shape_.heads) * width * stride;
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(head) * width * stride;
  const auto add = [&](const float* from, const float* scores, float* into) {
    kernels().multiply({.rows = width,
                        .cols = shape_.columns,
                        .depth = n,
                        .a = from,
                        .a_stride = stride,
                        .b = scores,
                        .b_stride = stride,
                        .c = into,
                        .c_stride = stride,
                        .source = into});
  };
  // A column of by_key_ is a query, of by_query_ a key.
  add(forward.qkv + features + start, by_key_.data(), dqkv + start);
  add(forward.qkv + start, by_query_.data(), dqkv + features + start);
}

void AttentionPromotion::add(const AttentionBuffers& forward, double scale, float* dqkv,
                             PromotedSums& sums) {
  combine(forward);
  if (!differentiate(scale, sums)) return;
  for (int head = 0; head < shape_.heads; ++head) add_scores(head, forward, dqkv);
}

}  // namespace synergraph
