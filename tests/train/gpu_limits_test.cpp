// What a GPU takes, as far as it is known without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "synergraph/train/cuda/fleet_memory.h"
#include "synergraph/train/cuda/packing.h"

namespace synergraph::cuda {
namespace {

TEST(GpuLimits, RefusalsSayWhatIsWrongInOneLine) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({.width = 32}), "");
  EXPECT_EQ(refusal({.width = 68}), "width 68, more than 64");
  EXPECT_EQ(refusal({.hidden = 1}), "");
  EXPECT_EQ(refusal({.hidden = 129}), "hidden 129, more than 128");
  EXPECT_EQ(refusal({.length = 104}), "");
  EXPECT_EQ(refusal({.length = 105}), "length 105, more than 104");
  EXPECT_EQ(refusal({.heads = 32}),
            "32 heads of width 2, more than the 16 for which there is room");
  EXPECT_EQ(refusal({.width = 48, .heads = 4}), "");
  EXPECT_EQ(refusal({.width = 60, .heads = 5}),
            "5 heads of width 12, more than the 4 for which there is room");
  EXPECT_EQ(refusal({.layers = 32768}), "");
  EXPECT_EQ(refusal({.layers = 32769}), "32769 layers, more than 32768");
  EXPECT_EQ(refusal({.vocabulary = 1 << 22}), "");
  EXPECT_EQ(refusal({.vocabulary = (1 << 22) + 1}), "vocabulary 4194305, more than 4194304");
}

// Whatever its sizes, each number of a model has a place of its own, and heads do not share slots.
TEST(GpuLimits, EveryParameterHasAPlaceOfItsOwn) {
  for (const ModelConfig& config :
       {ModelConfig{}, ModelConfig{.heads = 16, .layers = 1}, ModelConfig{.width = 48, .heads = 3},
        ModelConfig{.vocabulary = 70, .length = 9, .width = 36, .heads = 3, .hidden = 7},
        ModelConfig{.width = 3, .heads = 3, .hidden = 1}, ModelConfig{.width = 63, .heads = 1}}) {
    ASSERT_EQ(refusal(config), "");
    const Layout layout = layout_of(config);
    std::vector<std::int32_t> places = packed_places(config);
    EXPECT_EQ(places.size(), ParameterLayout(config).size());
    std::sort(places.begin(), places.end());
    EXPECT_EQ(std::adjacent_find(places.begin(), places.end()), places.end());
    EXPECT_GE(places.front(), 0);
    EXPECT_LT(places.back(), layout.size());
    EXPECT_LE(config.heads, slots_of(config));
    EXPECT_LE(config.width / config.heads, kWidth / slots_of(config));
  }
}

TEST(GpuLimits, TheLargestModelsAreCountedInInts) {
  const ModelConfig config{.vocabulary = kMostTokens, .heads = 16, .layers = kMostLayers};
  const Layout layout{config.layers, config.length, config.vocabulary};
  const double units = (4.0 * 64 + 2 * 128) * 64 + 9 * 64;  // of a layer: matrices, biases, gains
  EXPECT_NEAR(layout.size(), config.layers * units + (2.0 * kMostTokens + 100) * 64 + kMostTokens,
              1e6);
  EXPECT_GT((Saved{config.layers, config.heads}.size()), 0);
  EXPECT_GT(layout.partial_size(), 0);
}

TEST(GpuLimits, AModelNeedsMemoryForItsNumbersItsDataAndItsBatch) {
  FleetSettings settings;
  const std::uint64_t paper = model_bytes(settings, 0);
  EXPECT_EQ(model_bytes(settings, 5000) - paper, 5000U * 100 * 2 * 4);
  settings.batch = 100;
  const std::uint64_t batch = model_bytes(settings, 0) - paper;
  EXPECT_EQ(batch, 50 * PlaceSizes(settings.model).bytes());
  // A sequence: eight arrays of 104 x 64 a layer, its part of the gradient, masks.
  const double sequence = 4.0 * (4 * 8 * 104 * 64 + 150000) + 4 * 20000;
  EXPECT_NEAR(static_cast<double>(batch) / 50, sequence, 0.1 * sequence);
  // Six copies of 172,800 numbers; the output's rows are padded to a multiple of 64 tokens.
  EXPECT_EQ(paper - batch, 6U * 172800 * 4);
}

TEST(GpuLimits, AsManyModelsAsFitLeaveSomeMemory) {
  const FleetSettings settings;
  const std::uint64_t one = model_bytes(settings, 5000);
  int last = 0;
  for (std::uint64_t free = 0; free < std::uint64_t{9} << 30U; free += std::uint64_t{50} << 20U) {
    const int count = models_in(free, settings, 5000);
    EXPECT_GE(count, last);
    const std::uint64_t left = free - static_cast<std::uint64_t>(count) * one;
    if (count > 0) {
      EXPECT_GE(left, (std::uint64_t{256} << 20U) + free / 16);
      EXPECT_LT(left, (std::uint64_t{257} << 20U) + free / 16 + one);
    }
    EXPECT_EQ(memory_refusal(free, settings, 5000).empty(), count > 0);
    last = count;
  }
  EXPECT_GT(last, 64);
  EXPECT_EQ(models_in(std::numeric_limits<std::uint64_t>::max(), {}, 0),
            std::numeric_limits<int>::max());
}

TEST(GpuLimits, TooLittleMemoryIsSaidWithNumbers) {
  FleetSettings settings;
  settings.batch = 1000000;
  const std::uint64_t need = (model_bytes(settings, 0) + (1U << 20U) - 1) >> 20U;
  EXPECT_EQ(memory_refusal(std::uint64_t{80} << 30U, settings, 0),
            "too little memory: a model needs " + std::to_string(need) +
                " MiB, 81920 MiB are free, of which 76544 can be used");
}

}  // namespace
}  // namespace synergraph::cuda
