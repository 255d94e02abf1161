#include "synergraph/study/attention_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "tests/io/expect_error.h"
#include "tests/io/temporary_directory.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention;

/// Random attention of shape (count, n, n), as a file stores it.
std::vector<double> stack(int count, int n, std::uint32_t index) {
  RandomSequence draws(77, Purpose::kTest, index);
  std::vector<double> values;
  for (int k = 0; k < count; ++k) {
    const Matrix attention = random_attention(n, 2.0, draws);
    for (int i = 0; i < n; ++i) values.insert(values.end(), attention.row(i), attention.row(i) + n);
  }
  return values;
}

class AttentionFileTest : public InTemporaryDirectory {
 protected:
  std::string write(const Shape& shape, const std::vector<double>& values) const {
    write_npy(path("attention.npy"), tensor_data("", shape, values.data()));
    return path("attention.npy");
  }
  static std::unique_ptr<AttentionSource> open(const std::string& path,
                                               const AttentionFileOptions& options = {}) {
    return open_attention_file(TensorFile::open(path), options);
  }
  /// Every matrix of a source, in order of layer, sample and head.
  static std::vector<Matrix> all(AttentionSource& source) {
    std::vector<Matrix> matrices;
    source.for_each(1, [&](int, int, int, SampleHeads& heads) {
      for (int h = 0; h < heads.heads(); ++h) matrices.push_back(heads.head(h));
    });
    return matrices;
  }
};

TEST_F(AttentionFileTest, AxesAreLayersSamplesHeads) {
  constexpr int kTokens = 4;
  const std::vector<double> values = stack(2 * 3 * 2, kTokens, 0);
  const auto source = open(write({2, 3, 2, kTokens, kTokens}, values));
  ASSERT_EQ(source->layers().size(), 2U);
  EXPECT_EQ(source->layers()[1].name, "1");
  EXPECT_EQ(source->layers()[1].samples, 3);
  EXPECT_EQ(source->layers()[1].heads, 2);
  EXPECT_EQ(source->layers()[1].tokens, kTokens);
  const std::vector<Matrix> matrices = all(*source);
  ASSERT_EQ(matrices.size(), 12U);
  for (std::size_t k = 0; k < 12; ++k) {
    for (int i = 0; i < kTokens; ++i) {
      for (int j = 0; j <= i; ++j) {
        EXPECT_NEAR(matrices[k](i, j),
                    values[(k * kTokens + static_cast<std::size_t>(i)) * kTokens +
                           static_cast<std::size_t>(j)],
                    1e-15);
        EXPECT_EQ(matrices[k](j, i), matrices[k](i, j));  // mirrored
      }
    }
  }
  EXPECT_EQ(open(write({12, kTokens, kTokens}, values))->layers().front().heads, 12);
  EXPECT_EQ(open(write({3, 4, kTokens, kTokens}, values))->layers().front().samples, 3);
}

TEST_F(AttentionFileTest, ArchivesAreLayersInNaturalOrder) {
  const std::vector<double> values = stack(1, 3, 1);
  std::vector<TensorData> tensors;
  for (const char* name : {"layer10", "layer2", "mask"})
    tensors.push_back(tensor_data(name, {1, 3, 3}, values.data()));
  const std::string file = path("layers.safetensors");
  write_safetensors(file, tensors);
  const auto source = open(file, {.layers = "^layer"});
  ASSERT_EQ(source->layers().size(), 2U);
  EXPECT_EQ(source->layers()[0].name, "layer2");
  EXPECT_EQ(source->layers()[1].name, "layer10");
  EXPECT_THROW(open(file, {.layers = "^block"}), InputError);
  EXPECT_THROW(open(file, {.layers = "layer["}), UsageError);
}

TEST(NaturalOrderTest, ComparesRunsOfDigitsAsNumbers) {
  EXPECT_TRUE(natural_less("layer2", "layer10"));
  EXPECT_FALSE(natural_less("layer10", "layer2"));
  EXPECT_TRUE(natural_less("a.2.b", "a.10.a"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_TRUE(natural_less("a007", "a8"));
  EXPECT_NE(natural_less("a01", "a1"), natural_less("a1", "a01"));
  EXPECT_FALSE(natural_less("x", "x"));
}

TEST_F(AttentionFileTest, ARangeIsCutOutAndRenormalised) {
  // Two leading tokens of padding that still receive attention.
  const std::vector<double> values = {1.0, 0.0, 0.0,  0.0,  //
                                      0.5, 0.5, 0.0,  0.0,  //
                                      0.5, 0.0, 0.5,  0.0,  //
                                      0.2, 0.2, 0.15, 0.45};
  const std::string file = write({1, 4, 4}, values);
  const auto source = open(file, {.range = {2, 4}});
  EXPECT_EQ(source->layers().front().tokens, 2);
  const Matrix cut = all(*source).front();
  EXPECT_EQ(cut(0, 0), 1.0);
  EXPECT_NEAR(cut(1, 0), 0.25, 1e-15);
  EXPECT_NEAR(cut(1, 1), 0.75, 1e-15);
  const auto prefix = open(file, {.range = {0, 3}});
  EXPECT_EQ(all(*prefix).front()(2, 2), 0.5);
  EXPECT_THROW(open(file, {.range = {2, 5}}), InputError);
  EXPECT_THROW(open(file, {.range = {3, 3}}), InputError);
}

TEST_F(AttentionFileTest, ARowWithoutMassInTheRangeIsRefused) {
  const std::string file = write({1, 2, 2}, {1.0, 0.0, 1.0, 0.0});
  const auto source = open(file, {.range = {1, 2}});
  expect_input_error("sample 0, head 0: row 1 gives nothing to the keys from 1 on",
                     [&] { all(*source); });
}

TEST_F(AttentionFileTest, RoundingIsToleratedAndNothingMore) {
  // Softmax rows rounded to each type pass; a row that lost more than rounding does not.
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
    const double unit = dtype == DType::kFloat16    ? 0x1p-11
                        : dtype == DType::kBFloat16 ? 0x1p-8
                        : dtype == DType::kFloat32  ? 0x1p-24
                                                    : 0x1p-53;
    const AttentionCheck check = rounding_check(dtype, 128);
    EXPECT_GE(check.row_tolerance, 2.0 * unit);
    EXPECT_LE(check.row_tolerance, 150.0 * unit);
    EXPECT_LT(check.causal_tolerance, unit);
  }
  const std::string file = write({1, 2, 2}, {1.0, 0.0, 0.5, 0.5 + 1e-9});
  const auto strict = open(file);
  expect_input_error("sample 0, head 0: row 1 sums to 1.000000001", [&] { all(*strict); });
  EXPECT_NO_THROW(all(*open(file, {.row_tolerance = 1e-8})));
}

TEST_F(AttentionFileTest, TheFirstWrongSampleIsNamedWhateverTheThreads) {
  std::vector<double> values = stack(40, 3, 2);
  values[17 * 9 + 4] = std::nan("");
  values[23 * 9 + 4] = -1.0;
  const std::string file = write({20, 2, 3, 3}, values);
  for (const int threads : {1, 2, 7}) {
    const auto source = open(file);
    expect_input_error("sample 8, head 1: entry nan in row 1, column 1 is not finite",
                       [&] { source->for_each(threads, [](int, int, int, SampleHeads&) {}); });
  }
}

}  // namespace
}  // namespace synergraph
