#include "synergraph/graph/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

Matrix uniform(int n) {
  Matrix a(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) a(i, j) = 1.0 / (i + 1);
  return a;
}

void expect_rejected(Matrix matrix, const std::string& message, const AttentionCheck& check = {}) {
  try {
    normalise_attention(matrix.view(), check);
    FAIL() << "accepted: " << message;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(NormaliseAttention, RenormalisesWithinTheTolerance) {
  Matrix a = uniform(5);
  for (int j = 0; j <= 3; ++j) a(3, j) *= 1.0 + 5e-7;
  a(1, 4) = 1e-9;
  AttentionCheck check;
  check.causal_tolerance = 1e-8;
  normalise_attention(a.view(), check);
  double sum = 0.0;
  for (int j = 0; j <= 3; ++j) sum += a(3, j);
  EXPECT_DOUBLE_EQ(sum, 1.0);
  EXPECT_EQ(a(1, 4), 0.0);
}

TEST(NormaliseAttention, NamesThePlaceOfWhatIsWrong) {
  Matrix padded = uniform(3);
  padded(0, 0) = 0.0;
  expect_rejected(padded, "row 0 gives nothing to any token");
  Matrix huge = uniform(3);
  huge(1, 0) = 1e307;
  expect_rejected(huge,
                  "entry 1e+307 in row 1, column 0 is above 1: attention weights lie in [0, 1]");
  const auto with = [](int i, int j, double value) {
    Matrix a = uniform(5);
    a(i, j) = value;
    return a;
  };
  AttentionCheck check;
  check.name = "layer 2, head 3";
  expect_rejected(with(3, 1, std::nan("")),
                  "layer 2, head 3: entry nan in row 3, column 1 is not finite", check);
  expect_rejected(with(3, 1, std::numeric_limits<double>::infinity()),
                  "entry inf in row 3, column 1 is not finite");
  expect_rejected(with(3, 1, -0.25), "entry -0.25 in row 3, column 1 is negative");
  expect_rejected(with(1, 4, 0.5), "entry 0.5 in row 1, column 4 is above the diagonal");
  expect_rejected(with(1, 4, std::nan("")), "entry nan in row 1, column 4 is not finite");
  expect_rejected(with(4, 4, 0.7), "row 4 sums to 1.5, expected 1 within 1e-06");
  expect_rejected(Matrix(2, 3), "expected a square matrix, got 2 x 3");
  expect_rejected(Matrix(0, 0), "expected a square matrix, got 0 x 0");
}

/// Tokens from `begin` on, mass that is missing being a node's.
Matrix cut_with_node(const Matrix& attention, int begin = 0, const AttentionCheck& check = {}) {
  const int n = attention.rows();
  Matrix into(n - begin + 1, n - begin + 1);
  cut_attention([&](int i) { return attention.row(i); }, n, begin, check, into, MissingMass::kNode);
  return into;
}

void expect_rows(const Matrix& actual, const std::vector<std::vector<double>>& expected) {
  ASSERT_EQ(actual.rows(), static_cast<int>(expected.size()));
  for (int i = 0; i < actual.rows(); ++i)
    for (int j = 0; j < actual.cols(); ++j)
      EXPECT_DOUBLE_EQ(actual(i, j),
                       expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
          << i << ' ' << j;
}

TEST(CutAttention, WhatIsMissingGoesToTheFirstNode) {
  Matrix a(3, 3);
  a(0, 0) = 0.75;
  a(1, 0) = 0.25;
  a(1, 1) = 0.75;
  a(2, 0) = 0.125;
  a(2, 1) = 0.125;
  a(2, 2) = 0.25;
  expect_rows(cut_with_node(a),
              {{1, 0, 0, 0}, {0.25, 0.75, 0, 0}, {0, 0.25, 0.75, 0}, {0.5, 0.125, 0.125, 0.25}});
  // Keys that are cut away are shared out, mass that is missing is not.
  expect_rows(cut_with_node(a, 1),
              {{1, 0, 0}, {0, 1, 0}, {0.5 / 0.875, 0.125 / 0.875, 0.25 / 0.875}});
  // A row may give nothing to any token.
  for (int j = 0; j < 3; ++j) a(2, j) = 0.0;
  expect_rows(cut_with_node(a, 2), {{1, 0}, {1, 0}});
}

TEST(CutAttention, AllThatIsMissingIsTheNodesHoweverLittleItIs) {
  constexpr int kTokens = 256;
  AttentionCheck lax;
  lax.row_tolerance = 0.5;
  lax.second_look = [](const double*, int) { return RowTolerance{1.0}; };
  for (const double missing : {0x1p-2, 0.01, 1e-4, 1e-9, 0x1p-53, 0x1p-60}) {
    Matrix a(kTokens, kTokens);
    for (int i = 0; i + 1 < kTokens; ++i) a(i, i) = 1.0;
    // Entries whose sum, rounded, is 1 where little is missing.
    const double most = 0x1p-8;
    for (int j = 0; j < kTokens; ++j) a(kTokens - 1, j) = most;
    double left = missing;
    double lacking = 0.0;
    for (int j = 0; left > 0.0; ++j) {
      const double less = most - std::min(left, most / 2);
      lacking += most - less;
      left -= std::min(left, most / 2);
      a(kTokens - 1, j) = less;
    }
    EXPECT_EQ(cut_with_node(a, 0, lax)(kTokens, 0), lacking) << missing;
    EXPECT_NEAR(lacking, missing, 1e-17);
  }
}

TEST(CutAttention, SumsAboveOneAreRoundingAsFarAsTheyMayBe) {
  Matrix a = uniform(3);
  a(2, 2) += 0.01;
  AttentionCheck check;
  check.row_tolerance = 0.02;
  const double sum = 1.01;
  expect_rows(cut_with_node(a, 0, check), {{1, 0, 0, 0},
                                           {0, 1, 0, 0},
                                           {0, 0.5, 0.5, 0},
                                           {0, a(2, 0) / sum, a(2, 1) / sum, a(2, 2) / sum}});
  check.row_tolerance = 0.005;
  EXPECT_THROW(cut_with_node(a, 0, check), InputError);
}

TEST(CutAttention, RowsAboveOneAreErrorsWhateverIsMissing) {
  Matrix a = uniform(3);
  a(0, 0) = 0.5;
  a(2, 2) = 0.5;
  EXPECT_THROW(cut_with_node(a), InputError);
  a(2, 2) = 0.25;
  EXPECT_NO_THROW(cut_with_node(a));
  a(2, 1) = -0.25;
  EXPECT_THROW(cut_with_node(a), InputError);
}

}  // namespace
}  // namespace synergraph
