#include "synergraph/gradients/attention_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/panels.h"
#include "synergraph/gradients/extents.h"
#include "synergraph/graph/attention_rounding.h"

namespace synergraph {
namespace {

void check_span(const TokenSpan& span, std::int64_t samples, std::int64_t tokens) {
  if (span.sample < 0 || span.sample >= samples || span.begin < 0 || span.begin >= span.end ||
      span.end > tokens)
    throw InputError(fmt::format(
        "tokens {} to {} of sample {}: expected at least one of {} tokens of {} samples",
        span.begin, span.end, span.sample, tokens, samples));
}

/// Rows of features, (tokens, width), in double precision.
void read_features(const void* data, const QueryKeyView::Strides& strides, const QueryKeyView& view,
                   int head, int begin, int end, double* into) {
  AttentionView rows{data, view.type, 1, 1, view.width, {}};
  rows.strides = {0, strides.head, strides.token,
                  static_cast<std::ptrdiff_t>(item_size(view.type))};
  read_rows(rows, 0, head, begin, end - begin, into);
}

class RowsCheck {
 public:
  RowsCheck(const AttentionView& view, const AttentionRowsCheck& check)
      : given_(check.row_tolerance),
        check_(attention_check(view.type, static_cast<int>(view.tokens), check.row_tolerance)),
        name_(check.name),
        above_(given_ ? *given_ : check_.causal_tolerance),
        below_(given_ ? *given_ : 0.0) {}

  /// Row i of a head, `count` numbers.
  void look(int head, int i, int count, const double* row) const {
    // One pass for the usual row; what is wrong is looked for when something is.
    if (!within(row, i + 1, -below_, 2.0 + below_) ||
        !within(row + i + 1, count - i - 1, -above_, above_))
      refuse(head, i, count, row);
    const double sum = total(row, i + 1);
    const double distance = std::abs(sum - 1.0);
    if (distance <= check_.row_tolerance) return;
    RowTolerance other;
    if (check_.second_look) other = check_.second_look(row, i + 1);
    if (distance <= other.value) return;
    throw InputError(
        fmt::format("{}, head {}: row {} sums to {:.9g}, expected 1; pass attention as softmax "
                    "gives it, before "
                    "dropout, or allow more with row_tolerance",
                    name_, head, i, sum));
  }

 private:
  [[noreturn]] void refuse(int head, int i, int count, const double* row) const {
    for (int k = 0; k < count; ++k) {
      const double x = row[k];
      if (std::isfinite(x) && (k <= i ? x >= -below_ && x <= 2.0 + below_ : std::abs(x) <= above_))
        continue;
      const char* what =
          !std::isfinite(x) ? "attention must be finite"
          : k > i           ? "causal attention is 0 above the diagonal"
                  : "attention must be probabilities; if these are scores, apply softmax first";
      throw InputError(fmt::format("{}, head {}: row {} contains {:.9g} at key {}; {}", name_, head,
                                   i, x, k, what));
    }
    throw InputError(fmt::format("{}, head {}: row {} is not valid", name_, head, i));
  }

  std::optional<double> given_;
  AttentionCheck check_;
  std::string name_;
  double above_;
  double below_;
};

}  // namespace

ViewRows::ViewRows(const AttentionView& view, const TokenSpan& span,
                   const AttentionRowsCheck& check)
    : view_(view), nodes_(static_cast<int>(span.end - span.begin)) {
  check_view(view);
  check_span(span, view.samples, view.tokens);
  view_.data = static_cast<const std::byte*>(view.data) + span.sample * view.strides.sample +
               span.begin * (view.strides.query + view.strides.key);
  view_.samples = 1;
  view_.tokens = nodes_;
  const RowsCheck looks(view_, check);
  std::vector<double> block(extent(std::min(nodes_, CombinedRows::kBlock)) * extent(nodes_));
  for (int h = 0; h < heads(); ++h)
    for (int begin = 0; begin < nodes_; begin += CombinedRows::kBlock) {
      const int end = std::min(nodes_, begin + CombinedRows::kBlock);
      read_rows(view_, 0, h, begin, end - begin, block.data());
      for (int i = begin; i < end; ++i)
        looks.look(h, i, nodes_, block.data() + static_cast<std::ptrdiff_t>(i - begin) * nodes_);
    }
}

void ViewRows::read(int head, int begin, int end, double* into) const {
  AttentionView part = view_;
  part.tokens = end;
  read_rows(part, 0, head, begin, end - begin, into);
  for (int i = begin; i < end; ++i) {
    double* row = into + static_cast<std::ptrdiff_t>(i - begin) * end;
    std::fill(row + i + 1, row + end, 0.0);
  }
}

ScoreRows::ScoreRows(const QueryKeyView& view, const TokenSpan& span, const std::string& name)
    : view_(view), nodes_(static_cast<int>(span.end - span.begin)), name_(name) {
  check_view(view);
  check_span(span, view.samples, view.tokens);
  if (view.sink_logits != nullptr)
    throw InputError("queries and keys: attention with learned sink logits has no gradients here");
  const auto move = [&](const void* data, const QueryKeyView::Strides& strides) {
    return static_cast<const std::byte*>(data) + span.sample * strides.sample +
           span.begin * strides.token;
  };
  view_.queries = move(view.queries, view.query_strides);
  view_.keys = move(view.keys, view.key_strides);
  view_.samples = 1;
  view_.tokens = nodes_;
  if (!(view.softcap > 0.0)) return;
  shift_.resize(extent(heads()) * extent(nodes_));
  share_.resize(shift_.size());
  std::vector<double> block(extent(std::min(nodes_, CombinedRows::kBlock)) * extent(nodes_));
  for (int h = 0; h < heads(); ++h)
    for (int begin = 0; begin < nodes_; begin += CombinedRows::kBlock) {
      const int end = std::min(nodes_, begin + CombinedRows::kBlock);
      write_scores(h, begin, end, block.data());
      for (int i = begin; i < end; ++i) {
        const std::size_t at = extent(h) * extent(nodes_) + extent(i);
        double* row = block.data() + static_cast<std::ptrdiff_t>(i - begin) * end;
        std::tie(shift_[at], share_[at]) = take_softmax(h, i, row);
      }
    }
}

/// Turns scores of a row into exp(score - largest); returns the largest and 1 / sum.
std::pair<double, double> ScoreRows::take_softmax(int head, int i, double* row) const {
  const int first = first_key(i);
  const int count = i + 1 - first;
  if (!within(row + first, count, -1e300, 1e300))
    throw InputError(fmt::format(
        "{}, head {}: a score of row {} is NaN or infinite; queries and keys must be finite", name_,
        head, i));
  const double shift = largest(row + first, count, -1e300);
  return {shift, 1.0 / exponentials(row + first, count, shift)};
}

int ScoreRows::first_key(int row) const {
  return view_.window == 0 || row + 1 < view_.window ? 0 : row + 1 - static_cast<int>(view_.window);
}

void ScoreRows::read_queries(int head, int begin, int end, double* into) const {
  read_features(view_.queries, view_.query_strides, view_, head, begin, end, into);
}

void ScoreRows::read_keys(int key_head, int begin, int end, double* into) const {
  read_features(view_.keys, view_.key_strides, view_, key_head, begin, end, into);
}

void ScoreRows::write_scores(int head, int begin, int end, double* into) const {
  const int width = static_cast<int>(view_.width);
  std::vector<double> queries(extent(end - begin) * extent(width));
  std::vector<double> keys(extent(kKeyTile) * extent(width));
  read_queries(head, begin, end, queries.data());
  for (double& q : queries) q *= view_.scale;
  std::fill_n(into, extent(end - begin) * extent(end), 0.0);
  std::vector<double> turned(keys.size());  // a row a feature: all keys of a tile side by side
  for (int key = first_key(begin); key < end; key += kKeyTile) {
    const int count = std::min(end, key + kKeyTile) - key;
    read_keys(key_head(head), key, key + count, keys.data());
    for (int k = 0; k < count; ++k)
      for (int f = 0; f < width; ++f)
        turned[extent(f * kKeyTile + k)] = keys[extent(k * width + f)];
    add_panel_products({queries.data(), width, 1, end - begin, width, turned.data(), kKeyTile,
                        into + key, end, count});
  }
  if (view_.softcap > 0.0)
    for (std::size_t k = 0; k < extent(end - begin) * extent(end); ++k)
      into[k] = view_.softcap * std::tanh(into[k] / view_.softcap);
}

void ScoreRows::read(int head, int begin, int end, double* into) const {
  write_scores(head, begin, end, into);
  for (int i = begin; i < end; ++i) {
    double* row = into + static_cast<std::ptrdiff_t>(i - begin) * end;
    const int first = first_key(i);
    const double share = take_softmax(head, i, row).second;
    std::fill(row, row + first, 0.0);
    for (int k = first; k <= i; ++k) row[k] *= share;
    std::fill(row + i + 1, row + end, 0.0);
  }
}

void ScoreRows::softmax_backward(int head, int begin, int end, double weight,
                                 const double* probabilities, double* gradient,
                                 double* inner) const {
  for (int i = begin; i < end; ++i) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(i - begin) * end;
    const double* p = probabilities + offset;
    double* g = gradient + offset;
    const double mean = dot(p, g, i + 1);
    const double factor = weight * view_.scale;
    inner[i - begin] = mean;
    for (int k = 0; k <= i; ++k) g[k] = factor * p[k] * (g[k] - mean);
    std::fill(g + i + 1, g + end, 0.0);
    if (!(view_.softcap > 0.0)) continue;
    // The slope of the soft cap is 1 - tanh^2, and cap * tanh is the score that p was made of.
    const std::size_t at = extent(head) * extent(nodes_) + extent(i);
    for (int k = 0; k <= i; ++k) {
      if (!(p[k] > 0.0)) continue;
      const double level = (std::log(p[k] / share_[at]) + shift_[at]) / view_.softcap;
      g[k] *= std::max(0.0, 1.0 - level * level);
    }
  }
}

CombinedRows::CombinedRows(const AttentionRows& rows, std::span<const double> weights)
    : rows_(rows), weights_(weights.begin(), weights.end()) {
  if (weights_.empty()) weights_.assign(extent(rows.heads()), 1.0);
  if (weights_.size() != extent(rows.heads()))
    throw InputError(fmt::format("weights: {} numbers, expected one for each of {} heads",
                                 weights_.size(), rows.heads()));
  given_sum_ = 0.0;
  for (const double w : weights_) {
    if (!(w >= 0.0) || !std::isfinite(w))
      throw InputError(fmt::format("weights: {} is not a weight; weights are at least 0", w));
    given_sum_ += w;
  }
  if (!(given_sum_ > 0.0) || !std::isfinite(given_sum_))
    throw InputError("weights: at least one weight must be positive, and their sum finite");
  for (double& w : weights_) w /= given_sum_;
}

ConstMatrixView CombinedRows::read(int begin, int end, Buffer& buffer) const {
  const std::size_t count = extent(end - begin) * extent(end);
  if (buffer.sum.size() < count)
    buffer.sum.resize(extent(std::min(nodes(), kBlock)) * extent(nodes()));
  const ConstMatrixView view{buffer.sum.data(), end - begin, end, end};
  if (heads() == 1) {
    rows_.read(0, begin, end, buffer.sum.data());
    return view;
  }
  buffer.head.resize(buffer.sum.size());
  std::fill_n(buffer.sum.data(), count, 0.0);
  for (int h = 0; h < heads(); ++h) {
    if (weights_[extent(h)] == 0.0) continue;
    rows_.read(h, begin, end, buffer.head.data());
    add_scaled(buffer.head.data(), weights_[extent(h)], static_cast<int>(count), buffer.sum.data());
  }
  return view;
}

}  // namespace synergraph
