#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synergraph/analysis/head_values.h"
#include "synergraph/report/heads_facts.h"
#include "tests/heads/memory_source.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing::ElementsAre;
using testing_support::MemorySource;
using testing_support::random_attention;

constexpr int kTokens = 10;

MemorySource source_of(int samples, const std::function<std::vector<Head>()>& draw) {
  MemorySource::Systems systems(1);
  for (int s = 0; s < samples; ++s) systems.front().push_back(draw());
  return MemorySource(std::move(systems));
}

Head random_head(RandomSequence& draws, double sharpness = 1.5) {
  return head_of_attention("", random_attention(kTokens, sharpness, draws));
}

/// All attention of a row on one key.
Head pointing(const std::function<int(int)>& key) {
  Matrix attention(kTokens, kTokens);
  for (int i = 0; i < kTokens; ++i) attention(i, key(i)) = 1.0;
  return head_of_attention("", std::move(attention));
}

HeadValues measured(MemorySource& source, int weight_samples = 0) {
  HeadValueOptions options;
  options.values = {HeadValue::kFidelity};
  options.weight_samples = weight_samples;
  return value_heads(source, uniform_weights(source.layers()), options);
}

int claims_in(const ValueFacts& facts) {
  int count = 0;
  for (const HeldOutClaim* claim : {facts.redundant, facts.complementary, facts.better_without,
                                    facts.better_set, facts.other_weights})
    count += claim != nullptr ? 1 : 0;
  return count;
}

// Weights of a row are exchangeable here, so each excess over permuted rows has a random sign on
// the samples that judge, and by the union bound a report claims something with a chance of at most
// kFalseClaims: of 100 reports, which these seeds fix, at most 5 are expected to.
TEST(HeldOut, ClaimsNothingOfHeadsWithoutStructure) {
  int with_claims = 0;
  for (std::uint32_t index = 0; index < 100; ++index) {
    RandomSequence draws(31, Purpose::kTest, index);
    MemorySource source = source_of(40, [&] {
      std::vector<Head> heads;
      for (int h = 0; h < 4; ++h) heads.push_back(random_head(draws));
      return heads;
    });
    const HeadValues head_values = measured(source);
    with_claims += claims_in(value_facts(head_values, 0).front()) > 0 ? 1 : 0;
  }
  EXPECT_LE(with_claims, 5);
}

TEST(HeldOut, ClaimsThatEqualHeadsAreRedundant) {
  RandomSequence draws(32, Purpose::kTest);
  MemorySource source = source_of(60, [&] {
    std::vector<Head> heads = {random_head(draws), random_head(draws), random_head(draws)};
    heads.push_back(heads[1]);
    return heads;
  });
  const HeadValues head_values = measured(source);
  const ValueFacts facts = value_facts(head_values, 0).front();
  ASSERT_NE(facts.redundant, nullptr);
  EXPECT_THAT(facts.redundant->heads, ElementsAre(1, 3));
  EXPECT_LT(facts.redundant->size, 0.0);
  EXPECT_EQ(facts.complementary, nullptr);
}

// One head moves every token to the middle, another the middle to the sink: alone neither connects
// a source with the sink.
TEST(HeldOut, ClaimsThatHeadsThatOnlyTogetherConnectAreComplementary) {
  RandomSequence draws(33, Purpose::kTest);
  constexpr int kMiddle = kTokens / 2;
  MemorySource source = source_of(60, [&] {
    // Row i listens to its predecessor: in the first half by head 0, in the second by head 2.
    return std::vector<Head>{pointing([](int i) { return i > 0 && i <= kMiddle ? i - 1 : i; }),
                             random_head(draws, 6.0),
                             pointing([](int i) { return i > kMiddle ? i - 1 : i; })};
  });
  const HeadValues head_values = measured(source);
  const ValueFacts facts = value_facts(head_values, 0).front();
  ASSERT_NE(facts.complementary, nullptr);
  EXPECT_THAT(facts.complementary->heads, ElementsAre(0, 2));
  EXPECT_GT(facts.complementary->size, 0.0);
}

TEST(HeldOut, SaysNothingOfOneSampleOrWithoutANull) {
  RandomSequence draws(34, Purpose::kTest);
  const auto draw = [&] { return std::vector<Head>{random_head(draws), random_head(draws)}; };
  MemorySource one = source_of(1, draw);
  EXPECT_FALSE(measured(one).layer_values[0].values[0].held_out);
  MemorySource two = source_of(2, draw);
  EXPECT_EQ(measured(two).layer_values[0].values[0].held_out->samples, 2);
  HeadValueOptions options;
  options.null_samples = 0;
  options.weight_samples = 0;
  EXPECT_FALSE(
      value_heads(two, uniform_weights(two.layers()), options).layer_values[0].values[0].held_out);
}

// What other weights gain is judged on samples that did not choose them.
TEST(HeldOut, JudgesWeightsOnOtherSamples) {
  RandomSequence draws(35, Purpose::kTest);
  const auto draw = [&] {
    return std::vector<Head>{pointing([](int i) { return std::max(0, i - 1); }),
                             pointing([](int i) { return i; }), random_head(draws)};
  };
  for (const int samples : {30, 90}) {
    MemorySource source = source_of(samples, draw);
    const HeadValues head_values = measured(source, 20);
    const auto& claim = head_values.layer_values[0].values[0].held_out->other_weights;
    ASSERT_TRUE(claim) << samples;
    EXPECT_GT(claim->size, 0.01);
    if (samples == 90) {
      EXPECT_NE(value_facts(head_values, 0).front().other_weights, nullptr);
    }
  }
}

// A sample that has several sinks is one sample: the mean over its sinks.
TEST(HeldOut, SinksOfASampleAreOneSample) {
  RandomSequence draws(36, Purpose::kTest);
  const auto draw = [&] { return std::vector<Head>{random_head(draws), random_head(draws)}; };
  MemorySource::Systems systems(1);
  for (int s = 0; s < 6; ++s) {
    systems[0].push_back(draw());
    systems[0].push_back(systems[0].back());
  }
  class TwoSinks : public MemorySource {
   public:
    explicit TwoSinks(Systems systems_of) : MemorySource(std::move(systems_of)) {
      layers_[0].sinks = 2;
    }
  };
  MemorySource::Systems single(1);
  for (std::size_t s = 0; s < systems[0].size(); s += 2) single[0].push_back(systems[0][s]);
  TwoSinks twice(std::move(systems));
  MemorySource once(std::move(single));
  const ValueOfHeads of_two = measured(twice).layer_values[0].values[0];
  const ValueOfHeads of_one = measured(once).layer_values[0].values[0];
  EXPECT_NEAR(of_two.all.mean, of_one.all.mean, 1e-15);
  EXPECT_NEAR(of_two.all.error, of_one.all.error, 1e-15);
  EXPECT_NEAR(of_two.heads[1].shapley.error, of_one.heads[1].shapley.error, 1e-15);
  EXPECT_EQ(of_two.held_out->samples, 6);
}

}  // namespace
}  // namespace synergraph
