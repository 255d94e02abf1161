#include "synergraph/heads/measure_streamed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/heads/sample_heads.h"
#include "synergraph/heads/streamed_operators.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;

/// Heads (heads, n, n) of which every row is made by a function and then divided by its sum.
class Heads {
 public:
  using Entry = std::function<double(int i, int j)>;

  explicit Heads(int tokens) : tokens_(tokens) {}

  Heads& add(const Entry& entry) {
    for (int i = 0; i < tokens_; ++i) {
      std::vector<double> row(static_cast<std::size_t>(tokens_), 0.0);
      double sum = 0.0;
      for (int j = 0; j <= i; ++j) sum += row[static_cast<std::size_t>(j)] = entry(i, j);
      for (double& value : row) value /= sum;
      values_.insert(values_.end(), row.begin(), row.end());
    }
    ++heads_;
    return *this;
  }
  Heads& add_random(double scale, std::uint32_t index) {
    RandomSequence draws(7, Purpose::kTest, index);
    const Matrix head = random_attention(tokens_, scale, draws);
    return add([&](int i, int j) { return head(i, j); });
  }
  AttentionView view() const { return attention_view(values_.data(), 1, heads_, tokens_); }
  int heads() const { return heads_; }
  int tokens() const { return tokens_; }
  std::vector<double>& values() { return values_; }

 private:
  int tokens_;
  int heads_ = 0;
  std::vector<double> values_;
};

/// Heads at which some rule is decided.
std::vector<std::pair<std::string, Heads::Entry>> nasty_heads(int n) {
  return {
      {"uniform", [](int, int) { return 1.0; }},
      {"previous token", [](int i, int j) { return i == 0 || j == i - 1 ? 1.0 : 0.0; }},
      {"previous token or itself", [](int i, int j) { return j >= i - 1 ? 1.0 : 0.0; }},
      {"window", [](int i, int j) { return j > i - 20 ? 1.0 + (i * j) % 7 : 0.0; }},
      {"identity", [](int i, int j) { return i == j ? 1.0 : 0.0; }},
      {"almost the identity", [](int i, int j) { return i == j ? 1.0 : 1e-9 / (1 + i); }},
      {"tokens to which nobody attends",
       [](int i, int j) { return j % 5 == 3 ? 0.0 : 1.0 + (i + 3 * j) % 4; }},
      {"tokens that keep all", [](int i, int j) { return i % 11 == 7 ? i == j : 1.0; }},
      {"the first token", [](int, int j) { return j == 0 ? 1.0 : 1e-3; }},
      {"a tail below any normal number",
       [](int i, int j) { return i - j > 3 ? 0.0 : std::pow(1e-3, i - j); }},
      {"two blocks", [n](int i, int j) { return (i < n / 2) == (j < n / 2) ? 1.0 : 1e-6; }},
      {"a sink that keeps nothing", [n](int i, int j) { return i == n - 1 && j == i ? 0.0 : 1.0; }},
  };
}

std::vector<HeadsMetrics> streamed(const Heads& heads, const std::vector<double>& weights,
                                   const std::vector<MetricsOptions>& conventions,
                                   std::size_t memory, int threads = 2,
                                   MissingMass missing = MissingMass::kError) {
  const auto rows = view_rows(heads.view(), {}, {0, 0, heads.tokens()}, {}, missing);
  return measure_streamed(
      *rows, weights,
      {.conventions = conventions, .execution = {.threads = threads, .memory = memory}});
}

std::vector<HeadsMetrics> in_memory(const Heads& heads, const std::vector<double>& weights,
                                    const std::vector<MetricsOptions>& conventions,
                                    MissingMass missing = MissingMass::kError) {
  SampleHeads source(heads.heads(), heads.tokens() + extra_nodes(missing));
  source.start(head_reader(heads.view(), {0, 0, heads.tokens()}, {}, missing));
  return measure(source, weights, {.conventions = conventions});
}

/// Sums of up to n non-negative products, in another order.
constexpr double kRounding = 1e-12;

void expect_near(double got, double wanted, const std::string& what, double tolerance = kRounding) {
  if (std::isinf(wanted) || std::isnan(wanted)) {
    EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted)))
        << what << ": " << got << " instead of " << wanted;
    return;
  }
  EXPECT_LE(std::abs(got - wanted), tolerance * std::abs(wanted))
      << what << ": " << got << " instead of " << wanted;
}

/// Whether all mixing times are known.
bool expect_equal_walks(const Metrics& got, const Metrics& wanted, const std::string& what) {
  expect_near(got.forward_probability, wanted.forward_probability, what + " forward probability");
  expect_near(got.walk.hitting.mean, wanted.walk.hitting.mean, what + " mean hitting time");
  expect_near(got.walk.hitting.max, wanted.walk.hitting.max, what + " largest hitting time");
  expect_near(got.walk.truncated.mean, wanted.walk.truncated.mean, what + " truncated mean");
  expect_near(got.walk.truncated.max, wanted.walk.truncated.max, what + " truncated max");
  EXPECT_EQ(got.walk.mixing.size(), wanted.walk.mixing.size());
  bool all = true;
  for (std::size_t k = 0; k < got.walk.mixing.size(); ++k) {
    const double time = wanted.walk.mixing[k];
    if (!std::isnan(got.walk.mixing[k])) {
      EXPECT_EQ(got.walk.mixing[k], time) << what;
      continue;
    }
    all = false;
    EXPECT_GT(time, 400.0) << what;
    EXPECT_LE(got.walk.mixing_least.at(k), time) << what;
    EXPECT_GE(got.walk.mixing_most.at(k), time) << what;
  }
  return all;
}

/// Whether the minimax is certified.
bool expect_equal_fidelities(const Fidelity& got, const Fidelity& wanted, bool fixed,
                             const std::string& what) {
  if (!got.certified && !fixed) {
    EXPECT_LE(got.minimax, wanted.minimax * (1.0 + kRounding)) << what;
    EXPECT_GE(got.minimax_upper, wanted.minimax * (1.0 - kRounding)) << what;
    return false;
  }
  EXPECT_TRUE(fixed || wanted.certified) << what;
  expect_near(got.minimax, wanted.minimax, what + " minimax fidelity");
  expect_near(got.minimax_upper, wanted.minimax_upper, what + " its upper end");
  EXPECT_EQ(got.minimax_node, wanted.minimax_node) << what;
  EXPECT_EQ(got.minimax_time, wanted.minimax_time) << what;
  return true;
}

/// `known_times`: whether the mixing times of all conventions so far are known.
void expect_equal(const HeadsMetrics& got, const HeadsMetrics& wanted, bool fixed,
                  bool& known_times, const std::string& name) {
  ASSERT_EQ(got.heads.size(), wanted.heads.size());
  bool times = true;
  bool fidelities = true;
  for (std::size_t h = 0; h < got.heads.size(); ++h) {
    const std::string what = name + ", head " + std::to_string(h);
    times = expect_equal_walks(got.heads[h], wanted.heads[h], what) && times;
    fidelities =
        expect_equal_fidelities(got.heads[h].fidelity, wanted.heads[h].fidelity, fixed, what) &&
        fidelities;
  }
  times = expect_equal_walks(got.combined, wanted.combined, name + " together") && times;
  fidelities = expect_equal_fidelities(got.combined.fidelity, wanted.combined.fidelity, fixed,
                                       name + " together") &&
               fidelities;
  expect_near(got.effective_forward_probability, wanted.effective_forward_probability, name);
  expect_near(got.adaptive.steps, wanted.adaptive.steps, name);
  known_times = known_times && times;
  if (!std::isnan(got.mixing_synergy) || known_times)
    expect_near(got.mixing_synergy, wanted.mixing_synergy, name + " mixing synergy");
  if (!fidelities) return;
  EXPECT_EQ(got.synergy.best_head, wanted.synergy.best_head) << name;
  expect_near(got.synergy.value, wanted.synergy.value, name + " synergy");
  expect_near(got.cross_head_share, wanted.cross_head_share, name + " cross-head share", 1e-10);
}

std::vector<MetricsOptions> all_conventions() {
  std::vector<MetricsOptions> all = {convention_options(Convention::kExact),
                                     convention_options(Convention::kExact),
                                     convention_options(Convention::kPublished)};
  for (MetricsOptions& each : all) each.walk.eps = {0.25, 0.9, 1e-3, 1e-290};
  all[1].normalization = Normalization::kPerHead;
  return all;
}

constexpr std::size_t kMuch = std::size_t{1} << 30U;

void expect_as_in_memory(const Heads& heads, const std::vector<double>& weights,
                         const std::string& name, MissingMass missing = MissingMass::kError) {
  const std::vector<MetricsOptions> conventions = all_conventions();
  const auto wanted = in_memory(heads, weights, conventions, missing);
  const auto got = streamed(heads, weights, conventions, kMuch, 2, missing);
  bool known_times = true;
  for (std::size_t c = 0; c < conventions.size(); ++c)
    expect_equal(got[c], wanted[c], conventions[c].fidelity.horizon > 0, known_times,
                 name + ", convention " + std::to_string(c));
}

TEST(MeasureStreamed, GivesTheNumbersOfNastyHeadsAsMeasuringInMemoryDoes) {
  for (const int n : {2, 3, 17, 129, 200})
    for (const auto& [name, entry] : nasty_heads(n))
      expect_as_in_memory(Heads(n).add(entry), {1.0}, name + " of " + std::to_string(n));
}

TEST(MeasureStreamed, GivesTheNumbersOfCombinationsAsMeasuringInMemoryDoes) {
  for (const int n : {3, 40, 150}) {
    Heads heads(n);
    for (std::uint32_t k = 0; k < 4; ++k) heads.add_random(0.5 + k, k);
    expect_as_in_memory(heads, {0.1, 0.4, 0.3, 0.2}, "random heads of " + std::to_string(n));
    const auto nasty = nasty_heads(n);
    for (std::size_t k = 0; k + 1 < nasty.size(); ++k)
      expect_as_in_memory(
          Heads(n).add(nasty[k].second).add_random(1.0, 9).add(nasty[k + 1].second),
          {0.25, 0.25, 0.5},
          nasty[k].first + " and " + nasty[k + 1].first + " of " + std::to_string(n));
  }
}

TEST(MeasureStreamed, TakesMissingMassPaddingAndLittleMemory) {
  Heads heads(150);
  for (std::uint32_t k = 0; k < 3; ++k) heads.add_random(1.5, k);
  const std::vector<double> weights = {0.2, 0.3, 0.5};
  const std::vector<MetricsOptions> conventions = all_conventions();
  // Memory for the states of one flow at a time: other blocks, which round otherwise.
  const std::size_t little = std::size_t{600} << 10U;
  const auto wanted = in_memory(heads, weights, conventions);
  const auto one = streamed(heads, weights, conventions, little, 1);
  const auto three = streamed(heads, weights, conventions, little, 3);
  bool known_times = true;
  for (std::size_t c = 0; c < conventions.size(); ++c) {
    expect_equal(one[c], wanted[c], conventions[c].fidelity.horizon > 0, known_times, "little");
    // The same bytes for any number of threads.
    EXPECT_EQ(one[c].combined.walk.hitting.mean, three[c].combined.walk.hitting.mean);
    EXPECT_EQ(one[c].combined.walk.truncated.mean, three[c].combined.walk.truncated.mean);
    EXPECT_EQ(one[c].combined.fidelity.minimax, three[c].combined.fidelity.minimax);
    EXPECT_EQ(one[c].cross_head_share, three[c].cross_head_share);
    EXPECT_EQ(one[c].synergy.value, three[c].synergy.value);
  }
  EXPECT_THAT([&] { streamed(heads, weights, conventions, 1000); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("need at least 2 MiB")));
  for (std::size_t k = 0; k < heads.values().size(); ++k)
    heads.values()[k] *= 0.5 + 0.4 * std::sin(static_cast<double>(k / 150));
  expect_as_in_memory(heads, weights, "missing mass", MissingMass::kNode);
}

TEST(MeasureStreamed, MakesProbabilitiesAgainFromQueriesAndKeys) {
  constexpr int kTokens = 90;
  constexpr int kWidth = 8;
  RandomSequence draws(3, Purpose::kTest, 0);
  std::vector<float> queries(2 * kTokens * kWidth);
  std::vector<float> keys(kTokens * kWidth);
  for (auto* list : {&queries, &keys})
    for (float& value : *list) value = static_cast<float>(draws.normal());
  QueryKeyView scores{queries.data(), keys.data(), FloatType::kFloat32, 1, 2, 1, kTokens, kWidth};
  scores.query_strides = {2 * kTokens * kWidth * 4, kTokens * kWidth * 4, kWidth * 4};
  scores.key_strides = {kTokens * kWidth * 4, kTokens * kWidth * 4, kWidth * 4};
  scores.scale = 0.8;
  scores.softcap = 5.0;
  scores.window = 30;
  Heads heads(kTokens);
  std::vector<double> head(kTokens * kTokens);
  for (int h = 0; h < 2; ++h) {
    read_probabilities(scores, 0, h, head.data());
    heads.add([&](int i, int j) { return head[static_cast<std::size_t>(i * kTokens + j)]; });
  }
  const std::vector<double> weights = {0.5, 0.5};
  const std::vector<MetricsOptions> conventions = all_conventions();
  const auto wanted = in_memory(heads, weights, conventions);
  const auto rows = view_rows(attention_view(nullptr, FloatType::kFloat64, 1, 2, kTokens), scores,
                              {0, 0, kTokens});
  const auto got = measure_streamed(*rows, weights, {.conventions = conventions});
  bool known_times = true;
  for (std::size_t c = 0; c < conventions.size(); ++c)
    expect_equal(got[c], wanted[c], conventions[c].fidelity.horizon > 0, known_times, "scores");
}

TEST(MeasureStreamed, RefusesWhatReadingInMemoryRefuses) {
  Heads heads(60);
  heads.add_random(1.0, 1).add_random(1.0, 2);
  const std::vector<double> weights = {0.5, 0.5};
  const auto message = [&](const auto& measure_them) {
    try {
      measure_them();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const double entry : {-0.25, 3.0, std::nan("")}) {
    Heads bad = heads;
    bad.values()[60 * 60 + 40 * 60 + 7] = entry;
    const std::string wanted = message([&] { in_memory(bad, weights, all_conventions()); });
    EXPECT_THAT(wanted, ::testing::HasSubstr("head 1"));
    EXPECT_EQ(message([&] { streamed(bad, weights, all_conventions(), kMuch); }), wanted);
  }
}

TEST(MeasureStreamed, RefusesBackwardNumbers) {
  Heads heads(60);
  heads.add_random(1.0, 1);
  MetricsOptions options = convention_options(Convention::kExact);
  options.backward = true;
  EXPECT_THROW(streamed(heads, {1.0}, {options}, kMuch), InputError);
}

}  // namespace
}  // namespace synergraph
