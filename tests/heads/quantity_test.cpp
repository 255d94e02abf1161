#include "synergraph/heads/quantity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "synergraph/heads/measure.h"

namespace synergraph {
namespace {

const std::vector<double> kEps = {0.25, 0.1, 1e-5};

TEST(QuantityTest, KeysAreDifferentAndComeBack) {
  std::set<std::string> keys;
  for (const Quantity& quantity : layer_quantities(kEps)) {
    const std::string key = key_of(quantity);
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_EQ(parse_quantity(key), quantity) << key;
  }
  EXPECT_TRUE(keys.contains("truncated_hitting_mean"));
  EXPECT_TRUE(keys.contains("mixing_time_1e-05"));
  for (const char* key : {"", "synergy_", "mixing_time_", "mixing_time_0.1x", "mixing_time"})
    EXPECT_FALSE(parse_quantity(key)) << key;
}

TEST(QuantityTest, SystemsAndLayersHaveTheirOwn) {
  const std::vector<Quantity> all = layer_quantities(kEps);
  const std::vector<Quantity> of_system = system_quantities(kEps);
  EXPECT_EQ(of_system.size() + 5, all.size());
  EXPECT_TRUE(std::equal(of_system.begin(), of_system.end(), all.begin()));
  EXPECT_FALSE(Quantity(Quantity::kSynergy).of_system());
  EXPECT_TRUE(Quantity::mixing_time(0.1).is_time());
  EXPECT_FALSE(Quantity(Quantity::kMinimaxFidelity).is_time());
}

// The first worked example: all heads together mix in 10 steps and hit in 4 on average.
TEST(QuantityTest, ValuesAreThoseThatWereMeasured) {
  MetricsOptions options;
  options.normalization = Normalization::kPerHead;
  const HeadsMetrics metrics =
      measure_heads(heads_of_graph(worked_example(1)), {0.5, 0.5}, options);
  const std::vector<double>& eps = options.walk.eps;
  EXPECT_EQ(value_of(Quantity::mixing_time(eps.front()), metrics, eps), 10.0);
  EXPECT_EQ(value_of(Quantity::kHittingMean, metrics, eps), 4.0);
  EXPECT_EQ(value_of(Quantity::kHittingMean, metrics.heads[0], eps),
            metrics.heads[0].walk.hitting.mean);
  EXPECT_EQ(value_of(Quantity::kSynergy, metrics, eps), metrics.synergy.value);
  EXPECT_EQ(value_of(Quantity::kMinimaxTime, metrics, eps), 3.0);
  EXPECT_TRUE(std::isnan(value_of(Quantity::mixing_time(0.125), metrics, eps)));
  for (const Quantity& quantity : system_quantities(eps))  // nothing was measured
    EXPECT_EQ(std::isnan(value_of(quantity, Metrics(), eps)), quantity < Quantity::kMinimaxFidelity)
        << key_of(quantity);
}

}  // namespace
}  // namespace synergraph
