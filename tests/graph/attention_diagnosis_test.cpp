#include "synergraph/graph/attention_diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/random.h"
#include "synergraph/graph/attention.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing_support::random_attention;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

AttentionLikeness likeness(const Matrix& matrix, int begin = 0, int end = -1) {
  return diagnose_attention([&](int i) { return matrix.row(i); }, begin,
                            end < 0 ? matrix.rows() : end)
      .likeness;
}

/// What a refusal says of the matrix, in its own words.
std::string refusal(Matrix matrix) {
  try {
    normalise_attention(matrix.view());
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

Matrix causal(int n, std::uint32_t index = 0, double spread = 2.0) {
  RandomSequence draws(31, Purpose::kTest, index);
  return random_attention(n, spread, draws);
}

/// Scores whose softmax is causal attention; the mask stands above the diagonal.
Matrix scores(int n, double mask, std::uint32_t index = 0) {
  RandomSequence draws(32, Purpose::kTest, index);
  Matrix matrix(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix(i, j) = j <= i ? 4.0 * draws.uniform() - 2.0 : mask;
  return matrix;
}

/// Rows that sum to one over all tokens, as an encoder's.
Matrix encoder(int n) {
  RandomSequence draws(33, Purpose::kTest, 0);
  Matrix matrix(n, n);
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int j = 0; j < n; ++j) sum += matrix(i, j) = 0.1 + draws.uniform();
    for (int j = 0; j < n; ++j) matrix(i, j) /= sum;
  }
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  Matrix other(matrix.cols(), matrix.rows());
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j) other(j, i) = matrix(i, j);
  return other;
}

Matrix dropped(Matrix matrix, double p, std::uint32_t index) {
  RandomSequence draws(34, Purpose::kTest, index);
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j <= i; ++j)
      matrix(i, j) = draws.uniform() < p ? 0.0 : matrix(i, j) / (1.0 - p);
  return matrix;
}

/// Attention of n - padding tokens after padding on the left, whose rows hold `filling`.
Matrix padded_left(int n, int padding, double filling) {
  const Matrix inner = causal(n - padding);
  Matrix matrix(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      matrix(i, j) = i < padding ? filling : j >= padding ? inner(i - padding, j - padding) : 0.0;
  return matrix;
}

/// The same numbers in `bits` significant bits: 8 are bfloat16's, 11 float16's, 24 float32's.
Matrix rounded(Matrix matrix, int bits) {
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j) {
      if (!std::isfinite(matrix(i, j)) || matrix(i, j) == 0.0) continue;
      int exponent = 0;
      (void)std::frexp(matrix(i, j), &exponent);
      const double unit = std::ldexp(1.0, exponent - bits);
      matrix(i, j) = std::nearbyint(matrix(i, j) / unit) * unit;
    }
  return matrix;
}

class DiagnosisTest : public testing::TestWithParam<int> {};

TEST_P(DiagnosisTest, ScoresAreToldWithAndWithoutTheirMask) {
  for (const int n : {2, 3, 8, 40})
    for (const double mask : {-kInfinity, -1e4, -65504.0, -1e9, -3.4028234663852886e38, 0.0, 0.7})
      if (mask <= -1e4 || n > 3) {  // few entries without a mask prove nothing
        EXPECT_EQ(likeness(rounded(scores(n, mask), GetParam())),
                  mask <= -1e4 ? AttentionLikeness::kMaskedScores : AttentionLikeness::kScores)
            << n << ' ' << mask;
      }
  EXPECT_THAT(
      refusal(rounded(scores(8, -kInfinity), GetParam())),
      testing::AllOf(HasSubstr(". These look like attention scores. Apply softmax over the keys"),
                     testing::AnyOf(HasSubstr("is not finite"), HasSubstr("is negative"))));
  EXPECT_THAT(refusal(rounded(scores(8, 0.0), GetParam())),
              HasSubstr(". These look like attention scores. Apply the causal mask, then softmax "
                        "over the keys"));
}

TEST_P(DiagnosisTest, LogarithmsOfProbabilitiesAreScores) {
  Matrix logarithms = causal(9);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) logarithms(i, j) = std::log(logarithms(i, j));
  EXPECT_EQ(likeness(rounded(logarithms, GetParam())), AttentionLikeness::kMaskedScores);
}

TEST_P(DiagnosisTest, ColumnsThatSumToOneAreSwappedAxes) {
  for (const int n : {2, 3, 30}) {
    const Matrix swapped = rounded(transposed(causal(n)), GetParam());
    EXPECT_EQ(likeness(swapped), AttentionLikeness::kTransposed) << n;
    EXPECT_THAT(refusal(swapped), HasSubstr("where causal attention is 0. Its columns sum to 1 "
                                            "instead of its rows, so query and key are swapped: "
                                            "give --axes with key before query"));
  }
}

TEST_P(DiagnosisTest, RowsThatSumToOneWithLaterTokensAreAnEncoders) {
  for (const int n : {2, 3, 30}) {
    const Matrix rows = rounded(encoder(n), GetParam());
    EXPECT_EQ(likeness(rows), AttentionLikeness::kNotCausal) << n;
    EXPECT_THAT(refusal(rows), HasSubstr("as in an encoder. Only causal attention"));
    if (n == 2) continue;
    EXPECT_EQ(likeness(transposed(rows)), AttentionLikeness::kNotCausalTransposed) << n;
  }
  EXPECT_THAT(refusal(transposed(encoder(5))),
              HasSubstr("above the diagonal in both orders of the axes"));
}

TEST_P(DiagnosisTest, RowsThatSeeAllOrNothingAtAnEndArePadding) {
  for (const double filling : {1.0 / 9.0, 0.0, std::nan("")}) {
    const Matrix left = rounded(padded_left(9, 3, filling), GetParam());
    EXPECT_EQ(likeness(left), AttentionLikeness::kPaddedLeft) << filling;
    EXPECT_THAT(refusal(left),
                HasSubstr("The first 3 tokens look like padding. Pass the number of real "
                          "tokens per sample, such as --lengths 5,8 --padding left"));
  }
  EXPECT_THAT(refusal(padded_left(5, 1, 0.2)), HasSubstr("The first token looks like padding"));
  for (const double filling : {0.0, std::nan("")}) {
    Matrix right = causal(7);
    for (int i = 5; i < 7; ++i)
      for (int j = 0; j < 7; ++j) right(i, j) = filling;
    EXPECT_EQ(likeness(rounded(right, GetParam())), AttentionLikeness::kPaddedRight) << filling;
    EXPECT_THAT(refusal(right),
                testing::EndsWith("The last 2 tokens look like padding. Pass the number of real "
                                  "tokens per sample, such as --lengths 5,8"));
  }
}

// A mask that adds -10000 leaves the tokens of padding something to attend to: themselves and all
// that come after the padding.
TEST_P(DiagnosisTest, PaddingThatAttendsAheadIsPadding) {
  for (std::uint32_t index = 0; index < 20; ++index) {
    Matrix left = padded_left(9, 3, 0.0);
    RandomSequence draws(35, Purpose::kTest, index);
    for (int i = 0; i < 3; ++i) {
      double sum = 0.0;
      for (int j = 0; j < 9; ++j)
        sum += left(i, j) = j <= i || j >= 3 ? std::exp(4.0 * draws.uniform()) : 0.0;
      for (int j = 0; j < 9; ++j) left(i, j) /= sum;
    }
    EXPECT_EQ(likeness(rounded(left, GetParam())), AttentionLikeness::kPaddedLeft) << index;
    EXPECT_THAT(refusal(left), HasSubstr("The first 3 tokens look like padding"));
    left(6, 1) = 0.2;  // attends to padding
    EXPECT_NE(likeness(left), AttentionLikeness::kPaddedLeft) << index;
  }
}

// Of a short text some entries, or none, are dropped; the first row may be one of them.
TEST_P(DiagnosisTest, DropoutOnShortTextsIsDropout) {
  for (const int n : {4, 6, 12})
    for (const double p : {0.1, 0.2}) {
      int unknown = 0;
      for (std::uint32_t index = 0; index < 100; ++index) {
        const Matrix matrix = rounded(dropped(causal(n, index), p, index), GetParam());
        const std::string text = refusal(matrix);
        EXPECT_THAT(text, testing::Not(HasSubstr("padding")));
        unknown += likeness(matrix) != AttentionLikeness::kDropout ? 1 : 0;
      }
      EXPECT_LE(unknown, 2) << n << ' ' << p;
    }
}

TEST_P(DiagnosisTest, ZerosAndSumsOnBothSidesOfOneAreDropout) {
  for (const double p : {0.1, 0.5})
    for (std::uint32_t index = 0; index < 5; ++index) {
      const Matrix matrix = rounded(dropped(causal(20, index), p, index), GetParam());
      EXPECT_EQ(likeness(matrix), AttentionLikeness::kDropout) << p << ' ' << index;
      EXPECT_THAT(refusal(matrix), testing::AllOf(HasSubstr("call model.eval() before"),
                                                  testing::Not(HasSubstr("row-tolerance"))));
    }
}

INSTANTIATE_TEST_SUITE_P(Types, DiagnosisTest, testing::Values(8, 11, 24, 53));

TEST(AttentionDiagnosis, OneBadEntryIsNoMore) {
  for (const int n : {2, 3, 4, 7, 20})
    for (const double bad : {-0.25, std::nan(""), kInfinity, -kInfinity, 0.4, 1.7, 40.0})
      for (const int column : {0, n - 1})
        for (const int row : {n / 2, n - 1}) {
          Matrix matrix = causal(n);
          matrix(row, column) = bad;
          EXPECT_EQ(likeness(matrix), AttentionLikeness::kUnknown)
              << n << ' ' << bad << ' ' << row << ' ' << column;
        }
}

TEST(AttentionDiagnosis, OtherMatricesAreNotTakenForOne) {
  // Mass that a learned sink took: every row sums to less than one.
  Matrix sunk = causal(12);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j <= i; ++j) sunk(i, j) *= 0.8;
  EXPECT_EQ(likeness(sunk), AttentionLikeness::kUnknown);
  // With zeros, as a window leaves them.
  for (int i = 3; i < 12; ++i) sunk(i, 0) = 0.0;
  EXPECT_EQ(likeness(sunk), AttentionLikeness::kUnknown);
  // The sum or a percentage instead of a share.
  for (const double factor : {4.0, 100.0}) {
    Matrix scaled = causal(12);
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j <= i; ++j) scaled(i, j) *= factor;
    EXPECT_EQ(likeness(scaled), AttentionLikeness::kUnknown) << factor;
  }
  // The same of attention in a window: zeros take nothing from the sums.
  for (const double factor : {1.0 / 0.9, 2.0}) {
    Matrix window(12, 12);
    for (int i = 0; i < 12; ++i)
      for (int j = std::max(0, i - 2); j <= i; ++j) window(i, j) = factor / std::min(i + 1, 3);
    EXPECT_EQ(likeness(window), AttentionLikeness::kUnknown) << factor;
    window(7, 6) += 0.4;
    EXPECT_EQ(likeness(window), AttentionLikeness::kUnknown) << factor;
  }
  // Masked after softmax: softmax would not mend that.
  Matrix masked = causal(12);
  for (int i = 0; i < 12; ++i)
    for (int j = i + 1; j < 12; ++j) masked(i, j) = -kInfinity;
  EXPECT_EQ(likeness(masked), AttentionLikeness::kUnknown);
  // One row that looks ahead.
  Matrix ahead = causal(12);
  for (int j = 0; j < 12; ++j) ahead(4, j) = 1.0 / 12.0;
  EXPECT_EQ(likeness(ahead), AttentionLikeness::kUnknown);
  // A row without mass in the middle, or before tokens that attend to it.
  Matrix hole = causal(12);
  for (int j = 0; j < 12; ++j) hole(6, j) = 0.0;
  EXPECT_EQ(likeness(hole), AttentionLikeness::kUnknown);
  EXPECT_EQ(likeness(Matrix(1, 1)), AttentionLikeness::kUnknown);
  EXPECT_EQ(advice_on({}, {}), "");
}

// A tolerance of up to 1 can be given, and does not help beyond.
TEST(AttentionDiagnosis, ToleranceIsToldWhereItHelps) {
  for (const double factor : {0.5, 1.5, 1.99, 2.5, 4.0, 100.0}) {
    Matrix scaled = causal(12);
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j <= i; ++j) scaled(i, j) *= factor;
    AttentionCheck check;
    check.second_look = [](const double*, int) {
      return RowTolerance{1e-6, "", ": --row-tolerance allows more"};
    };
    std::string text;
    try {
      normalise_attention(scaled.view(), check);
    } catch (const InputError& error) {
      text = error.what();
    }
    EXPECT_EQ(text.find("--row-tolerance allows more") != text.npos, factor < 2.0) << text;
  }
}

TEST(AttentionDiagnosis, PaddingThatIsLeftOutIsNotLookedAt) {
  Matrix matrix(9, 9);
  const Matrix inner = scores(6, -kInfinity);
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) matrix(i, j) = i < 3 || j < 3 ? std::nan("") : inner(i - 3, j - 3);
  EXPECT_EQ(likeness(matrix, 3), AttentionLikeness::kMaskedScores);
  EXPECT_EQ(likeness(matrix), AttentionLikeness::kUnknown);
}

}  // namespace
}  // namespace synergraph
