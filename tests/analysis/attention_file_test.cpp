#include "synergraph/analysis/attention_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/name_pattern.h"
#include "synergraph/analysis/stack_analysis.h"
#include "synergraph/core/error.h"
#include "synergraph/graph/attention_rounding.h"
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
    const auto reader = source.reader({});
    for (const AttentionPiece& piece : source.pieces(0, 1000)) {
      reader->open(piece);
      reader->visit([&](int, HeadSource& heads) {
        for (int h = 0; h < heads.heads(); ++h) {
          const ConstMatrixView head = heads.head(h).view();
          Matrix& copy = matrices.emplace_back(head.rows, head.cols);
          for (int i = 0; i < head.rows; ++i) std::copy_n(head.row(i), head.cols, copy.row(i));
        }
      });
    }
    return matrices;
  }
};

TEST_F(AttentionFileTest, AxesAreLayersSamplesHeads) {
  constexpr int kTokens = 4;
  const std::vector<double> values = stack(2 * 3 * 2, kTokens, 0);
  const auto source = open(write({2, 3, 2, kTokens, kTokens}, values));
  ASSERT_EQ(source->layers().size(), 2U);
  EXPECT_EQ(source->layers()[0].name, "0");
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

/// Extent k of the usual axes: layer, sample, head, query, key.
constexpr std::array<std::size_t, 5> kExtents = {2, 3, 4, 5, 5};

TEST_F(AttentionFileTest, AxesMayComeInAnyOrder) {
  const auto [layers, samples, heads, n, same] = kExtents;
  const std::vector<double> values = stack(static_cast<int>(layers * samples * heads), 5, 4);
  std::vector<Matrix> expected = all(*open(write({2, 3, 4, 5, 5}, values)));
  std::array<std::size_t, 5> order = {0, 1, 2, 3, 4};
  do {
    // Axis d of the file is axis order[d] of the usual array.
    Shape shape;
    AttentionAxes axes;
    for (const std::size_t axis : order) {
      shape.push_back(static_cast<std::int64_t>(kExtents[axis]));
      axes.push_back(static_cast<AttentionAxis>(axis));
    }
    std::vector<double> moved;
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::array<std::size_t, 5> index{};
      std::size_t rest = k;
      for (std::size_t d = 5; d-- > 0;) {
        index[order[d]] = rest % kExtents[order[d]];
        rest /= kExtents[order[d]];
      }
      std::size_t place = 0;
      for (std::size_t axis = 0; axis < 5; ++axis) place = place * kExtents[axis] + index[axis];
      moved.push_back(values[place]);
    }
    const auto source = open(write(shape, moved), {.axes = axes});
    ASSERT_EQ(source->layers().size(), layers);
    EXPECT_EQ(source->layers()[1].samples, static_cast<int>(samples));
    EXPECT_EQ(source->layers()[1].heads, static_cast<int>(heads));
    EXPECT_EQ(source->layers()[1].tokens, static_cast<int>(n));
    const std::vector<Matrix> matrices = all(*source);
    ASSERT_EQ(matrices.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j <= i; ++j)
          ASSERT_EQ(matrices[k](i, j), expected[k](i, j)) << to_string(axes) << k;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(AttentionFileTest, AxesMayBeMissing) {
  const std::string file = write({2, 3, 3}, stack(2, 3, 5));
  for (const auto& [list, layers, samples, heads] : {std::tuple{"layer,query,key", 2U, 1, 1},
                                                     {"sample,query,key", 1U, 2, 1},
                                                     {"head,query,key", 1U, 1, 2},
                                                     {"head,key,query", 1U, 1, 2}}) {
    const auto source = open(file, {.axes = parse_axes(list)});
    ASSERT_EQ(source->layers().size(), layers) << list;
    EXPECT_EQ(source->layers().back().name, std::to_string(layers - 1)) << list;
    EXPECT_EQ(source->layers().back().samples, samples) << list;
    EXPECT_EQ(source->layers().back().heads, heads) << list;
  }
  const auto refused = [&](const char* message, const char* list) {
    expect_input_error(message, [&] { open(file, {.axes = parse_axes(list)}); });
  };
  refused("shape (2, 3, 3) has 3 axes, --axes names 4", "layer,head,query,key");
  refused("shape (2, 3, 3) has 3 axes, --axes names 2", "query,key");
  refused("must be square, but it has 2 queries and 3 keys as (query, key, head)",
          "query,key,head");
  refused("must be square, but it has 3 queries and 2 keys as (key, query, head)",
          "key,query,head");
  for (const char* list : {"", "query", "key,layer", "query,key,", "query,key,row", "query,key,key",
                           "layer,query,key,layer", "query,,key", "Query,Key"})
    EXPECT_THROW(parse_axes(list), UsageError) << list;
}

TEST_F(AttentionFileTest, ItSaysHowItReadTheAxes) {
  const std::string file = write({2, 3, 3}, stack(2, 3, 5));
  const auto reading = [&](const std::string& of) {
    return spelled(open(of)->reading(), OptionSpelling::kProgram);
  };
  EXPECT_EQ(reading(file),
            "shape (2, 3, 3) read as (head, query, key) (default; change with --axes=...)");
  EXPECT_EQ(open(file, {.axes = parse_axes("layer,query,key")})->reading(),
            "shape (2, 3, 3) read as (layer, query, key)");
  const std::vector<double> values = stack(2, 3, 5);
  const std::vector<TensorData> tensors = {tensor_data("a", {2, 3, 3}, values.data()),
                                           tensor_data("b", {1, 3, 3}, values.data()),
                                           tensor_data("c", {3, 3}, values.data())};
  write_safetensors(path("a.safetensors"), tensors);
  EXPECT_EQ(reading(path("a.safetensors")),
            "2 arrays of shape (2, 3, 3) and others read as (head, query, key), shape (3, 3) read "
            "as (query, key), a layer each (default; change with --axes=...)");
  const auto layers =
      open(path("a.safetensors"), {.layers = "[ab]", .axes = parse_axes("layer,query,key")});
  ASSERT_EQ(layers->layers().size(), 3U);
  EXPECT_EQ(layers->layers()[1].name, "a/1");
  EXPECT_EQ(layers->layers()[2].name, "b/0");
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
  // A file of integers is judged like one of doubles.
  write_npy(path("bytes.npy"),
            tensor_data("", {1, 2, 2}, std::vector<std::uint8_t>{1, 0, 0, 1}.data()));
  EXPECT_NO_THROW(all(*open(path("bytes.npy"))));
  EXPECT_NO_THROW(all(*open(write({1, 2, 2}, {1.0, 0x1p-54, 0.5, 0.5}))));
  expect_input_error("row 0, column 1 is above the diagonal", [&] {
    all(*open(write({1, 2, 2}, {1.0, 0x1.1p-54, 0.5, 0.5})));
  });
  const std::string file = write({1, 2, 2}, {1.0, 0.0, 0.5, 0.5 + 1e-9});
  const auto strict = open(file);
  expect_input_error("sample 0, head 0: row 1 sums to 1.000000001", [&] { all(*strict); });
  EXPECT_NO_THROW(all(*open(file, {.row_tolerance = 1e-8})));
}

/// The nearest number of `bits` significant bits that is a multiple of `least`.
double rounded(double value, int bits, double least) {
  int exponent = 0;
  (void)std::frexp(value, &exponent);
  const double unit = std::max(std::ldexp(1.0, exponent - bits), least);
  return std::nearbyint(value / unit) * unit;
}

TEST_F(AttentionFileTest, ARoundingThatTheValuesShowIsTolerated) {
  // Attention that was computed in a shorter type than the one it is stored in.
  struct Type {
    const char* name;
    int bits;
    double least;
  };
  constexpr int kTokens = 60;
  for (const Type& type : {Type{"float32", 24, 0x1p-149}, Type{"float16", 11, 0x1p-24},
                           Type{"bfloat16", 8, 0x1p-133}}) {
    std::vector<double> values = stack(20, kTokens, 9);
    double furthest = 0.0;
    for (std::size_t row = 0; row < values.size(); row += kTokens) {
      double sum = 0.0;
      for (std::size_t j = row; j < row + kTokens; ++j)
        sum += values[j] = rounded(values[j], type.bits, type.least);
      furthest = std::max(furthest, std::abs(sum - 1.0));
    }
    EXPECT_GT(furthest, rounding_check(FloatType::kFloat64, kTokens).row_tolerance);
    const auto source = open(write({20, kTokens, kTokens}, values));
    EXPECT_NO_THROW(all(*source)) << type.name;
    if (type.bits < 24) {
      const std::vector<float> floats(values.begin(), values.end());
      write_npy(path("floats.npy"), tensor_data("", {20, kTokens, kTokens}, floats.data()));
      EXPECT_NO_THROW(all(*open(path("floats.npy")))) << type.name;
    }
    // One entry that the type does not have, and the row is judged by the stored type.
    const std::size_t last = values.size() - 1;
    values[last] += 0x1p-45;
    double sum = 0.0;
    for (std::size_t j = last + 1 - kTokens; j <= last; ++j) sum += values[j];
    if (std::abs(sum - 1.0) > 1e-12)
      expect_input_error("the most that rounding its entries to float64 explains: --row-tolerance",
                         [&] {
                           all(*open(write({20, kTokens, kTokens}, values)));
                         });
  }
}

TEST_F(AttentionFileTest, ARowIsRefusedOnEitherSideOfOneWithTheReason) {
  const auto refused = [&](double a, double b, const std::string& message) {
    const auto source = open(write({1, 2, 2}, {1.0, 0.0, a, b}));
    expect_input_error("sample 0, head 0: row 1 sums to " + message, [&] { all(*source); });
  };
  refused(0.5, 0.4,
          "0.9, expected 1 within 6.7e-16, the most that rounding its entries to float64");
  refused(0.5, 0.6,
          "1.1, expected 1 within 6.7e-16, the most that rounding its entries to float64");
  refused(0.5, 0.40625,
          "0.90625, expected 1 within 0.016, the most that rounding its entries to "
          "bfloat16 explains: --row-tolerance allows more");
  refused(0.5, 0.5 + 0x1p-20,
          "1.0000009536743164, expected 1 within 3.6e-07, the most that "
          "rounding its entries to float32");
  refused(0.5, 0.498046875 - 0x1p-11,
          "0.99755859375, expected 1 within 0.002, the most that "
          "rounding its entries to float16");
  EXPECT_NO_THROW(all(*open(write({1, 2, 2}, {1.0, 0.0, 0.5, 0.5 + 0x1p-8}))));
  EXPECT_THROW(all(*open(write({1, 2, 2}, {1.0, 0.0, 0.5, 0.5 + 0x1p-8}), {.row_tolerance = 1e-3})),
               InputError);
}

TEST_F(AttentionFileTest, NamesAreSearchedUpToALength) {
  const std::vector<double> values = stack(1, 3, 1);
  const std::string longest(256, 'a');
  write_safetensors(path("a.safetensors"),
                    std::vector{tensor_data(longest, {1, 3, 3}, values.data()),
                                tensor_data(longest + "a", {1, 3, 3}, values.data())});
  const auto chosen = choose_tensors(TensorFile::open(path("a.safetensors")), "^a");
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen.front().name(), longest);
}

TEST(NamePatternTest, FindsWhatItShould) {
  EXPECT_TRUE(NamePattern("attentions\\.[0-9]+$").matches("model.attentions.12"));
  EXPECT_FALSE(NamePattern("attentions\\.[0-9]+$").matches("model.attentions.x"));
  EXPECT_TRUE(NamePattern("^(?!.*cross).*attn").matches("layers.1.attn"));
  EXPECT_FALSE(NamePattern("^(?!.*cross).*attn").matches("layers.1.cross_attn"));
  EXPECT_TRUE(NamePattern("h\\.[0-9]{1,3}\\.").matches("h.123.attn"));
  EXPECT_TRUE(NamePattern("").matches(""));
}

TEST(NamePatternTest, NoExpressionTakesUnboundedMemoryOrTime) {
  const auto refusal = [](const std::string& expression, const std::string& name) {
    try {
      (void)NamePattern(expression).matches(name);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  const std::string name = std::string(255, 'a') + 'b';
  const auto groups = [](int depth, const std::string& inside, const std::string& after) {
    std::string text = inside;
    for (int k = 0; k < depth; ++k) text = '(' + text + ')' + after;
    return text;
  };
  for (const std::string& expression :
       {std::string("(a+)+$"), std::string("(a|aa)+$"), std::string("(.*)*c"),
        groups(20, "a", "*") + "c", groups(20, "a", "+") + "c", groups(19, "a?", "?") + "{20}c",
        std::string(199, '*').replace(0, 1, "a")})
    EXPECT_EQ(refusal(expression, name), "taken") << expression;
  std::string optional;
  while (optional.size() < 190) optional += "a?";
  EXPECT_THAT(refusal('(' + optional + "){20}c", name), testing::HasSubstr("too long"));
  std::string ahead = "c";
  for (int k = 0; k < 20; ++k) ahead = "(?=a*" + ahead + ')';
  EXPECT_THAT(refusal(ahead + 'c', name), testing::HasSubstr("too long"));
  EXPECT_THAT(refusal(groups(21, "a", ""), name), testing::HasSubstr("more than 20 deep"));
  EXPECT_THAT(refusal("(a{3,5}){5}", name), testing::HasSubstr("more than 20 together"));
  EXPECT_THAT(refusal("a{99999999999}", name), testing::HasSubstr("more than 20 together"));
  for (const std::string& expression :
       {std::string(30000, '('), std::string(201, 'a'), "(" + std::string(150, '\x1b')}) {
    const std::string message = refusal(expression, name);
    EXPECT_THAT(message, testing::HasSubstr("is not a regular expression: "));
    EXPECT_LT(message.size(), 180U);
  }
}

TEST_F(AttentionFileTest, ExtentsThatDoNotFitAreRefused) {
  // A file of zeros that takes no room on the disk.
  constexpr std::int64_t kMost = (std::int64_t{1} << 30) - 1;
  for (const std::int64_t heads : {kMost, kMost + 1}) {
    const std::string header = npy_header({"", DType::kUInt8, {heads, 1, 1}});
    write_file(path("huge.npy"), header);
    std::filesystem::resize_file(path("huge.npy"),
                                 header.size() + static_cast<std::uintmax_t>(heads));
    if (heads == kMost)
      EXPECT_EQ(open(path("huge.npy"))->layers().front().heads, kMost);
    else
      expect_input_error("(1073741824, 1, 1) is too large", [&] { open(path("huge.npy")); });
  }
}

TEST_F(AttentionFileTest, TheFirstWrongSampleIsNamedWhateverTheThreads) {
  std::vector<double> values = stack(40, 3, 2);
  values[17 * 9 + 4] = std::nan("");
  values[23 * 9 + 4] = -1.0;
  const std::string file = write({20, 2, 3, 3}, values);
  for (const int threads : {1, 2, 7}) {
    const auto source = open(file);
    expect_input_error("sample 8, head 1: entry nan in row 1, column 1 is not finite", [&] {
      analyse(*source, uniform_weights(source->layers()),
              {.conventions = {MetricsOptions{}}, .execution = {.threads = threads}});
    });
  }
}

// Samples begin .. end - 1 of every layer, whatever the layers' own numbers of samples.
TEST_F(AttentionFileTest, PiecesAreARangeOfSamples) {
  const auto source = open(write({2, 5, 2, 3, 3}, stack(20, 3, 2)));
  std::vector<std::pair<int, int>> found;
  for (const AttentionPiece& piece : source->pieces(3, 9))
    found.emplace_back(piece.layer, piece.sample);
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{0, 3}, {0, 4}, {1, 3}, {1, 4}}));
}

TEST_F(AttentionFileTest, WhatIsMissingGoesToANode) {
  constexpr int kTokens = 5;
  const std::vector<double> values = stack(6, kTokens + 1, 3);
  const std::vector<Matrix> whole = all(*open(write({3, 2, kTokens + 1, kTokens + 1}, values)));
  std::vector<double> rest;  // without the first token
  for (const Matrix& matrix : whole)
    for (int i = 1; i <= kTokens; ++i)
      for (int j = 1; j <= kTokens; ++j) rest.push_back(j <= i ? matrix(i, j) : 0.0);
  const std::string file = write({3, 2, kTokens, kTokens}, rest);
  const auto source = open(file, {.missing_mass = MissingMass::kNode});
  EXPECT_EQ(source->layers().front().tokens, kTokens);
  EXPECT_EQ(source->layers().front().nodes(), kTokens + 1);
  const std::vector<Matrix> matrices = all(*source);
  ASSERT_EQ(matrices.size(), whole.size());
  for (std::size_t k = 0; k < whole.size(); ++k)
    for (int i = 0; i <= kTokens; ++i)
      for (int j = 0; j <= i; ++j) EXPECT_NEAR(matrices[k](i, j), whole[k](i, j), 1e-15);
  EXPECT_EQ(open(file, {.range = {2, 4}, .missing_mass = MissingMass::kNode})->layers()[0].nodes(),
            3);
  const auto strict = open(file);
  expect_input_error("--row-tolerance allows more; --missing-mass node assigns the missing mass",
                     [&] { all(*strict); });

  // Everything that analyses a source sees the node.
  const Analysis analysis = analyse(*source, uniform_weights(source->layers()), {});
  EXPECT_EQ(analysis.samples[0][0].size(), 3U);
  const StackAnalysis stacked = analyse_stack(*source, uniform_weights(source->layers()), {});
  ASSERT_EQ(stacked.signal.size(), static_cast<std::size_t>(kTokens) + 1);
  const double from_node = 0.25 * (whole[0](kTokens, 0) + whole[1](kTokens, 0));
  EXPECT_NEAR(stacked.each[0].signal[0], from_node, 1e-15);
}

}  // namespace
}  // namespace synergraph
