// Attention measured on a GPU against the CPU: the same probabilities, the same numbers.
#include <cuda_runtime_api.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <ostream>
#include <random>

#include "synergraph/core/error.h"
#include "synergraph/device/cuda/cuda_metrics.h"
#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/large_operators.h"
#include "synergraph/device/large/measure_large.h"
#include "synergraph/graph/generators.h"
#include "synergraph/graph/multi_head_graph.h"

namespace synergraph {
namespace {

using cuda::DeviceMemory;

bool gpu_is_there() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

#define NEEDS_A_GPU() \
  if (!gpu_is_there()) GTEST_SKIP() << "no GPU on this machine"

/// Bytes of numbers in an element type, rounded to nearest even (float16: of normal range).
std::vector<std::byte> as_type(const std::vector<double>& numbers, FloatType type) {
  std::vector<std::byte> bytes(numbers.size() * item_size(type));
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const auto single = static_cast<float>(numbers[k]);
    const auto put = [&](auto value) {
      std::memcpy(bytes.data() + k * sizeof(value), &value, sizeof(value));
    };
    if (type == FloatType::kFloat64) put(numbers[k]);
    if (type == FloatType::kFloat32) put(single);
    if (type == FloatType::kBFloat16) {
      const auto bits = std::bit_cast<std::uint32_t>(single);
      put(static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U));
    }
    if (type == FloatType::kFloat16) {
      // Multiples of 2^-24 below 2^-14, otherwise 11 digits.
      const double size = std::abs(numbers[k]);
      int exponent = 0;
      std::frexp(size, &exponent);
      const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
      const double rounded = std::nearbyint(size / unit) * unit;
      std::frexp(rounded, &exponent);
      std::uint32_t half = numbers[k] < 0.0 ? 0x8000U : 0U;
      if (rounded != 0.0 && exponent >= -13)
        half |= static_cast<std::uint32_t>(exponent + 14) << 10U |
                (static_cast<std::uint32_t>(std::ldexp(rounded, 11 - exponent)) & 0x3ffU);
      else
        half |= static_cast<std::uint32_t>(std::ldexp(rounded, 24));
      put(static_cast<std::uint16_t>(half));
    }
  }
  return bytes;
}

enum class Kind { kRandom, kSharp, kSinks, kWindow, kFalling, kSlow, kNearlyIdentity, kHoles };

/// Causal rows that sum to one.
std::vector<double> attention(int samples, int heads, int tokens, Kind kind, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> all(static_cast<std::size_t>(samples) * heads * tokens * tokens, 0.0);
  for (int head = 0; head < samples * heads; ++head)
    for (int i = 0; i < tokens; ++i) {
      double* row = all.data() + (static_cast<std::size_t>(head) * tokens + i) * tokens;
      double sum = 0.0;
      for (int j = 0; j <= i; ++j) {
        double score = normal(random);
        if (kind == Kind::kSharp) score *= 4.0;
        if (kind == Kind::kSinks) score += j == 0 ? 6.0 : 0.0;
        if (kind == Kind::kWindow && i - j > 40 + head) continue;
        if (kind == Kind::kFalling) score = -0.03 * (head % 3 + 1) * (i - j);
        if (kind == Kind::kSlow && i == j) score += 14.0 + head % 2;
        if (kind == Kind::kNearlyIdentity && i == j) score += 30.0;
        if (kind == Kind::kHoles && j % 7 == 3 && i > j) continue;  // columns of nothing
        sum += row[j] = std::exp(score);
      }
      for (int j = 0; j <= i; ++j) row[j] /= sum;
    }
  return all;
}

void expect_near(double device, double cpu, const char* what, double tolerance = 1e-12) {
  if (std::isnan(cpu)) {
    EXPECT_TRUE(std::isnan(device)) << what;
  } else if (std::isinf(cpu)) {
    EXPECT_EQ(device, cpu) << what;
  } else {
    EXPECT_NEAR(device, cpu, tolerance * std::abs(cpu)) << what;
  }
}

void expect_same(const Metrics& device, const Metrics& cpu) {
  expect_near(device.forward_probability, cpu.forward_probability, "forward probability");
  expect_near(device.bound.steps, cpu.bound.steps, "bound");
  expect_near(device.walk.hitting.mean, cpu.walk.hitting.mean, "mean hitting time");
  expect_near(device.walk.hitting.max, cpu.walk.hitting.max, "worst hitting time");
  expect_near(device.walk.truncated.mean, cpu.walk.truncated.mean, "mean truncated time");
  expect_near(device.walk.truncated.max, cpu.walk.truncated.max, "worst truncated time");
  ASSERT_EQ(device.walk.mixing.size(), cpu.walk.mixing.size());
  for (std::size_t k = 0; k < cpu.walk.mixing.size(); ++k)  // integers below 10^6
    expect_near(device.walk.mixing[k], cpu.walk.mixing[k], "T_mix",
                cpu.walk.mixing[k] < 1e6 ? 0.0 : 2e-9);
  // Squaring finds values to 1e-12, and times where a signal is that near to its peak.
  const bool squared =
      cpu.fidelity.minimax_time > 2000.0 && std::isfinite(cpu.fidelity.minimax_time);
  const double tolerance = squared ? 3e-12 : 1e-12;
  expect_near(device.fidelity.minimax, cpu.fidelity.minimax, "fidelity", tolerance);
  expect_near(device.fidelity.minimax_upper, cpu.fidelity.minimax_upper, "fidelity's upper end",
              tolerance);
  EXPECT_EQ(device.fidelity.minimax_node, cpu.fidelity.minimax_node);
  expect_near(device.fidelity.minimax_time, cpu.fidelity.minimax_time, "time of the fidelity",
              squared ? 1e-5 : 0.0);
  EXPECT_EQ(device.fidelity.certified, cpu.fidelity.certified);
}

void expect_same(const HeadsMetrics& device, const HeadsMetrics& cpu) {
  ASSERT_EQ(device.heads.size(), cpu.heads.size());
  for (std::size_t h = 0; h < cpu.heads.size(); ++h) {
    SCOPED_TRACE(fmt::format("head {}", h));
    expect_same(device.heads[h], cpu.heads[h]);
  }
  SCOPED_TRACE("all heads");
  expect_same(device.combined, cpu.combined);
  expect_near(device.effective_forward_probability, cpu.effective_forward_probability, "p");
  expect_near(device.mixing_synergy, cpu.mixing_synergy, "mixing synergy");
  expect_near(device.synergy.value, cpu.synergy.value, "synergy", 6e-12);
  EXPECT_EQ(device.synergy.best_head, cpu.synergy.best_head);
  if (std::isnan(cpu.cross_head_share))
    EXPECT_TRUE(std::isnan(device.cross_head_share));
  else
    EXPECT_NEAR(device.cross_head_share, cpu.cross_head_share, 1e-10);
}

void expect_same(const BatchMetrics& device, const BatchMetrics& cpu) {
  ASSERT_EQ(device.sequences.size(), cpu.sequences.size());
  for (std::size_t c = 0; c < cpu.sequences.size(); ++c) {
    ASSERT_EQ(device.sequences[c].size(), cpu.sequences[c].size());
    for (std::size_t s = 0; s < cpu.sequences[c].size(); ++s) {
      SCOPED_TRACE(fmt::format("convention {}, sequence {}", c, s));
      expect_same(device.sequences[c][s], cpu.sequences[c][s]);
    }
  }
}

/// Takes a part of every row away, as learned sinks do: from next to nothing to nearly all.
void leave_out(std::vector<double>& numbers, int tokens, double share) {
  for (std::size_t row = 0; row * static_cast<std::size_t>(tokens) < numbers.size(); ++row)
    for (int j = 0; j < tokens; ++j)
      numbers[row * static_cast<std::size_t>(tokens) + static_cast<std::size_t>(j)] *=
          1.0 - share / static_cast<double>(1 + row % 3);
}

/// Whether the device decides all of a sample itself.
bool decided_on_device(const AttentionView& on_device, const std::vector<double>& weights,
                       const BatchOptions& options) {
  if (!large::refusal(options).empty()) return false;
  cuda::LargeHeads heads;
  heads.nodes = static_cast<int>(on_device.tokens);
  heads.heads = static_cast<int>(on_device.heads);
  heads.type = on_device.type;
  heads.stride = on_device.strides.query / static_cast<std::ptrdiff_t>(item_size(on_device.type));
  for (int h = 0; h < heads.heads; ++h)
    heads.data.push_back(static_cast<const std::byte*>(on_device.data) +
                         h * on_device.strides.head);
  heads.weights = convex_weights(weights, weights.size());
  heads.missing_mass = options.missing_mass == MissingMass::kNode;
  heads.published = large::wants_published(options);
  cuda::LargeWorkspace workspace;
  cuda::LargeOperators operators(heads, workspace, nullptr);
  return large::is_good(operators, 0.1) &&
         large::measure(operators, heads.weights, options).has_value();
}

/// Conventions that the device measures itself.
BatchOptions options_of(Normalization normalization = Normalization::kPooled) {
  BatchOptions options;
  options.conventions.front().normalization = normalization;
  options.conventions.front().walk.eps = {0.25, 0.01};
  return options;
}

struct Case {
  int tokens;
  int heads;
  Kind kind;
  FloatType type;
};

/// For the names of tests.
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.tokens << " tokens, " << c.heads << " heads, kind " << static_cast<int>(c.kind) << ", "
       << name_of(c.type);
}

class LargeMetrics : public testing::TestWithParam<Case> {};

TEST_P(LargeMetrics, AreThoseOfTheCpu) {
  NEEDS_A_GPU();
  const Case& c = GetParam();
  const int samples = 2;
  const std::vector<std::byte> data =
      as_type(attention(samples, c.heads, c.tokens, c.kind, 7), c.type);
  DeviceMemory<std::byte> there(data.size());
  there.upload(data.data(), data.size(), nullptr);
  const AttentionView here = attention_view(data.data(), c.type, samples, c.heads, c.tokens);
  AttentionView on_device = here;
  on_device.data = there.data();
  std::vector<double> weights(static_cast<std::size_t>(c.heads), 1.0);
  weights.front() = 2.5;
  const auto backend = cuda::make_cuda_metrics();
  for (const Normalization normalization : {Normalization::kPooled, Normalization::kPerHead}) {
    const BatchOptions options = options_of(normalization);
    const BatchMetrics expected = measure(here, weights, options);
    expect_same(backend->measure(on_device, weights, options, {}), expected);
    expect_same(backend->measure(here, weights, options, {}), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LargeMetrics,
                         testing::Values(Case{129, 1, Kind::kRandom, FloatType::kFloat32},
                                         Case{2, 3, Kind::kRandom, FloatType::kFloat64},
                                         Case{63, 2, Kind::kSharp, FloatType::kFloat64},
                                         Case{64, 2, Kind::kWindow, FloatType::kFloat32},
                                         Case{255, 4, Kind::kSharp, FloatType::kFloat64},
                                         Case{256, 2, Kind::kSinks, FloatType::kFloat32},
                                         Case{257, 3, Kind::kWindow, FloatType::kFloat32},
                                         Case{320, 16, Kind::kRandom, FloatType::kBFloat16},
                                         Case{511, 5, Kind::kFalling, FloatType::kFloat64},
                                         Case{770, 3, Kind::kSinks, FloatType::kFloat16},
                                         Case{1300, 2, Kind::kSharp, FloatType::kFloat32},
                                         Case{1281, 2, Kind::kWindow, FloatType::kFloat64}));

/// Everything at once: both conventions, a node for missing mass, slow heads. All of it is decided
/// on the device.
class HardMetrics : public testing::TestWithParam<Case> {};

TEST_P(HardMetrics, AreThoseOfTheCpu) {
  NEEDS_A_GPU();
  const Case& c = GetParam();
  const auto backend = cuda::make_cuda_metrics();
  for (const double share : {0.0, 1e-4, 0.5}) {
    SCOPED_TRACE(fmt::format("{} missing", share));
    std::vector<double> numbers = attention(1, c.heads, c.tokens, c.kind, 11);
    leave_out(numbers, c.tokens, share);
    const std::vector<std::byte> data = as_type(numbers, c.type);
    DeviceMemory<std::byte> there(data.size());
    there.upload(data.data(), data.size(), nullptr);
    const AttentionView here = attention_view(data.data(), c.type, 1, c.heads, c.tokens);
    AttentionView on_device = here;
    on_device.data = there.data();
    BatchOptions options = options_of(Normalization::kPerHead);
    options.conventions.push_back(options_of().conventions.front());
    options.conventions.push_back(convention_options(Convention::kPublished));
    options.missing_mass = share > 0.0 ? MissingMass::kNode : MissingMass::kError;
    for (MetricsOptions& each : options.conventions)
      each.fidelity.first_token = extra_nodes(options.missing_mass);
    std::vector<double> weights(static_cast<std::size_t>(c.heads), 1.0);
    weights.front() = 2.5;
    EXPECT_EQ(backend->refusal(on_device, options), "");
    expect_same(backend->measure(on_device, weights, options, {}), measure(here, weights, options));
    EXPECT_TRUE(decided_on_device(on_device, weights, options));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, HardMetrics,
                         testing::Values(Case{129, 2, Kind::kRandom, FloatType::kFloat32},
                                         Case{129, 1, Kind::kSlow, FloatType::kFloat64},
                                         Case{300, 3, Kind::kSlow, FloatType::kFloat32},
                                         Case{257, 2, Kind::kNearlyIdentity, FloatType::kFloat64},
                                         Case{200, 3, Kind::kHoles, FloatType::kBFloat16},
                                         Case{520, 4, Kind::kSinks, FloatType::kFloat16},
                                         Case{385, 2, Kind::kWindow, FloatType::kFloat64},
                                         Case{1100, 2, Kind::kSlow, FloatType::kFloat32}));

// Identity rows keep what they get: the CPU has the numbers.
TEST(HardMetrics, OfTheIdentityAreThoseOfTheCpu) {
  NEEDS_A_GPU();
  const int tokens = 150;
  std::vector<double> numbers(static_cast<std::size_t>(2 * tokens * tokens), 0.0);
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < tokens; ++i)
      numbers[static_cast<std::size_t>((h * tokens + i) * tokens + (h == 0 ? i : i / 2))] = 1.0;
  DeviceMemory<double> there(numbers.size());
  there.upload(numbers.data(), numbers.size(), nullptr);
  AttentionView view = attention_view(numbers.data(), 1, 2, tokens);
  BatchOptions options = options_of();
  options.conventions.push_back(convention_options(Convention::kPublished));
  const BatchMetrics expected = measure(view, {}, options);
  view.data = there.data();
  expect_same(cuda::make_cuda_metrics()->measure(view, {}, options, {}), expected);
}

TEST(LargeMetrics, OfGraphsAreThoseOfTheCpu) {
  NEEDS_A_GPU();
  const auto backend = cuda::make_cuda_metrics();
  for (const int nodes : {130, 400}) {
    std::vector<GraphHead> graphs;
    graphs.push_back({"", 1.0, generate_graph(fmt::format("complete:{}", nodes))});
    graphs.push_back({"", 2.0, generate_graph(fmt::format("window:{}:9", nodes))});
    graphs.push_back({"", 1.0, generate_graph(fmt::format("powers:{}", nodes))});
    const std::vector<Head> heads = heads_of_graph(multi_head_graph(std::move(graphs)));
    const std::vector<double> weights = {0.25, 0.5, 0.25};
    MeasureOptions options;
    options.conventions = {options_of(Normalization::kPerHead).conventions.front(),
                           options_of().conventions.front(),
                           convention_options(Convention::kPublished)};
    HeadList source(heads);
    const auto measured = backend->measure(source, weights, options, {});
    ASSERT_TRUE(measured) << nodes;
    const std::vector<HeadsMetrics> expected = measure(source, weights, options);
    for (std::size_t c = 0; c < expected.size(); ++c) expect_same((*measured)[c], expected[c]);
  }
}

TEST(LargeMetrics, OfSequencesInPaddingAreThoseOfTheCpu) {
  NEEDS_A_GPU();
  const int tokens = 400;
  std::vector<double> numbers = attention(3, 2, tokens, Kind::kRandom, 3);
  const std::vector<std::byte> data = as_type(numbers, FloatType::kFloat32);
  DeviceMemory<std::byte> there(data.size());
  there.upload(data.data(), data.size(), nullptr);
  const AttentionView here = attention_view(data.data(), FloatType::kFloat32, 3, 2, tokens);
  AttentionView on_device = here;
  on_device.data = there.data();
  BatchOptions options = options_of();
  options.sequences = {{0, 0, 400}, {2, 33, 390}, {1, 130, 400}, {1, 0, 131}, {0, 7, 9}};
  expect_same(cuda::make_cuda_metrics()->measure(on_device, {}, options, {}),
              measure(here, {}, options));
}

TEST(LargeMetrics, OfBadAttentionAreTheErrorsOfTheCpu) {
  NEEDS_A_GPU();
  const int tokens = 200;
  const auto backend = cuda::make_cuda_metrics();
  for (const double wrong : {-0.5, 0.7, std::nan("")}) {
    std::vector<double> numbers = attention(2, 2, tokens, Kind::kRandom, 5);
    numbers[static_cast<std::size_t>((3 * tokens + 120) * tokens + 44)] = wrong;
    DeviceMemory<double> there(numbers.size());
    there.upload(numbers.data(), numbers.size(), nullptr);
    const auto message = [&](auto call) {
      try {
        call();
      } catch (const InputError& error) {
        return std::string(error.what());
      }
      return std::string("none");
    };
    AttentionView view = attention_view(numbers.data(), 2, 2, tokens);
    const std::string expected = message([&] { measure(view, {}, options_of()); });
    view.data = there.data();
    EXPECT_EQ(message([&] { backend->measure(view, {}, options_of(), {}); }), expected);
    EXPECT_NE(expected, "none");
  }
}

struct MadeCase {
  int tokens;
  int heads;
  int key_heads;
  int width;
  FloatType type;
  double softcap = 0.0;
  int window = 0;
  bool sinks = false;
};

void PrintTo(const MadeCase& c, std::ostream* out) {
  *out << c.tokens << " tokens, " << c.heads << " heads, " << c.key_heads << " of keys, width "
       << c.width << ", " << name_of(c.type) << ", cap " << c.softcap << ", window " << c.window
       << (c.sinks ? ", learned sinks" : "");
}

class MadeMetrics : public testing::TestWithParam<MadeCase> {};

/// Queries and keys on the device.
struct Made {
  explicit Made(const MadeCase& c, double spread = 1.0)
      : queries(numbers(c.heads * c.tokens * c.width, spread, 1)),
        keys(numbers(c.key_heads * c.tokens * c.width, 1.0, 2)) {
    const std::vector<std::byte> q = as_type(queries, c.type);
    const std::vector<std::byte> k = as_type(keys, c.type);
    there = DeviceMemory<std::byte>(q.size() + k.size());
    there.upload(q.data(), q.size(), nullptr);
    cudaMemcpy(there.data() + q.size(), k.data(), k.size(), cudaMemcpyHostToDevice);
    const auto item = static_cast<std::ptrdiff_t>(item_size(c.type));
    view.queries = there.data();
    view.keys = there.data() + q.size();
    view.type = c.type;
    view.samples = 1;
    view.heads = c.heads;
    view.key_heads = c.key_heads;
    view.tokens = c.tokens;
    view.width = c.width;
    view.query_strides = {item * c.heads * c.tokens * c.width, item * c.tokens * c.width,
                          item * c.width};
    view.key_strides = {item * c.key_heads * c.tokens * c.width, item * c.tokens * c.width,
                        item * c.width};
    view.scale = 1.0 / std::sqrt(c.width);
    view.softcap = c.softcap;
    view.window = c.window;
    if (!c.sinks) return;
    for (int h = 0; h < c.heads; ++h) logits.push_back(1.5F * static_cast<float>(h) - 1.0F);
    logits_there = DeviceMemory<float>(logits.size());
    logits_there.upload(logits.data(), logits.size(), nullptr);
    view.sink_logits = logits_there.data();
  }

  static std::vector<double> numbers(int count, double spread, unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.0, spread);
    std::vector<double> all(static_cast<std::size_t>(count));
    for (double& each : all) each = normal(random);
    return all;
  }

  std::vector<double> queries;
  std::vector<double> keys;
  std::vector<float> logits;
  DeviceMemory<std::byte> there;
  DeviceMemory<float> logits_there;
  QueryKeyView view;
};

TEST_P(MadeMetrics, AreThoseOfTheCpuForTheSameProbabilities) {
  NEEDS_A_GPU();
  const Made made(GetParam(), 1.5);
  const auto backend = cuda::make_cuda_metrics();
  BatchOptions options = options_of();
  options.conventions.push_back(convention_options(Convention::kPublished));
  if (GetParam().sinks) options.missing_mass = MissingMass::kNode;
  for (MetricsOptions& each : options.conventions)
    each.fidelity.first_token = extra_nodes(options.missing_mass);
  EXPECT_EQ(backend->refusal(made.view, options), "");
  BatchOptions on_cpu = options;
  on_cpu.nodes = true;  // the device has no lists of nodes: the CPU gets what was made
  expect_same(backend->measure(made.view, {}, options, {}),
              backend->measure(made.view, {}, on_cpu, {}));
}

/// Scores s are sums of `width` products: float32 sums are off by at most width * 2^-24 times
/// sum |q k|, about 2 sqrt(width) times the score's own size here; an entry is then off by that,
/// and by 2^-22 for the exponential. Fidelity is a path of at most a few steps.
TEST_P(MadeMetrics, AreNearThoseOfExactSoftmax) {
  NEEDS_A_GPU();
  const MadeCase& c = GetParam();
  const Made made(c);
  const auto rounded = [&](const std::vector<double>& numbers) {
    std::vector<double> back;
    const std::vector<std::byte> bytes = as_type(numbers, c.type);
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      float single = 0.0F;
      std::uint16_t bits = 0;
      if (c.type == FloatType::kFloat32)
        std::memcpy(&single, bytes.data() + 4 * k, 4);
      else
        std::memcpy(&bits, bytes.data() + 2 * k, 2);
      back.push_back(c.type == FloatType::kFloat32    ? double{single}
                     : c.type == FloatType::kBFloat16 ? double{bfloat_to_float(bits)}
                                                      : double{half_to_float(bits)});
    }
    return back;
  };
  const std::vector<double> queries = rounded(made.queries);
  const std::vector<double> keys = rounded(made.keys);
  std::vector<double> all(static_cast<std::size_t>(c.heads) * c.tokens * c.tokens, 0.0);
  for (int h = 0; h < c.heads; ++h)
    for (int i = 0; i < c.tokens; ++i) {
      double* row = all.data() + (static_cast<std::size_t>(h) * c.tokens + i) * c.tokens;
      const double* q = queries.data() + (static_cast<std::size_t>(h) * c.tokens + i) * c.width;
      double sum = c.sinks ? std::exp(double{made.logits[static_cast<std::size_t>(h)]}) : 0.0;
      for (int j = c.window > 0 ? std::max(0, i - c.window + 1) : 0; j <= i; ++j) {
        const int key_head = h / (c.heads / c.key_heads);
        const double* k =
            keys.data() + (static_cast<std::size_t>(key_head) * c.tokens + j) * c.width;
        double score = 0.0;
        for (int d = 0; d < c.width; ++d) score += q[d] * k[d];
        score *= made.view.scale;
        if (c.softcap > 0.0) score = c.softcap * std::tanh(score / c.softcap);
        sum += row[j] = std::exp(score);
      }
      for (int j = 0; j <= i; ++j) row[j] /= sum;
    }
  BatchOptions options = options_of();
  if (c.sinks) options.missing_mass = MissingMass::kNode;
  const BatchMetrics exact = measure(attention_view(all.data(), 1, c.heads, c.tokens), {}, options);
  const BatchMetrics device = cuda::make_cuda_metrics()->measure(made.view, {}, options, {});
  const HeadsMetrics& a = device.sequences[0][0];
  const HeadsMetrics& b = exact.sequences[0][0];
  for (int h = 0; h < c.heads; ++h) {
    const auto at = static_cast<std::size_t>(h);
    EXPECT_NEAR(a.heads[at].fidelity.minimax / b.heads[at].fidelity.minimax, 1.0, 2e-5);
    EXPECT_NEAR(a.heads[at].walk.hitting.max / b.heads[at].walk.hitting.max, 1.0, 2e-5);
    EXPECT_NEAR(a.heads[at].walk.mixing[0], b.heads[at].walk.mixing[0], 1.0);
  }
  EXPECT_NEAR(a.combined.fidelity.minimax / b.combined.fidelity.minimax, 1.0, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MadeMetrics,
                         testing::Values(MadeCase{200, 2, 1, 64, FloatType::kBFloat16},
                                         MadeCase{513, 4, 2, 128, FloatType::kBFloat16},
                                         MadeCase{300, 3, 3, 80, FloatType::kFloat16},
                                         MadeCase{300, 2, 1, 33, FloatType::kFloat16},
                                         MadeCase{450, 2, 2, 256, FloatType::kBFloat16},
                                         MadeCase{270, 2, 1, 256, FloatType::kFloat32},
                                         MadeCase{520, 2, 1, 40, FloatType::kFloat32},
                                         MadeCase{600, 2, 1, 64, FloatType::kBFloat16, 0.0, 100},
                                         MadeCase{330, 2, 2, 64, FloatType::kFloat32, 5.0, 0},
                                         MadeCase{700, 1, 1, 96, FloatType::kFloat16, 2.0, 257},
                                         MadeCase{150, 1, 1, 64, FloatType::kFloat32, 0.0, 0, true},
                                         MadeCase{530, 4, 2, 64, FloatType::kBFloat16, 0.0, 128,
                                                  true}));

TEST(MadeMetrics, AreTheSameBytesWhateverRanBefore) {
  NEEDS_A_GPU();
  const Made made({900, 4, 2, 64, FloatType::kBFloat16});
  const Made other({1500, 6, 2, 64, FloatType::kBFloat16});
  const auto backend = cuda::make_cuda_metrics();
  const auto numbers = [&] {
    const BatchMetrics found = backend->measure(made.view, {}, options_of(), {});
    const HeadsMetrics& all = found.sequences[0][0];
    std::vector<double> list = {all.combined.fidelity.minimax, all.combined.walk.hitting.mean,
                                all.cross_head_share};
    for (const Metrics& head : all.heads) {
      list.push_back(head.fidelity.minimax);
      list.push_back(head.walk.hitting.mean);
      list.push_back(head.walk.truncated.mean);
    }
    return list;
  };
  const std::vector<double> first = numbers();
  backend->measure(other.view, {}, options_of(), {});
  EXPECT_EQ(numbers(), first);
}

}  // namespace
}  // namespace synergraph
