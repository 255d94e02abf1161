#pragma once

// Systems of few tokens that are hard to measure, and what a device must give for them.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "synergraph/core/random.h"
#include "synergraph/heads/measure_systems.h"
#include "synergraph/subsets/subset_values.h"

namespace synergraph::testing_support {

/// Attention [samples][heads][tokens][tokens].
struct SmallBatch {
  int samples = 1;
  int heads = 1;
  int tokens = 1;
  std::vector<double> data;

  SmallBatch(int samples_, int heads_, int tokens_)
      : samples(samples_), heads(heads_), tokens(tokens_) {
    data.assign(static_cast<std::size_t>(samples) * static_cast<std::size_t>(heads) *
                    static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens),
                0.0);
  }
  double* row(int sample, int head, int i) {
    return data.data() +
           ((static_cast<std::ptrdiff_t>(sample) * heads + head) * tokens + i) * tokens;
  }
  /// Sets rows to weight(sample, head, i, j), divided by their sums.
  template <class Weight>
  SmallBatch& fill(Weight weight) {
    for (int s = 0; s < samples; ++s)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < tokens; ++i) {
          double sum = 0.0;
          for (int j = 0; j <= i; ++j) sum += row(s, h, i)[j] = weight(s, h, i, j);
          for (int j = 0; j <= i; ++j) row(s, h, i)[j] /= sum;
        }
    return *this;
  }
  AttentionView view() const { return attention_view(data.data(), samples, heads, tokens); }
};

/// Softmax rows of normal logits, from nearly uniform to nearly one-hot.
inline SmallBatch random_batch(int samples, int heads, int tokens, std::uint32_t seed,
                               double sharpness = 2.0) {
  RandomSequence draws(77, Purpose::kTest, seed);
  return SmallBatch(samples, heads, tokens).fill([&](int, int h, int, int) {
    return std::exp(sharpness * (1.0 + h) / heads * draws.normal());
  });
}

struct NamedBatch {
  std::string name;
  SmallBatch batch;
};

/// Inputs at which a careless engine goes wrong.
inline std::vector<NamedBatch> nasty_batches() {
  std::vector<NamedBatch> all;
  const auto add = [&](const char* name, int heads, int tokens, auto weight) {
    all.push_back({name, SmallBatch(2, heads, tokens).fill(weight)});
  };
  RandomSequence draws(78, Purpose::kTest, 0);
  const auto random = [&] { return std::exp(draws.normal()); };
  add("the identity", 2, 9, [](int, int, int i, int j) { return i == j ? 1.0 : 0.0; });
  add("nearly the identity", 2, 40,
      [&](int, int, int i, int j) { return i == j ? 1.0 : 1e-9 * random(); });
  add("slow heads", 3, 33, [&](int, int, int i, int j) { return i == j ? 1.0 : 2e-3 * random(); });
  add("self-loops near one in some rows", 2, 50,
      [&](int, int, int i, int j) { return i == j && i % 7 == 3 ? 1e13 : random(); });
  add("the previous token", 2, 20,
      [](int, int, int i, int j) { return j == i - 1 || i + j == 0 ? 1.0 : 0.0; });
  add("the first token", 2, 20, [](int, int, int, int j) { return j == 0 ? 1.0 : 0.0; });
  add("uniform rows", 4, 64, [](int, int, int, int) { return 1.0; });
  add("copies of one head", 4, 31,
      [](int, int, int i, int j) { return 1.0 + (i * 7 + j * 5) % 11; });
  add("ties of quarters", 1, 3,
      [](int, int, int i, int j) { return i == 2 ? (j == 1 ? 2.0 : 1.0) : 1.0 + j; });
  add("two tokens", 2, 2, [&](int, int, int, int) { return random(); });
  add("one token", 2, 1, [](int, int, int, int) { return 1.0; });
  add("columns of nothing", 2, 24,
      [&](int, int, int, int j) { return j % 5 == 2 ? 0.0 : random(); });
  add("weights next to nothing", 2, 24,
      [&](int, int, int i, int j) { return j == 3 && i > 3 ? 1e-310 : random(); });
  add("a first token that few rows see", 2, 24,
      [&](int, int, int i, int j) { return j == 0 && i > 1 ? 0.0 : random(); });
  add("steep decay", 2, 128, [](int, int, int i, int j) { return std::exp(-3.0 * (i - j)); });
  add("steep growth", 2, 128, [](int, int, int i, int j) { return std::exp(0.5 * (i - j)); });
  return all;
}

inline constexpr double kSmallTolerance = 1e-12;

inline void expect_close(double found, double expected, const std::string& what,
                         double tolerance = kSmallTolerance) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(found)) << what << ": " << found;
  else if (std::isinf(expected))
    EXPECT_EQ(found, expected) << what;
  else
    EXPECT_NEAR(found, expected, tolerance * std::abs(expected)) << what;
}

inline void expect_metrics(const Metrics& found, const Metrics& expected, const std::string& what) {
  expect_close(found.forward_probability, expected.forward_probability, what + ": p");
  expect_close(found.bound.steps, expected.bound.steps, what + ": bound");
  expect_close(found.bound.valid_from, expected.bound.valid_from, what + ": valid from");
  expect_close(found.walk.hitting.mean, expected.walk.hitting.mean, what + ": hitting mean");
  expect_close(found.walk.hitting.max, expected.walk.hitting.max, what + ": hitting max");
  expect_close(found.walk.truncated.mean, expected.walk.truncated.mean, what + ": truncated mean");
  expect_close(found.walk.truncated.max, expected.walk.truncated.max, what + ": truncated max");
  EXPECT_EQ(found.walk.mixing, expected.walk.mixing) << what << ": T_mix";
  expect_close(found.fidelity.minimax, expected.fidelity.minimax, what + ": minimax");
  expect_close(found.fidelity.minimax_upper, expected.fidelity.minimax_upper, what + ": upper");
  EXPECT_EQ(found.fidelity.minimax_node, expected.fidelity.minimax_node) << what;
  EXPECT_EQ(found.fidelity.minimax_time, expected.fidelity.minimax_time) << what;
  EXPECT_EQ(found.fidelity.certified, expected.fidelity.certified) << what;
  EXPECT_TRUE(found.fidelity.node.empty()) << what;
}

inline void expect_system(const HeadsMetrics& found, const HeadsMetrics& expected,
                          const std::string& what) {
  expect_metrics(found.combined, expected.combined, what + ", combined");
  ASSERT_EQ(found.heads.size(), expected.heads.size()) << what;
  for (std::size_t h = 0; h < found.heads.size(); ++h)
    expect_metrics(found.heads[h], expected.heads[h], what + ", head " + std::to_string(h));
  expect_close(found.effective_forward_probability, expected.effective_forward_probability,
               what + ": effective p");
  expect_close(found.effective_bound.steps, expected.effective_bound.steps, what + ": bound");
  expect_close(found.adaptive.steps, expected.adaptive.steps, what + ": adaptive");
  expect_close(found.mixing_synergy, expected.mixing_synergy, what + ": mixing synergy");
  EXPECT_EQ(found.synergy.best_head, expected.synergy.best_head) << what;
  EXPECT_EQ(found.synergy.present(), expected.synergy.present()) << what;
  expect_close(found.synergy.value, expected.synergy.value, what + ": synergy");
  // A share 1 - x may be small.
  if (std::isnan(expected.cross_head_share))
    EXPECT_TRUE(std::isnan(found.cross_head_share)) << what;
  else
    EXPECT_NEAR(found.cross_head_share, expected.cross_head_share, kSmallTolerance) << what;
}

inline void expect_batch(const BatchMetrics& found, const BatchMetrics& expected,
                         const std::string& what) {
  ASSERT_EQ(found.sequences.size(), expected.sequences.size()) << what;
  for (std::size_t c = 0; c < found.sequences.size(); ++c) {
    ASSERT_EQ(found.sequences[c].size(), expected.sequences[c].size()) << what;
    for (std::size_t k = 0; k < found.sequences[c].size(); ++k)
      expect_system(found.sequences[c][k], expected.sequences[c][k],
                    what + ", convention " + std::to_string(c) + ", sequence " + std::to_string(k));
  }
}

inline void expect_subsets(const SubsetValues& found, const SubsetValues& expected,
                           const std::string& what) {
  EXPECT_EQ(found.heads, expected.heads) << what;
  EXPECT_EQ(found.uncertified, expected.uncertified) << what;
  ASSERT_EQ(found.fidelity.size(), expected.fidelity.size()) << what;
  ASSERT_EQ(found.speed.size(), expected.speed.size()) << what;
  for (std::size_t s = 0; s < found.fidelity.size(); ++s)
    expect_close(found.fidelity[s], expected.fidelity[s],
                 what + ", fidelity of subset " + std::to_string(s));
  // 1 - mean / cutoff may be small.
  for (std::size_t s = 0; s < found.speed.size(); ++s)
    EXPECT_NEAR(found.speed[s], expected.speed[s], kSmallTolerance)
        << what << ", speed of subset " << s;
}

}  // namespace synergraph::testing_support
