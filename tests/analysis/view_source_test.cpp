#include "synergraph/heads/view_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/heads/quantity.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using ViewSourceFileTest = InTemporaryDirectory;

constexpr int kSamples = 4;
constexpr int kHeads = 3;
constexpr int kTokens = 12;

/// Random attention (samples, heads, tokens, tokens).
std::vector<double> random_values(std::uint32_t index) {
  RandomSequence draws(8, Purpose::kTest, index);
  std::vector<double> values;
  for (int k = 0; k < kSamples * kHeads; ++k) {
    const Matrix attention = testing_support::random_attention(kTokens, 2.0, draws);
    for (int i = 0; i < kTokens; ++i)
      values.insert(values.end(), attention.row(i), attention.row(i) + kTokens);
  }
  return values;
}

double combined(const HeadsMetrics& metrics, const Quantity& quantity) {
  return value_of(quantity, metrics, {0.25});
}

// The sequences of every layer are those that measure() gives for its view, bit for bit.
TEST(ViewSourceTest, EqualsMeasuringEachView) {
  const std::vector<std::vector<double>> values = {random_values(0), random_values(1)};
  const std::vector<TokenSpan> sequences = {{0, 2, 12}, {1, 0, 7}, {1, 0, 12}, {3, 4, 9}};
  ViewSource source;
  BatchOptions options;
  options.sequences = sequences;
  std::vector<BatchMetrics> expected;
  for (std::size_t l = 0; l < 2; ++l) {
    const AttentionView view = attention_view(values[l].data(), kSamples, kHeads, kTokens);
    expected.push_back(measure(view, {}, options));
    source.add(l == 0 ? "a" : "b", view);
  }
  source.choose(sequences);
  EXPECT_EQ(source.layers()[1].samples, 4);
  EXPECT_EQ(source.layers()[1].tokens, 12);
  EXPECT_FALSE(source.layers()[1].same_length);
  const Analysis analysis = analyse(source, uniform_weights(source.layers()), {});
  for (std::size_t l = 0; l < 2; ++l)
    for (std::size_t s = 0; s < sequences.size(); ++s)
      for (const Quantity& quantity :
           {Quantity(Quantity::kMinimaxFidelity), Quantity(Quantity::kHittingMean),
            Quantity(Quantity::kSynergy)})
        EXPECT_EQ(combined(analysis.samples[0][l][s], quantity),
                  combined(expected[l].sequences[0][s], quantity));
}

TEST(ViewSourceTest, RefusesWhatItDoesNotHave) {
  const std::vector<double> values = random_values(2);
  const AttentionView view = attention_view(values.data(), kSamples, kHeads, kTokens);
  ViewSource source;
  source.add("1", view);
  EXPECT_THROW(source.choose({{4, 0, 1}}), InputError);
  EXPECT_THROW(source.choose({{0, 3, 3}}), InputError);
  EXPECT_THROW(source.choose({{0, 0, 13}}), InputError);
  EXPECT_TRUE(source.sequences().empty());
  source.choose({{3, 0, 12}});
  EXPECT_THROW(source.add("2", attention_view(values.data(), 3, kHeads, kTokens)), InputError);
  EXPECT_THROW(source.add("2", attention_view(values.data(), 0, kHeads, kTokens)), InputError);
  EXPECT_EQ(source.layers().size(), 1U);
  EXPECT_THROW(ViewSource(-1.0), InputError);
}

// Heads that are fetched one by one give the same numbers as the array that they come from.
TEST(ViewSourceTest, FetchesHeads) {
  const std::vector<double> values = random_values(5);
  const AttentionView view = attention_view(values.data(), kSamples, kHeads, kTokens);
  const std::vector<TokenSpan> sequences = {{3, 2, 12}, {1, 0, 7}};
  ViewSource source;
  source.choose(sequences);
  source.add("all", view);
  source.add("each", attention_view(static_cast<double*>(nullptr), kSamples, kHeads, kTokens),
             [&](std::int64_t sample, std::int64_t head, void* into) {
               constexpr std::ptrdiff_t kSize = kTokens * kTokens;
               std::copy_n(values.data() + (sample * kHeads + head) * kSize, kSize,
                           static_cast<double*>(into));
             });
  const Analysis analysis = analyse(source, uniform_weights(source.layers()), {});
  for (std::size_t s = 0; s < sequences.size(); ++s)
    EXPECT_EQ(combined(analysis.samples[0][1][s], Quantity::kMinimaxFidelity),
              combined(analysis.samples[0][0][s], Quantity::kMinimaxFidelity));
  source.add("gone", view, [](auto...) { throw InputError("gone"); });
  EXPECT_THROW(analyse(source, uniform_weights(source.layers()), {}), InputError);
}

// A stack needs every token in every sample.
TEST(ViewSourceTest, SequencesOfSeveralLengthsAreNoStack) {
  const std::vector<double> values = random_values(3);
  ViewSource source;
  source.add("1", attention_view(values.data(), kSamples, kHeads, kTokens));
  source.choose({{0, 0, 12}, {1, 0, 11}});
  EXPECT_THROW(analyse_stack(source, uniform_weights(source.layers()), {}), InputError);
  source.choose({{0, 0, 11}, {1, 1, 12}});
  EXPECT_EQ(analyse_stack(source, uniform_weights(source.layers()), {}).samples, 2);
}

// Errors name the layer where there are several.
TEST(ViewSourceTest, NamesTheLayer) {
  std::vector<double> values = random_values(4);
  ViewSource source;
  source.add("good", attention_view(values.data(), 1, kHeads, kTokens));
  const std::vector<double> bad(std::size_t{kTokens} * kTokens, 0.5);
  source.add("bad", attention_view(bad.data(), 1, 1, kTokens));
  try {
    (void)analyse(source, uniform_weights(source.layers()), {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("layer bad, sample 0, head 0"));
  }
}

// Workers that share the samples measure each once; a layer may have fewer of them.
TEST_F(ViewSourceFileTest, IsMeasuredInRanges) {
  const std::vector<double> values = random_values(7);
  ViewSource source(0.5, MissingMass::kNode);
  source.add("a", attention_view(values.data(), kSamples, kHeads, kTokens));
  source.add("b", attention_view(values.data(), 2, kHeads, kTokens));
  const LayerWeights weights = uniform_weights(source.layers());
  SharedSamples how;
  how.directory = path("shared");
  how.settings = "a test";
  how.least_cost = 1e-30;
  std::optional<Analysis> analysis;
  EXPECT_EQ(
      analyse_shared(source, weights, {}, how, [&](Analysis all) { analysis = std::move(all); }),
      SharedEnd::kMerged);
  ASSERT_TRUE(analysis);
  const Analysis expected = analyse(source, weights, {});
  for (std::size_t l = 0; l < 2; ++l) {
    ASSERT_EQ(analysis->samples[0][l].size(), l == 0 ? 4U : 2U);
    for (std::size_t s = 0; s < analysis->samples[0][l].size(); ++s)
      EXPECT_EQ(combined(analysis->samples[0][l][s], Quantity::kMinimaxFidelity),
                combined(expected.samples[0][l][s], Quantity::kMinimaxFidelity));
  }
}

// What is wrong with weights and conventions is found before anything is read, as InputError.
TEST(ViewSourceTest, IsCheckedBeforeItIsRead) {
  ViewSource source;
  source.add("a", attention_view(static_cast<float*>(nullptr), kSamples, kHeads, kTokens),
             [](auto...) { ADD_FAILURE() << "it was read"; });
  const auto refused = [&](const char* message, const LayerWeights& weights, double eps) {
    AnalysisOptions options;
    options.conventions.front().walk.eps = {eps};
    if (eps == 0.75) options.conventions.clear();
    try {
      (void)analyse(source, weights, options);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  };
  refused("weights of 0 layers, for 1", {}, 0.25);
  refused("layer a: 2 weights for 3 heads", {{1, 1}}, 0.25);
  refused("layer a: all head weights are zero", {{0, 0, 0}}, 0.25);
  refused("eps -1 is not in (0, 1]", {{1, 1, 1}}, -1.0);
  refused("no convention to measure by", {{1, 1, 1}}, 0.75);
  EXPECT_THROW(ViewSource({}, static_cast<MissingMass>(5)), InputError);
}

}  // namespace
}  // namespace synergraph
