#include <gtest/gtest.h>

#include "synergraph/core/error.h"
#include "synergraph/device/small/subset_table.h"
#include "tests/support/small_systems.h"

// The code that threads of a GPU run for subsets of heads, run by one thread of the host.

namespace synergraph::small {
namespace {

using testing_support::expect_subsets;
using testing_support::nasty_batches;
using testing_support::random_batch;
using testing_support::SmallBatch;

void expect_as_on_the_cpu(const SmallBatch& batch, std::int64_t sample,
                          const std::vector<double>& weights, const SubsetOptions& options,
                          const std::string& what) {
  HostRunner runner;
  expect_subsets(subset_values(runner, batch.view(), sample, weights, options),
                 synergraph::subset_values(batch.view(), sample, weights, options), what);
}

TEST(SmallSubsets, AreAsOnTheCpu) {
  SubsetOptions published;
  published.convention = convention_options(Convention::kPublished);
  SubsetOptions fidelity;
  fidelity.speed = false;
  SubsetOptions speed;
  speed.fidelity = false;
  for (const int heads : {1, 2, 5, 8})
    for (const int tokens : {2, 17, 100}) {
      const SmallBatch batch = random_batch(2, heads, tokens, static_cast<unsigned>(heads));
      const std::string what = std::to_string(heads) + " heads, " + std::to_string(tokens);
      expect_as_on_the_cpu(batch, 1, {}, {}, what);
      expect_as_on_the_cpu(batch, 0, {}, published, what + ", published");
      expect_as_on_the_cpu(batch, 0, {}, fidelity, what + ", fidelity");
      expect_as_on_the_cpu(batch, 0, {}, speed, what + ", speed");
    }
}

TEST(SmallSubsets, AreAsOnTheCpuForNastyInputs) {
  for (const auto& [name, batch] : nasty_batches()) expect_as_on_the_cpu(batch, 1, {}, {}, name);
}

TEST(SmallSubsets, TakeWeightsOfEverySize) {
  const SmallBatch batch = random_batch(1, 5, 30, 2);
  expect_as_on_the_cpu(batch, 0, {0.1, 0.0, 2.0, 1e-30, 5.0}, {}, "weights");
  SubsetOptions per_head;
  per_head.convention.normalization = Normalization::kPerHead;
  expect_as_on_the_cpu(batch, 0, {}, per_head, "sums of walks");
}

TEST(SmallSubsets, AreRefusedAsOnTheCpu) {
  SmallBatch batch = random_batch(2, 3, 12, 3);
  HostRunner runner;
  const auto message = [](const auto& measure_it) {
    try {
      measure_it();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto expect_same_refusal = [&](std::int64_t sample, const std::vector<double>& weights) {
    const std::string expected =
        message([&] { synergraph::subset_values(batch.view(), sample, weights); });
    EXPECT_NE(expected, "no error");
    EXPECT_EQ(message([&] { subset_values(runner, batch.view(), sample, weights, {}); }), expected);
  };
  expect_same_refusal(2, {});
  expect_same_refusal(0, {1.0});
  expect_same_refusal(0, {0.0, 0.0, 0.0});
  batch.row(0, 2, 4)[1] = -1.0;
  expect_same_refusal(0, {});
}

}  // namespace
}  // namespace synergraph::small
