#include "synergraph/heads/device_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/heads/attention_view.h"

namespace synergraph {
namespace {

constexpr std::int64_t kMostWidth = 1 << 16;

void check_extents(const QueryKeyView& view) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max() / 2;
  struct Extent {
    const char* name;
    std::int64_t value, most;
  };
  for (const Extent& extent :
       {Extent{"samples", view.samples, kMost}, Extent{"heads", view.heads, kMost},
        Extent{"heads of keys", view.key_heads, view.heads},
        Extent{"tokens", view.tokens, kMaxTokens}, Extent{"features", view.width, kMostWidth}})
    if (extent.value < 1 || extent.value > extent.most)
      throw InputError(fmt::format("queries and keys: {} {}, expected 1 to {}", extent.value,
                                   extent.name, extent.most));
  if (view.heads % view.key_heads != 0)
    throw InputError(
        fmt::format("queries and keys: {} heads of queries are not a multiple of {} heads of keys",
                    view.heads, view.key_heads));
}

void check_strides(const QueryKeyView::Strides& strides, const QueryKeyView& view,
                   std::int64_t heads, const char* what) {
  const auto size = static_cast<std::ptrdiff_t>(item_size(view.type));
  std::ptrdiff_t reach = size * view.width;
  for (const auto& [stride, extent] :
       {std::pair(strides.sample, view.samples), std::pair(strides.head, heads),
        std::pair(strides.token, view.tokens)}) {
    if (stride % size != 0)
      throw InputError(fmt::format("{}: a stride of {} bytes is not a multiple of {}'s {}", what,
                                   stride, name_of(view.type), size));
    std::ptrdiff_t last = 0;
    if (stride == std::numeric_limits<std::ptrdiff_t>::min() ||
        __builtin_mul_overflow(stride < 0 ? -stride : stride, extent - 1, &last) ||
        __builtin_add_overflow(reach, last, &reach))
      throw InputError(fmt::format("{}: strides of {} bytes do not fit the memory", what, stride));
  }
}

/// Tokens [first, last) of one head of queries or keys, `width` numbers each in double precision.
std::vector<double> features(const void* data, const QueryKeyView::Strides& strides,
                             const QueryKeyView& view, std::int64_t sample, std::int64_t head,
                             std::int64_t first, std::int64_t last) {
  AttentionView rows{data, view.type, 1, 1, view.width, {}};
  rows.strides = {strides.sample, strides.head, strides.token,
                  static_cast<std::ptrdiff_t>(item_size(view.type))};
  std::vector<double> values(static_cast<std::size_t>((last - first) * view.width));
  read_rows(rows, sample, head, first, last - first, values.data());
  return values;
}

/// Keys of a head, feature by feature: all keys of a row side by side.
std::vector<double> keys_by_feature(const QueryKeyView& view, std::int64_t sample,
                                    std::int64_t key_head) {
  const auto tokens = static_cast<std::size_t>(view.tokens);
  const auto width = static_cast<std::size_t>(view.width);
  const std::vector<double> rows =
      features(view.keys, view.key_strides, view, sample, key_head, 0, view.tokens);
  std::vector<double> keys(rows.size());
  for (std::size_t j = 0; j < tokens; ++j)
    for (std::size_t f = 0; f < width; ++f) keys[f * tokens + j] = rows[j * width + f];
  return keys;
}

/// Entries 0 .. i of row i of the probabilities.
void make_row(const QueryKeyView& view, std::int64_t head, std::size_t i, const double* query,
              const double* keys, double* row) {
  const auto tokens = static_cast<std::size_t>(view.tokens);
  const auto width = static_cast<std::size_t>(view.width);
  std::fill(row, row + i + 1, 0.0);
  const auto window = static_cast<std::size_t>(view.window);
  const std::size_t first = window == 0 || i + 1 < window ? 0 : i + 1 - window;
  for (std::size_t f = 0; f < width; ++f) {
    const double factor = query[f];
    const double* column = keys + f * tokens;
    for (std::size_t j = first; j <= i; ++j) row[j] += factor * column[j];
  }
  double highest = view.sink_logits != nullptr ? double{view.sink_logits[head]} : -HUGE_VAL;
  for (std::size_t j = first; j <= i; ++j) {
    row[j] *= view.scale;
    if (view.softcap > 0.0) row[j] = view.softcap * std::tanh(row[j] / view.softcap);
    highest = std::max(highest, row[j]);
  }
  double sum =
      view.sink_logits != nullptr ? std::exp(double{view.sink_logits[head]} - highest) : 0.0;
  for (std::size_t j = first; j <= i; ++j) sum += row[j] = std::exp(row[j] - highest);
  for (std::size_t j = first; j <= i; ++j) row[j] /= sum;
}

}  // namespace

void check_view(const QueryKeyView& view) {
  if (name_of(view.type).empty())
    throw InputError(
        "queries and keys: unknown element type, expected float16, bfloat16, float32 or float64");
  check_extents(view);
  check_strides(view.query_strides, view, view.heads, "queries");
  check_strides(view.key_strides, view, view.key_heads, "keys");
  if (view.queries == nullptr) throw InputError("queries: there is no data");
  if (view.keys == nullptr) throw InputError("keys: there is no data");
  if (!std::isfinite(view.scale))
    throw InputError(fmt::format("scale {}: expected a number", view.scale));
  if (!(view.softcap >= 0.0) || !std::isfinite(view.softcap))
    throw InputError(
        fmt::format("soft cap {}: expected a positive number, or 0 for none", view.softcap));
  if (view.window < 0)
    throw InputError(
        fmt::format("window of {} tokens: expected at least 1, or 0 for none", view.window));
}

struct ProbabilityRows::Keys {
  std::mutex mutex;
  std::int64_t head = -1;
  std::shared_ptr<const std::vector<double>> values;
};

ProbabilityRows::ProbabilityRows(const QueryKeyView& view, std::int64_t sample)
    : view_(view), sample_(sample), keys_(std::make_unique<Keys>()) {}

ProbabilityRows::~ProbabilityRows() = default;

double ProbabilityRows::held_bytes() const {
  return 2.0 * 8.0 * static_cast<double>(view_.tokens) * static_cast<double>(view_.width);
}

void ProbabilityRows::read(std::int64_t head, std::int64_t i, double* into) const {
  const std::int64_t key_head = head / (view_.heads / view_.key_heads);
  std::shared_ptr<const std::vector<double>> keys;
  {
    const std::lock_guard lock(keys_->mutex);
    if (keys_->head != key_head) {
      keys_->values.reset();
      keys_->values =
          std::make_shared<const std::vector<double>>(keys_by_feature(view_, sample_, key_head));
      keys_->head = key_head;
    }
    keys = keys_->values;
  }
  const std::vector<double> query =
      features(view_.queries, view_.query_strides, view_, sample_, head, i, i + 1);
  make_row(view_, head, static_cast<std::size_t>(i), query.data(), keys->data(), into);
}

void read_probabilities(const QueryKeyView& view, std::int64_t sample, std::int64_t head,
                        double* into) {
  const auto tokens = static_cast<std::size_t>(view.tokens);
  const auto width = static_cast<std::size_t>(view.width);
  const std::vector<double> queries =
      features(view.queries, view.query_strides, view, sample, head, 0, view.tokens);
  const std::vector<double> keys =
      keys_by_feature(view, sample, head / (view.heads / view.key_heads));
  for (std::size_t i = 0; i < tokens; ++i) {
    double* row = into + i * tokens;
    make_row(view, head, i, queries.data() + i * width, keys.data(), row);
    std::fill(row + i + 1, row + tokens, 0.0);
  }
}

}  // namespace synergraph
