#include "synergraph/core/triangular.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/random_numbers.h"

namespace synergraph {
namespace {

using testing_support::random_numbers;
using testing_support::random_upper;

constexpr double kUntouched = 77.0;

Matrix filled(int rows, int cols) {
  Matrix matrix(rows, cols);
  for (int i = 0; i < rows; ++i) std::fill_n(matrix.row(i), cols, kUntouched);
  return matrix;
}

// Sizes around the tiles and the depth that a strip is packed in.
TEST(Triangular, SquaresStopBetweenStrips) {
  const Matrix upper = random_upper(700, 1);
  Matrix result = filled(700, 700);
  int asked = 0;
  const Execution execution{.threads = 1, .stop = [&] { return ++asked > 1; }};
  EXPECT_THROW(square_upper(upper, result.view(), execution), Stopped);
}

TEST(Triangular, SquaresAgreeWithTheDefinitionOnAnyThreads) {
  for (const int size : {1, 2, 5, 23, 24, 25, 47, 100, 191, 193, 300}) {
    Matrix upper = random_upper(size, 1);
    for (int i = 0; i < size; ++i)  // what is further below than the zero band is never read
      std::fill_n(upper.row(i), std::max(0, i - kZeroBand),
                  std::numeric_limits<double>::quiet_NaN());
    Matrix one = filled(size, size);
    Matrix two = filled(size, size);
    square_upper(upper, one.view(), {.threads = 1});
    square_upper(upper, two.view(), {.threads = 3});
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        double expected = 0.0;
        for (int k = i; k <= j; ++k) expected += upper(i, k) * upper(k, j);
        if (j < i && (i - j > kZeroBand || one(i, j) != 0.0)) expected = kUntouched;
        ASSERT_NEAR(one(i, j), expected, 1e-15 * size * expected) << size << ": " << i << "," << j;
        ASSERT_EQ(two(i, j), one(i, j));
      }
    }
  }
}

TEST(Triangular, ProductsWithAVectorAgreeWithTheDefinition) {
  for (const int size : {1, 3, 64, 65, 200, 1100}) {  // the last on several threads
    const Matrix upper = random_upper(size, 2);
    const auto in = random_numbers(static_cast<std::size_t>(size), 3);
    std::vector<double> out(in.size());
    multiply_upper(upper, in.data(), out.data(), 2);
    for (int i = 0; i < size; ++i) {
      double expected = 0.0;
      for (int j = i; j < size; ++j) expected += upper(i, j) * in[static_cast<std::size_t>(j)];
      ASSERT_NEAR(out[static_cast<std::size_t>(i)], expected, 1e-15 * size * expected);
    }
  }
}

TEST(Triangular, TheTransposeMirrorsTheLowerTriangleAlone) {
  std::vector<int> sizes(30);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {256, 257, 275});  // above 256: block by block
  for (const int size : sizes) {
    const auto values = random_numbers(static_cast<std::size_t>(size * size), 4);
    const ConstMatrixView from{values.data(), size, size, size};
    Matrix to = filled(size, size);
    transpose_lower(from, to.view());
    Matrix mirrored(size, size);
    for (int i = 0; i < size; ++i) std::copy_n(from.row(i), size, mirrored.row(i));
    transpose_lower(mirrored, mirrored.view());
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        ASSERT_EQ(to(i, j), j >= i ? from(j, i) : kUntouched);
        ASSERT_EQ(mirrored(i, j), j >= i ? from(j, i) : from(i, j));
      }
    }
  }
}

TEST(Triangular, SumsHaveUpperTrianglesAndRowsBelowTheSquare) {
  for (const int size : {1, 7, 8, 9, 33, 100}) {
    Matrix a(size + 2, size);
    Matrix b(size + 2, size);
    const auto numbers = random_numbers(static_cast<std::size_t>(2 * (size + 2) * size), 4);
    const double* next = numbers.data();
    for (Matrix* matrix : {&a, &b})
      for (int i = 0; i < size + 2; ++i, next += size) std::copy_n(next, size, matrix->row(i));
    Matrix out = filled(size + 2, size);
    add_upper(a, 0.25, b, out);
    for (int i = 0; i < size + 2; ++i)
      for (int j = i < size ? i : 0; j < size; ++j)
        ASSERT_EQ(out(i, j), a(i, j) + 0.25 * b(i, j)) << size << ": " << i << "," << j;
    add_upper(out, 2.0, out, out);  // in place
    ASSERT_EQ(out(0, size - 1), 3.0 * (a(0, size - 1) + 0.25 * b(0, size - 1)));
  }
}

TEST(Triangular, ForwardSubstitutionGoesAlongColumns) {
  for (const int size : {1, 2, 20, 65})
    for (const int begin : {0, size / 2, size - 1}) {
      const Matrix upper = random_upper(size, 5);
      const auto factor = random_numbers(static_cast<std::size_t>(size), 6);
      std::vector<double> x(static_cast<std::size_t>(size), kUntouched);
      x[static_cast<std::size_t>(begin)] = 2.0;
      forward_substitute(upper, factor.data(), begin, x.data());
      for (int i = 0; i < size; ++i) {
        double expected = 0.0;
        for (int k = begin; k < i; ++k) expected += upper(k, i) * x[static_cast<std::size_t>(k)];
        expected *= factor[static_cast<std::size_t>(i)];
        if (i <= begin) expected = i < begin ? kUntouched : 2.0;
        ASSERT_NEAR(x[static_cast<std::size_t>(i)], expected, 1e-14 * expected);
      }
    }
}

}  // namespace
}  // namespace synergraph
