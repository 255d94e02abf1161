#include "synergraph/heads/measure_systems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/graph/attention_rounding.h"
#include "synergraph/heads/measure.h"
#include "synergraph/heads/view_source.h"
#include "synergraph/heads/visit_systems.h"
#include "tests/heads/memory_source.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;
using testing_support::random_weights;

constexpr std::array kTypes = {FloatType::kFloat16, FloatType::kBFloat16, FloatType::kFloat32,
                               FloatType::kFloat64};

/// The bits of the element nearest to a number between 0 and 1 in a type of 16 bits.
template <class Decode>
std::uint16_t nearest(double value, Decode decode) {
  std::uint16_t above = 0;
  while (decode(above) < value) above = static_cast<std::uint16_t>(above + 1);
  if (above == 0) return above;
  const auto below = static_cast<std::uint16_t>(above - 1);
  return value - decode(below) < decode(above) - value ? below : above;
}

void store(double value, FloatType type, std::byte* to) {
  const auto copy = [&](auto stored) { std::memcpy(to, &stored, sizeof stored); };
  if (type == FloatType::kFloat16) copy(nearest(value, half_to_float));
  if (type == FloatType::kBFloat16) copy(nearest(value, bfloat_to_float));
  if (type == FloatType::kFloat32) copy(static_cast<float>(value));
  if (type == FloatType::kFloat64) copy(value);
}

/// Random attention [samples][heads][n][n].
struct Attention {
  Attention(int sample_count, int head_count, int token_count, std::uint32_t index = 0)
      : samples(sample_count), heads(head_count), tokens(token_count) {
    RandomSequence draws(31, Purpose::kTest, index);
    for (int k = 0; k < samples * heads; ++k) {
      const Matrix head = random_attention(tokens, 1.0, draws);
      for (int i = 0; i < tokens; ++i)
        values.insert(values.end(), head.row(i), head.row(i) + tokens);
    }
  }
  AttentionView view() const { return attention_view(values.data(), samples, heads, tokens); }
  double* row(int sample, int head, int i) {
    return values.data() + ((std::ptrdiff_t{sample} * heads + head) * tokens + i) * tokens;
  }

  int samples, heads, tokens;
  std::vector<double> values;
};

/// The same attention in another type and layout: axis `order[d]` (sample, head, query, key) varies
/// slower than those after it, axes of `reversed` go backwards, elements lie `gap` times as far
/// apart as they must.
class Stored {
 public:
  Stored(Attention attention, FloatType type, std::array<int, 4> order = {0, 1, 2, 3},
         std::array<bool, 4> reversed = {}, int gap = 1)
      : view_{nullptr, type, attention.samples, attention.heads, attention.tokens, {}} {
    const std::array<int, 4> extents = {attention.samples, attention.heads, attention.tokens,
                                        attention.tokens};
    std::array<std::ptrdiff_t, 4> strides{};
    auto step = static_cast<std::ptrdiff_t>(item_size(type)) * gap;
    std::ptrdiff_t origin = 1;  // unaligned, too
    for (std::size_t d = 4; d-- > 0;) {
      const auto axis = static_cast<std::size_t>(order[d]);
      strides[axis] = reversed[axis] ? -step : step;
      if (reversed[axis]) origin += step * (extents[axis] - 1);
      step *= extents[axis];
    }
    bytes_.resize(static_cast<std::size_t>(step) + 1);
    view_.data = bytes_.data() + origin;
    view_.strides = {strides[0], strides[1], strides[2], strides[3]};
    for (int s = 0; s < attention.samples; ++s)
      for (int h = 0; h < attention.heads; ++h)
        for (int i = 0; i < attention.tokens; ++i)
          for (int j = 0; j < attention.tokens; ++j)
            store(attention.row(s, h, i)[j], type,
                  bytes_.data() + origin + s * strides[0] + h * strides[1] + i * strides[2] +
                      j * strides[3]);
  }
  const AttentionView& view() const { return view_; }

 private:
  std::vector<std::byte> bytes_;
  AttentionView view_;
};

/// Everything that was measured, bit for bit.
std::vector<std::uint64_t> bits(const HeadsMetrics& metrics) {
  std::vector<double> numbers = {metrics.effective_forward_probability,
                                 metrics.effective_bound.steps,
                                 metrics.adaptive.steps,
                                 metrics.mixing_synergy,
                                 static_cast<double>(metrics.synergy.best_head),
                                 metrics.synergy.value,
                                 metrics.cross_head_share};
  const auto add = [&](const std::vector<double>& more) {
    numbers.insert(numbers.end(), more.begin(), more.end());
  };
  std::vector<Metrics> all = metrics.heads;
  all.push_back(metrics.combined);
  for (const Metrics& m : all) {
    add({m.forward_probability, m.bound.steps, m.walk.hitting.mean, m.walk.hitting.max,
         m.walk.truncated.mean, m.walk.truncated.max, m.fidelity.minimax, m.fidelity.minimax_upper,
         m.fidelity.minimax_time, static_cast<double>(m.fidelity.minimax_node)});
    for (const auto& list : {m.walk.mixing, m.walk.hitting.node, m.walk.truncated.node,
                             m.fidelity.node, m.fidelity.optimal_time})
      add(list);
  }
  std::vector<std::uint64_t> patterns;
  for (const double number : numbers)
    patterns.push_back(std::isnan(number) ? 0 : std::bit_cast<std::uint64_t>(number));
  return patterns;
}

void expect_equal(const BatchMetrics& a, const BatchMetrics& b) {
  ASSERT_EQ(a.sequences.size(), b.sequences.size());
  for (std::size_t c = 0; c < a.sequences.size(); ++c) {
    ASSERT_EQ(a.sequences[c].size(), b.sequences[c].size());
    for (std::size_t s = 0; s < a.sequences[c].size(); ++s)
      EXPECT_EQ(bits(a.sequences[c][s]), bits(b.sequences[c][s]))
          << "convention " << c << ", sequence " << s;
  }
}

BatchOptions both_conventions() {
  return {.conventions = {convention_options(Convention::kExact),
                          convention_options(Convention::kPublished)}};
}

/// Tokens begin .. end - 1 of a sample, measured as heads in memory.
HeadsMetrics measured_alone(Attention attention, const TokenSpan& span,
                            const std::vector<double>& weights, const MetricsOptions& options) {
  std::vector<Head> heads;
  const auto n = static_cast<int>(span.end - span.begin);
  for (int h = 0; h < attention.heads; ++h) {
    Matrix matrix(n, n);
    for (int i = 0; i < n; ++i)
      std::copy_n(
          attention.row(static_cast<int>(span.sample), h, static_cast<int>(span.begin) + i) +
              span.begin,
          i + 1, matrix.row(i));
    normalise_attention(matrix.view(), {.row_tolerance = 1.0});
    heads.push_back(head_of_attention("", std::move(matrix)));
  }
  return measure_heads(heads, weights, options);
}

/// Every sequence is, bit for bit, what it is alone. One convention at a time: together they share
/// a propagation, whose rounding may differ.
void expect_as_alone(const Attention& attention, const std::vector<double>& weights,
                     const std::vector<TokenSpan>& sequences) {
  for (const Convention convention : {Convention::kExact, Convention::kPublished}) {
    const MetricsOptions options = convention_options(convention);
    const BatchMetrics all =
        measure(attention.view(), weights,
                {.conventions = {options}, .sequences = sequences, .nodes = true});
    ASSERT_EQ(all.sequences.size(), 1U);
    ASSERT_EQ(all.sequences[0].size(), sequences.size());
    for (std::size_t s = 0; s < sequences.size(); ++s)
      EXPECT_EQ(bits(all.sequences[0][s]),
                bits(measured_alone(attention, sequences[s], weights, options)))
          << name_of(convention) << ", sequence " << s;
  }
}

TEST(MeasureView, EqualsHeadsMeasuredAlone) {
  const Attention attention(3, 4, 9);
  RandomSequence draws(5, Purpose::kTest, 0);
  const std::vector<double> weights = random_weights(4, draws);
  expect_as_alone(attention, weights, {{0, 0, 9}, {1, 0, 9}, {2, 0, 9}});
  BatchOptions options = both_conventions();
  options.sequences = {{0, 0, 9}, {1, 0, 9}, {2, 0, 9}};
  const BatchMetrics chosen = measure(attention.view(), weights, options);
  options.sequences = {};
  const BatchMetrics all = measure(attention.view(), weights, options);
  expect_equal(all, chosen);
  EXPECT_TRUE(all.sequences[1][2].combined.fidelity.node.empty());
}

// Sums of products of t entries, all positive: a relative error d of the entries is one of about
// t d of the sums. Rounding an entry and its row's sum by u each makes d = 2 u; a column's sum adds
// as much again.
TEST(MeasureView, EveryTypeGivesWhatItsRoundingExplains) {
  constexpr int kSteps = 8;
  BatchOptions options;
  options.conventions.front().fidelity.horizon = kSteps;
  options.conventions.front().walk.cutoff = kSteps;
  Attention attention(2, 3, 12);
  const BatchMetrics exact = measure(attention.view(), {}, options);
  for (const FloatType type : kTypes) {
    SCOPED_TRACE(name_of(type));
    const double unit = rounding_check(type, 1).causal_tolerance;
    const double tolerance = std::pow(1.0 + 4.1 * unit, kSteps) - 1.0 + 1e-14;
    const Stored stored(attention, type);
    const BatchMetrics rounded = measure(stored.view(), {}, options);
    for (std::size_t s = 0; s < 2; ++s) {
      const Metrics& a = exact.sequences[0][s].combined;
      const Metrics& b = rounded.sequences[0][s].combined;
      EXPECT_NEAR(b.fidelity.minimax / a.fidelity.minimax, 1.0, tolerance);
      EXPECT_NEAR(b.walk.truncated.mean / a.walk.truncated.mean, 1.0, tolerance);
    }
    if (type == FloatType::kFloat64) expect_equal(rounded, exact);
  }
}

TEST(MeasureView, LayoutChangesNothing) {
  const Attention attention(2, 3, 5);
  for (const FloatType type : kTypes) {
    const Stored plain(attention, type);
    const BatchMetrics expected = measure(plain.view());
    std::array<int, 4> order = {0, 1, 2, 3};
    unsigned backwards = 0;
    do {
      const unsigned r = backwards++;
      const Stored moved(attention, type, order,
                         {r % 2 == 1, r / 2 % 2 == 1, r / 4 % 2 == 1, r / 8 % 2 == 1},
                         1 + static_cast<int>(r % 3));
      expect_equal(measure(moved.view()), expected);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(MeasureView, AStrideOfZeroRepeats) {
  const Attention attention(1, 2, 6);
  AttentionView view = attention.view();
  view.samples = 3;
  view.strides.sample = 0;
  const BatchMetrics repeated = measure(view);
  ASSERT_EQ(repeated.sequences[0].size(), 3U);
  const auto expected = bits(measure(attention.view()).sequences[0][0]);
  for (const HeadsMetrics& sample : repeated.sequences[0]) EXPECT_EQ(bits(sample), expected);
}

TEST(MeasureView, ThreadsChangeNothing) {
  const Attention attention(7, 3, 10);
  BatchOptions options = both_conventions();
  options.execution.threads = 1;
  const BatchMetrics expected = measure(attention.view(), {}, options);
  for (const int threads : {2, 3, 16}) {
    options.execution.threads = threads;
    expect_equal(measure(attention.view(), {}, options), expected);
  }
}

// Padding on either side, several sinks: each sequence is as if it were alone.
TEST(MeasureView, SequencesAreSpansOfTokens) {
  Attention attention(2, 3, 8);
  for (int h = 0; h < 3; ++h)  // what is outside a sequence's rows is never looked at
    for (int i = 0; i < 2; ++i)
      std::fill_n(attention.row(1, h, i), 8, std::numeric_limits<double>::quiet_NaN());
  expect_as_alone(attention, {0.5, 0.25, 0.25}, {{1, 2, 8}, {0, 0, 8}, {0, 0, 5}, {1, 3, 4}});
}

// What padding holds in the rows of tokens is no error, and no part of them.
TEST(MeasureView, PaddingMayHoldAnything) {
  for (const double any : {std::numeric_limits<double>::quiet_NaN(), -3.0, 1e10}) {
    Attention attention(1, 2, 8);
    for (int h = 0; h < 2; ++h)
      for (int i = 2; i < 6; ++i) {
        double* row = attention.row(0, h, i);
        const double kept = std::accumulate(row + 2, row + i + 1, 0.0);
        for (int j = 2; j <= i; ++j) row[j] /= kept;
        std::fill_n(row, 2, any);
        std::fill_n(row + 6, 2, any);
      }
    expect_as_alone(attention, {0.5, 0.5}, {{0, 2, 6}});
    EXPECT_THROW(measure(attention.view(), {}, {.sequences = {{0, 2, 7}}}), InputError);
  }
}

TEST(MeasureView, WeightsAreOfTheHeadsOrOfEverySamplesHeads) {
  const Attention attention(2, 2, 5);
  const auto measured = [&](const std::vector<double>& weights) {
    const BatchMetrics all = measure(attention.view(), weights);
    return std::array{bits(all.sequences[0][0]), bits(all.sequences[0][1])};
  };
  EXPECT_EQ(measured({}), measured({3, 3}));
  EXPECT_EQ(measured({1, 3, 2, 2})[0], measured({1, 3})[0]);
  EXPECT_EQ(measured({1, 3, 2, 2})[1], measured({})[1]);
}

TEST(MeasureView, ReportsProgressAndStops) {
  const Attention attention(4, 3, 5);
  BatchOptions options;
  std::uint64_t last = 0;
  options.execution.progress.listener = [&](std::uint64_t done, std::uint64_t total,
                                            const std::string&) {
    EXPECT_EQ(total, 12U);
    last = done;
  };
  measure(attention.view(), {}, options);
  EXPECT_EQ(last, 12U);
  std::atomic<int> asked = 0;
  options.execution.stop = [&] { return ++asked > 2; };
  EXPECT_THROW(measure(attention.view(), {}, options), Stopped);
}

/// Layers of several shapes and types; the last is fetched. The same layer by layer is `alone`.
struct Layers {
  Layers() {
    source.add("a", first.view());
    source.add("b", second.view());
    source.add("c", attention_view(static_cast<double*>(nullptr), 3, 2, 6),
               [this](std::int64_t sample, std::int64_t head, void* into) {
                 std::memcpy(into, third.row(static_cast<int>(sample), static_cast<int>(head), 0),
                             36 * sizeof(double));
               });
    options.conventions = both_conventions().conventions;
  }
  /// [layer][convention][sample]
  std::vector<BatchMetrics> all() {
    std::vector<BatchMetrics> result;
    for (const AttentionLayer& layer : source.layers())
      result.push_back({std::vector<std::vector<HeadsMetrics>>(
          2, std::vector<HeadsMetrics>(static_cast<std::size_t>(layer.samples)))});
    measure_systems(
        source, {{0, 1}, {1, 3}},
        [&](int layer, int) { return weights[static_cast<std::size_t>(layer)]; }, options,
        [&](int layer, int sample, std::vector<HeadsMetrics> measured) {
          for (std::size_t c = 0; c < 2; ++c)
            result[static_cast<std::size_t>(layer)].sequences[c][static_cast<std::size_t>(sample)] =
                std::move(measured[c]);
        });
    return result;
  }
  BatchMetrics alone(std::size_t layer) const {
    const AttentionView views[] = {first.view(), second.view(), third.view()};
    return measure(views[layer], weights[layer], both_conventions());
  }

  Attention first{1, 2, 8, 0};
  Stored second{Attention(2, 3, 5, 1), FloatType::kFloat16};
  Attention third{3, 2, 6, 2};
  std::vector<std::vector<double>> weights = {{1, 2}, {3, 2, 1}, {1, 1}};
  ViewSource source;
  MeasureOptions options;
};

TEST(MeasureSystems, EqualsItsLayersAlone) {
  Layers layers;
  for (const int threads : {1, 2, 16}) {
    layers.options.execution.threads = threads;
    const std::vector<BatchMetrics> all = layers.all();
    for (std::size_t l = 0; l < 3; ++l) expect_equal(all[l], layers.alone(l));
  }
}

// Reading twice what is not kept changes nothing.
TEST(MeasureSystems, MemoryChangesNothing) {
  Layers layers;
  const std::vector<BatchMetrics> expected = layers.all();
  layers.options.execution.memory = 1000;
  const std::vector<BatchMetrics> all = layers.all();
  for (std::size_t l = 0; l < 3; ++l) expect_equal(all[l], expected[l]);
}

TEST(MeasureSystems, ReportsTheProgressOfAllLayers) {
  Layers layers;
  std::uint64_t last = 0;
  layers.options.execution.progress.listener = [&](std::uint64_t done, std::uint64_t total,
                                                   const std::string&) {
    EXPECT_EQ(total, 2U + 2 * 3 + 3 * 2);
    EXPECT_EQ(done, ++last);
  };
  (void)layers.all();
  EXPECT_EQ(last, 14U);
}

/// A batch whose attention cannot be measured.
struct Batch {
  std::vector<double> values = std::vector<double>(3 * 2 * 6 * 6, -1.0);
  AttentionView view = attention_view(values.data(), 3, 2, 6);
  std::vector<double> weights = {};
  BatchOptions options = both_conventions();
};

// Whatever is wrong beside the attention is found before any of it is read.
TEST(MeasureView, IsCheckedBeforeAnythingIsRead) {
  const auto refused = [](const std::string& message, const auto& change) {
    Batch batch;
    change(batch);
    try {
      measure(batch.view, batch.weights, batch.options);
      FAIL() << "expected: " << message;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), message);
    }
  };
  const auto first = [](Batch& batch) -> MetricsOptions& { return batch.options.conventions[0]; };
  const auto second = [](Batch& batch) -> MetricsOptions& { return batch.options.conventions[1]; };
  refused("attention: 0 heads, expected 1 to 1073741823", [](Batch& b) { b.view.heads = 0; });
  refused("attention: unknown element type, expected float16, bfloat16, float32 or float64",
          [](Batch& b) { b.view.type = static_cast<FloatType>(7); });
  refused("attention: there is no data", [](Batch& b) { b.view.data = nullptr; });
  refused(
      "3 weights for 2 heads of 3 samples: expected one a head, 2, or one a head of every sample",
      [](Batch& b) {
        b.weights = {1, 1, 1};
      });
  refused("sample 1: all head weights are zero", [](Batch& b) { b.weights = {1, 1, 0, 0, 1, 1}; });
  refused("head weight -1 is not finite and non-negative", [](Batch& b) { b.weights = {1, -1}; });
  refused("sample 3 was asked for, there are 0:3", [](Batch& b) {
    b.options.sequences = {{2, 0, 6}, {3, 0, 5}};
  });
  refused("sample 2: tokens 0:7 were asked for, it has 0:6", [](Batch& b) {
    b.options.sequences = {{2, 0, 7}};
  });
  refused("no convention to measure by", [](Batch& b) { b.options.conventions.clear(); });
  refused("no eps of a mixing time", [&](Batch& b) { second(b).walk.eps.clear(); });
  refused("eps 0 is not in (0, 1]", [&](Batch& b) { first(b).walk.eps = {0.25, 0.0}; });
  refused("the first eps of one convention is 0.25, of another 0.5", [&](Batch& b) {
    second(b).walk.eps = {0.5, 0.25};
  });
  refused("one convention asks for the walks of every head, another does not",
          [&](Batch& b) { second(b).per_head_walks = false; });
  refused("cutoff 0 is not in 1 to 1000000000", [&](Batch& b) { first(b).walk.cutoff = 0; });
  refused("horizon -1 is not in 0 to 1000000000",
          [&](Batch& b) { second(b).fidelity.horizon = -1; });
  refused("step limit 0 is not positive", [&](Batch& b) { first(b).fidelity.step_limit = 0; });
  refused("normalization 9 is none of per-head, pooled, published",
          [&](Batch& b) { first(b).normalization = static_cast<Normalization>(9); });
  refused("nodes of the fidelity -1 is none of sources, all",
          [&](Batch& b) { second(b).fidelity.nodes = static_cast<FidelityNodes>(-1); });
  refused("row tolerance -1 is not a positive number or zero",
          [](Batch& b) { b.options.row_tolerance = -1.0; });
  refused("missing mass 2 is none of error, node",
          [](Batch& b) { b.options.missing_mass = static_cast<MissingMass>(2); });
}

/// Measuring is refused with a message that contains this.
void expect_refused(const std::string& message, const AttentionView& view,
                    const std::vector<double>& weights = {}, const BatchOptions& options = {}) {
  try {
    measure(view, weights, options);
    FAIL() << "accepted: " << message;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(message));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

TEST(MeasureView, RefusesViewsThatCannotBeRead) {
  const Attention attention(2, 2, 3);
  const auto refused = [&](const std::string& message, auto change) {
    AttentionView view = attention.view();
    change(view);
    expect_refused(message, view);
  };
  refused("there is no data", [](AttentionView& v) { v.data = nullptr; });
  refused("unknown element type", [](AttentionView& v) { v.type = static_cast<FloatType>(9); });
  refused("0 samples", [](AttentionView& v) { v.samples = 0; });
  refused("-1 heads", [](AttentionView& v) { v.heads = -1; });
  refused("0 queries", [](AttentionView& v) { v.tokens = 0; });
  refused("131073 queries, expected 1 to 131072", [](AttentionView& v) { v.tokens = 131073; });
  refused("1099511627776 samples", [](AttentionView& v) { v.samples = std::int64_t{1} << 40; });
  refused("the stride of its keys, 1 bytes, is not a multiple of float64's 8",
          [](AttentionView& v) { v.strides.key = 1; });
  refused("2 samples that are 9223372036854775800 bytes apart", [](AttentionView& v) {
    v.strides.sample = std::numeric_limits<std::ptrdiff_t>::max() - 7;
  });
  refused("apart do not fit",
          [](AttentionView& v) { v.strides.head = std::numeric_limits<std::ptrdiff_t>::min(); });
  expect_refused("queries", attention_view(attention.values.data(), 1, 1, std::int64_t{1} << 62));
}

TEST(MeasureView, RefusesWeightsThatAreNotConvex) {
  const Attention attention(3, 2, 3);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  expect_refused("3 weights for 2 heads of 3 samples", attention.view(), {1, 1, 1});
  expect_refused("4 weights for 2 heads of 3 samples", attention.view(), {1, 1, 1, 1});
  expect_refused("head weight -1 is not", attention.view(), {1, -1});
  expect_refused("head weight nan is not", attention.view(), {1, kNaN});
  expect_refused("all head weights are zero", attention.view(), {0, 0});
  expect_refused("sample 2: all head weights are zero", attention.view(), {1, 1, 1, 1, 0, 0});
}

TEST(MeasureView, RefusesOptionsOutOfRange) {
  const Attention attention(2, 2, 3);
  const auto refused = [&](const std::string& message, auto change) {
    BatchOptions options = both_conventions();
    change(options);
    expect_refused(message, attention.view(), {}, options);
  };
  refused("no convention", [](BatchOptions& o) { o.conventions.clear(); });
  for (const double eps : {0.0, -0.25, 1.5, std::nan("")})
    refused("is not in (0, 1]", [&](BatchOptions& o) { o.conventions[1].walk.eps = {0.25, eps}; });
  refused("cutoff 0", [](BatchOptions& o) { o.conventions[0].walk.cutoff = 0; });
  refused("horizon -1", [](BatchOptions& o) { o.conventions[0].fidelity.horizon = -1; });
  refused("step limit 0", [](BatchOptions& o) { o.conventions[0].fidelity.step_limit = 0; });
  refused("walks of every head", [](BatchOptions& o) { o.conventions[1].per_head_walks = false; });
  refused("row tolerance", [](BatchOptions& o) { o.row_tolerance = std::nan(""); });
  refused("row tolerance", [](BatchOptions& o) { o.row_tolerance = -1.0; });
  refused("sample 2 was asked for, there are 0:2", [](BatchOptions& o) {
    o.sequences = {{0, 0, 3}, {2, 0, 3}};
  });
  for (const TokenSpan span : {TokenSpan{1, -1, 2}, {1, 2, 2}, {1, 0, 4}})
    refused("were asked for, it has 0:3", [&](BatchOptions& o) { o.sequences = {span}; });
}

TEST(MeasureView, RefusesWhatIsNotCausalAttentionAndNamesThePlace) {
  const auto refused = [](const std::string& message, double value, int i, int j,
                          const BatchOptions& options = {}) {
    Attention attention(2, 2, 4);
    attention.row(1, 0, i)[j] = value;
    expect_refused(message, attention.view(), {}, options);
  };
  refused("sample 1, head 0: entry nan in row 2, column 1 is not finite", std::nan(""), 2, 1);
  refused("sample 1, head 0: entry inf in row 2, column 1", INFINITY, 2, 1);
  refused("sample 1, head 0: entry -0.5 in row 3, column 0 is negative", -0.5, 3, 0);
  refused("sample 1, head 0: entry 0.5 in row 1, column 2 is above the diagonal", 0.5, 1, 2);
  refused("sample 1, head 0: row 2 sums to", 0.9, 2, 2);
  refused("explains: row_tolerance allows more", 0.9, 2, 2);
  refused("expected 1 within 0.1", 1.5, 0, 0, {.row_tolerance = 0.1});
  Attention attention(1, 1, 2);
  attention.row(0, 0, 1)[0] = 1.0;
  attention.row(0, 0, 1)[1] = 0.0;
  expect_refused("sample 0, head 0: row 1 gives nothing to the keys from 1 on", attention.view(),
                 {}, {.sequences = {{0, 1, 2}}});
}

TEST(MeasureView, TheFirstWrongSampleIsNamedWhateverTheThreads) {
  Attention attention(24, 2, 4);
  for (const int sample : {9, 10, 13, 20}) attention.row(sample, 1, 2)[0] = std::nan("");
  BatchOptions options;
  for (const int threads : {1, 2, 8})
    for (int repeat = 0; repeat < 20; ++repeat) {
      options.execution.threads = threads;
      expect_refused("sample 9, head 1: entry nan in row 2, column 0", attention.view(), {},
                     options);
    }
}

/// Without the first token of each sample: what rows gave to it is missing.
Attention without_first(Attention whole) {
  Attention rest(whole.samples, whole.heads, whole.tokens - 1);
  for (int s = 0; s < whole.samples; ++s)
    for (int h = 0; h < whole.heads; ++h)
      for (int i = 0; i < rest.tokens; ++i)
        std::copy_n(whole.row(s, h, i + 1) + 1, rest.tokens, rest.row(s, h, i));
  return rest;
}

TEST(MeasureView, ANodeTakesWhatIsMissing) {
  // The first token of causal attention keeps what it gets: without it, it is the node.
  const Attention whole(3, 2, 9);
  BatchOptions options = both_conventions();
  options.nodes = true;
  options.sequences = {{0, 0, 9}, {1, 0, 5}, {2, 0, 9}};
  const BatchMetrics expected = measure(whole.view(), {}, options);
  options.missing_mass = MissingMass::kNode;
  for (TokenSpan& sequence : options.sequences) --sequence.end;
  const Attention rest = without_first(whole);
  const BatchMetrics measured = measure(rest.view(), {}, options);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t s = 0; s < 3; ++s) {
      const Metrics& a = measured.sequences[c][s].combined;
      const Metrics& b = expected.sequences[c][s].combined;
      const auto near = [](const std::vector<double>& x, const std::vector<double>& y) {
        ASSERT_EQ(x.size(), y.size());
        for (std::size_t k = 0; k < x.size(); ++k)
          EXPECT_TRUE(x[k] == y[k] || std::abs(x[k] - y[k]) <= 1e-11 * y[k]) << x[k] << ' ' << y[k];
      };
      near(a.fidelity.node, b.fidelity.node);
      near(a.walk.hitting.node, b.walk.hitting.node);
      near(a.walk.truncated.node, b.walk.truncated.node);
      EXPECT_EQ(a.fidelity.minimax_node, b.fidelity.minimax_node);
    }
  options.missing_mass = MissingMass::kError;
  expect_refused(
      "row_tolerance allows more; missing_mass=\"node\" assigns the missing mass to an extra node",
      rest.view(), {}, options);
}

TEST(MeasureView, ANodeThatNothingIsMissingForHearsNothing) {
  Attention attention(1, 2, 6);
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 6; ++i) {  // rows that sum to 1 exactly
      std::fill_n(attention.row(0, h, i), 6, 0.0);
      attention.row(0, h, i)[i] += 0.75;
      attention.row(0, h, i)[i == 0 ? 0 : i - 1 - h * (i / 2)] += 0.25;
    }
  const BatchMetrics measured =
      measure(attention.view(), {}, {.missing_mass = MissingMass::kNode, .nodes = true});
  const Fidelity& fidelity = measured.sequences[0][0].combined.fidelity;
  EXPECT_EQ(fidelity.node.size(), 7U);
  EXPECT_EQ(fidelity.minimax, 0.0);
  EXPECT_EQ(fidelity.minimax_node, 0);
  const BatchMetrics usual = measure(attention.view(), {}, {.nodes = true});
  for (std::size_t j = 0; j < 6; ++j)
    EXPECT_NEAR(fidelity.node[j + 1], usual.sequences[0][0].combined.fidelity.node[j], 1e-14);
}

/// The minimax fidelity over the sources of attention with a node for what is missing, step by step
/// in extended precision. Row i gives the same to each of its i + 1 tokens.
double minimax_with_node(const std::vector<double>& given) {
  const std::size_t n = given.size() + 1;
  std::vector<long double> signal(n, 0.0L);
  std::vector<long double> most(n, 0.0L);
  signal.back() = 1.0L;
  for (int step = 0; step < 50000; ++step) {
    std::vector<long double> next(n, 0.0L);
    next[0] = signal[0];
    for (std::size_t i = 1; i < n; ++i) {
      const long double each = given[i - 1];
      next[0] += signal[i] * (1.0L - static_cast<long double>(i) * each);
      for (std::size_t j = 1; j <= i; ++j) next[j] += signal[i] * each;
    }
    signal = next;
    for (std::size_t j = 0; j < n; ++j) most[j] = std::max(most[j], signal[j]);
  }
  return static_cast<double>(*std::min_element(most.begin(), most.end() - 1));
}

TEST(MeasureView, NoneOfTheMassThatIsMissingIsRounding) {
  constexpr int kTokens = 4;
  for (const FloatType stored : kTypes)
    for (const FloatType shown : kTypes)  // what the entries were rounded to before
      for (const double share : {0.0005, 0.001, 0.002, 0.01, 0.0117, 0.015, 0.0157, 0.016, 0.3}) {
        if (item_size(shown) > item_size(stored) || (item_size(shown) == 2 && shown != stored))
          continue;
        Attention attention(1, 1, kTokens);
        std::vector<double> given;
        for (int i = 0; i < kTokens; ++i) {
          std::array<std::byte, 8> element{};
          store((1.0 - share) / (i + 1), shown, element.data());
          double rounded = 0.0;
          read_rows(attention_view(element.data(), shown, 1, 1, 1), 0, 0, 0, 1, &rounded);
          given.push_back(rounded);
          std::fill_n(attention.row(0, 0, i), i + 1, rounded);
          std::fill_n(attention.row(0, 0, i) + i + 1, kTokens - i - 1, 0.0);
        }
        const Stored array(attention, stored);
        const BatchMetrics measured =
            measure(array.view(), {}, {.missing_mass = MissingMass::kNode, .nodes = true});
        const double expected = minimax_with_node(given);
        EXPECT_NEAR(measured.sequences[0][0].combined.fidelity.minimax, expected, 1e-12)
            << name_of(stored) << ' ' << name_of(shown) << ' ' << share;
        const bool vanishes =
            share < 0.005 && item_size(shown) == 2;  // in rounding, before it is seen
        EXPECT_TRUE(vanishes || expected > 0.1) << expected;
      }
}

TEST(MeasureView, RowsAboveOneAreRefusedWhateverIsMissing) {
  Attention attention(1, 1, 3);
  attention.row(0, 0, 2)[2] += 0.5;
  try {
    measure(attention.view(), {}, {.missing_mass = MissingMass::kNode});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("row 2 sums to 1.5"));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("missing_mass")));
  }
}

/// A source of two layers that notes in which order its samples are opened, and fails at some.
class NotedSource : public testing_support::MemorySource {
 public:
  NotedSource() : MemorySource({samples(6), samples(4)}) {}
  std::vector<AttentionPiece> opened;
  int fails = -1;  ///< the first sample that does, in any layer

  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override {
    return std::make_unique<Noted>(*this, MemorySource::reader(memory));
  }

 private:
  static std::vector<std::vector<Head>> samples(int count) {
    RandomSequence draws(32, Purpose::kTest, 0);
    std::vector<std::vector<Head>> all;
    for (int s = 0; s < count; ++s)
      all.push_back({head_of_attention("", random_attention(5, 1.0, draws))});
    return all;
  }
  class Noted : public AttentionReader {
   public:
    Noted(NotedSource& source, std::unique_ptr<AttentionReader> from)
        : source_(source), from_(std::move(from)) {}
    void open(const AttentionPiece& piece) override {
      source_.opened.push_back(piece);
      from_->open(piece);
      sample_ = piece.sample;
    }
    void visit(const LayerVisitor& visitor) override {
      if (source_.fails >= 0 && sample_ >= source_.fails) throw InputError(std::to_string(sample_));
      from_->visit(visitor);
    }

   private:
    NotedSource& source_;
    std::unique_ptr<AttentionReader> from_;
    int sample_ = 0;
  };
};

TEST(VisitSystems, OpensInOrderAndVisitsEachOnce) {
  for (const int threads : {1, 3}) {
    NotedSource source;
    std::array<std::array<std::atomic<int>, 6>, 2> visits{};
    visit_systems(
        source, {{{1, 3}, {3, 6}}, {}, {.threads = threads}}, [&](const VisitedSystem& system) {
          ++visits[static_cast<std::size_t>(system.layer)][static_cast<std::size_t>(system.sample)];
        });
    std::string order;
    for (const AttentionPiece& piece : source.opened)
      order += "ab"[piece.layer] + std::to_string(piece.sample);
    EXPECT_EQ(order, "a1a2b1b2a3a4a5b3");
    for (std::size_t l = 0; l < 2; ++l)
      for (std::size_t s = 0; s < 6; ++s)
        EXPECT_EQ(visits[l][s], s >= 1 && s < (l == 0 ? 6U : 4U) ? 1 : 0);
  }
}

TEST(VisitSystems, VisitsOneLayerOrAllOfASample) {
  NotedSource source;
  visit_systems(source, {{{0, 6}}, 1, {.threads = 2}},
                [&](const VisitedSystem& system) { EXPECT_EQ(system.layer, 1); });
  EXPECT_EQ(source.opened.size(), 4U);
  std::atomic<int> layers = 0;
  visit_samples(source, {{{0, 6}}, {}, {.threads = 2}}, [&](VisitedSample& sample) {
    if (sample.sample() < 4)
      sample.visit_together([&](auto heads) { layers += static_cast<int>(heads.size()); });
    sample.visit([&](int, HeadSource&) { layers += 100; });
  });
  EXPECT_EQ(layers, 4 * 2 + 10 * 100);
}

TEST(VisitSystems, ThrowsTheFirstErrorInOrder) {
  for (const int threads : {1, 2, 4})
    for (int again = 0; again < 20; ++again) {
      NotedSource source;
      source.fails = 2;
      try {
        visit_systems(source, {{{0, 6}}, {}, {.threads = threads}}, [](const VisitedSystem&) {});
        FAIL();
      } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "2");
      }
    }
}

}  // namespace
}  // namespace synergraph
