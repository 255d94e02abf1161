#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/chain/mixing.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/diffusion/fidelity.h"
#include "tests/support/random_inputs.h"
#include "tests/train/repeated_batch.h"

namespace synergraph {
namespace {

/// What `compute` gives with the kernels of every instruction set of this CPU, the best last.
template <class Compute>
auto with_each(const Compute& compute) {
  const Kernels* before = &kernels();
  std::vector<decltype(compute())> results;
  for (const Kernels* each : supported_kernels()) {
    chosen_kernels = each;
    results.push_back(compute());
    EXPECT_EQ(compute(), results.back()) << "twice the same with " << instruction_set();
  }
  chosen_kernels = before;
  return results;
}

TEST(InstructionSets, MeasureTheSameToRounding) {
  for (const double sharpness : {0.0, 1.0, 4.0}) {
    for (const int nodes : {5, 64, 131}) {
      RandomSequence draws(31, Purpose::kTest, static_cast<std::uint32_t>(nodes));
      const Matrix attention = testing_support::random_attention(nodes, sharpness, draws);
      const auto results = with_each([&] {
        const Walk walk = walk_of_attention(attention);
        const Walk published = published_walk(attention);
        std::vector<double> numbers = hitting_times(walk).node;
        const auto append = [&](const std::vector<double>& more) {
          numbers.insert(numbers.end(), more.begin(), more.end());
        };
        append(truncated_hitting_times(walk, 100).node);
        append(truncated_hitting_times(published, 100).node);
        append({mixing_time(walk, 0.25), mixing_time(walk, 1e-6)});
        append(fidelity(attention, {.every_node = true}).node);
        append(fidelity(attention, {.horizon = 100}).node);
        return numbers;
      });
      for (const auto& result : results)
        for (std::size_t k = 0; k < result.size(); ++k)
          ASSERT_NEAR(result[k], results.back()[k], 1e-12 * std::abs(result[k])) << nodes;
    }
  }
}

TEST(InstructionSets, TrainTheSameToRounding) {
  // Widths and lengths that are not whole registers.
  const ModelConfig config{
      .vocabulary = 11, .length = 21, .width = 12, .heads = 3, .layers = 2, .hidden = 20};
  Sequences inputs{30, config.length, {}};
  RandomSequence draws(32, Purpose::kTest);
  for (int k = 0; k < inputs.count * inputs.length; ++k)
    inputs.tokens.push_back(static_cast<std::int32_t>(draws.below(11)));
  const auto results = with_each([&] {
    TrainingState state(config);
    initialise(state.model, 4);
    RepeatedBatch fleet({.model = config, .adam = {}, .dropout = 0.2}, state, 9, inputs, inputs, 2);
    std::vector<double> losses;
    for (int k = 0; k < 8; ++k) losses.push_back(fleet.step().loss);
    fleet.save(state);
    const AlignedVector<float>& values = state.model.values();
    losses.insert(losses.end(), values.begin(), values.end());
    return losses;
  });
  // Adam divides by gradients that rounding may turn: parameters move by 1e-3 a step.
  for (const auto& result : results)
    for (std::size_t k = 0; k < result.size(); ++k)
      ASSERT_NEAR(result[k], results.back()[k], k < 8 ? 1e-5 : 2e-4) << k;
}

}  // namespace
}  // namespace synergraph
