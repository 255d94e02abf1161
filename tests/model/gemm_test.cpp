#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/random.h"

namespace synergraph {
namespace {

AlignedVector<float> random_values(std::size_t count, std::uint32_t stream) {
  RandomSequence draws(11, Purpose::kTest, stream);
  AlignedVector<float> values(count);
  for (float& value : values) value = static_cast<float>(draws.uniform() - 0.5);
  return values;
}

struct Case {
  int rows;
  int cols;
  int depth;
};

class GemmTest : public testing::TestWithParam<bool> {};

// Every number of rows meets every kind of tile; columns meet each panel width and its remainder.
TEST_P(GemmTest, AgreesWithTheDefinition) {
  const bool transposed = GetParam();
  for (int rows = 1; rows <= 40; ++rows) {
    for (const int cols : {3, 4, 8, 12, 16, 24, 40, 64, 72, 104}) {
      const int depth = 1 + (rows * 7 + cols) % 19;
      const int stride = (cols + 15) / 16 * 16;
      const int a_stride = (transposed ? rows : depth) + 3;
      const auto a =
          random_values(static_cast<std::size_t>(a_stride * (transposed ? depth : rows)), 1);
      const auto b = random_values(static_cast<std::size_t>(stride * depth), 2);
      const auto source = random_values(static_cast<std::size_t>(stride * rows), 3);
      const auto bias = random_values(static_cast<std::size_t>(rows), 4);
      for (const int variant : {0, 1, 2, 3}) {
        AlignedVector<float> c(static_cast<std::size_t>(stride * rows), 7.0F);
        kernels().multiply({.rows = rows,
                            .cols = cols,
                            .depth = depth,
                            .a = a.data(),
                            .a_stride = a_stride,
                            .a_transposed = transposed,
                            .b = b.data(),
                            .b_stride = stride,
                            .c = c.data(),
                            .c_stride = stride,
                            .source = variant % 2 == 1 ? source.data() : nullptr,
                            .bias = variant >= 1 ? bias.data() : nullptr,
                            .relu = variant >= 2});
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < cols; ++j) {
            double expected = variant >= 1 ? bias[static_cast<std::size_t>(i)] : 0.0F;
            if (variant % 2 == 1) expected += source[static_cast<std::size_t>(i * stride + j)];
            for (int k = 0; k < depth; ++k)
              expected += static_cast<double>(a[static_cast<std::size_t>(
                              transposed ? k * a_stride + i : i * a_stride + k)]) *
                          b[static_cast<std::size_t>(k * stride + j)];
            if (variant >= 2) expected = std::max(expected, 0.0);
            ASSERT_NEAR(c[static_cast<std::size_t>(i * stride + j)], expected, 1e-5)
                << rows << "x" << cols << "x" << depth << " at " << i << "," << j;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(BothForms, GemmTest, testing::Bool());

TEST(Transpose, MovesEveryEntry) {
  for (const auto& [rows, cols] : {std::pair{1, 1}, {8, 8}, {7, 19}, {24, 9}, {100, 64}}) {
    const int source_stride = cols + 2;
    const int target_stride = rows + 5;
    const auto source = random_values(static_cast<std::size_t>(rows * source_stride), 5);
    AlignedVector<float> target(static_cast<std::size_t>(cols * target_stride), 3.0F);
    kernels().transpose(rows, cols, source.data(), source_stride, target.data(), target_stride);
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < target_stride; ++i)
        ASSERT_EQ(target[static_cast<std::size_t>(j * target_stride + i)],
                  i < rows ? source[static_cast<std::size_t>(i * source_stride + j)] : 3.0F);
    }
  }
}

// Of two logits, 0 and t, the gradient of the second is its probability: e^t, almost.
TEST(CrossEntropy, ExponentialsAreAccurateToTheLastPlaces) {
  const SequenceShape shape(8, 1);
  for (int k = 0; k < 10000; ++k) {
    AlignedVector<float> logits(static_cast<std::size_t>(2 * shape.stride), 0.0F);
    for (int p = 0; p < 8; ++p)
      logits[static_cast<std::size_t>(shape.stride + p)] =
          -0.001F * static_cast<float>(8 * k + p + 1);
    const AlignedVector<float> given = logits;
    const std::vector<std::int32_t> targets(8, 0);
    const SequenceLoss loss =
        kernels().cross_entropy(shape, 2, targets.data(), 1.0F, logits.data());
    ASSERT_EQ(loss.correct, 8);
    double expected_loss = 0.0;
    for (int p = 0; p < 8; ++p) {
      const auto at = static_cast<std::size_t>(shape.stride + p);
      const double term = std::exp(static_cast<double>(given[at]));
      expected_loss += std::log1p(term);
      // The argument is rounded to float on its way to a power of two.
      const double tolerance = 3e-7 + 1.2e-7 * std::abs(static_cast<double>(given[at]));
      ASSERT_NEAR(logits[at] * (1.0 + term) / term, 1.0, tolerance) << given[at];
    }
    ASSERT_NEAR(loss.loss, expected_loss, 1e-5 * expected_loss);
  }
}

}  // namespace
}  // namespace synergraph
