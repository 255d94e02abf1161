#pragma once

#include <cstddef>
#include <utility>

#include "synergraph/core/aligned_memory.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A view of a row-major matrix that another object owns. Row i starts at data + i * stride.
template <class T>
struct View {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t stride = 0;

  [[gnu::always_inline]] T* row(int i) const { return data + i * stride; }
  [[gnu::always_inline]] T& operator()(int i, int j) const { return data[i * stride + j]; }
  operator View<const T>() const { return {data, rows, cols, stride}; }  // NOLINT: views convert
};
using MatrixView = View<double>;
using ConstMatrixView = View<const double>;

/// A matrix of doubles that owns its memory: row-major, zero-filled, every row 64-byte aligned.
class Matrix {
 public:
  Matrix() = default;
  Matrix(int rows, int cols) : Matrix(rows, cols, ScratchVector<double>(size(rows, cols), 0.0)) {}

  /// Returns a matrix with uninitialised entries.
  static Matrix uninitialised(int rows, int cols) {
    return {rows, cols, ScratchVector<double>(size(rows, cols))};
  }

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  std::ptrdiff_t stride() const { return stride_; }
  double* row(int i) { return values_.data() + i * stride_; }
  const double* row(int i) const { return values_.data() + i * stride_; }
  double& operator()(int i, int j) { return values_[static_cast<std::size_t>(i * stride_ + j)]; }
  double operator()(int i, int j) const {
    return values_[static_cast<std::size_t>(i * stride_ + j)];
  }
  MatrixView view() { return {values_.data(), rows_, cols_, stride_}; }
  ConstMatrixView view() const { return {values_.data(), rows_, cols_, stride_}; }
  operator ConstMatrixView() const { return view(); }  // NOLINT: a matrix is a view of itself

 private:
  // The stride is a whole number of cache lines, and an odd number of lines in wide matrices. Rows
  // at a distance of a power of two would evict each other from the caches.
  static std::ptrdiff_t padded(int cols) {
    const std::ptrdiff_t lines = (static_cast<std::ptrdiff_t>(cols) + 7) / 8;
    return 8 * (lines < 32 ? lines : lines | 1);
  }
  static std::size_t size(int rows, int cols) {
    return static_cast<std::size_t>(rows * padded(cols));
  }
  Matrix(int rows, int cols, ScratchVector<double> values)
      : rows_(rows), cols_(cols), stride_(padded(cols)), values_(std::move(values)) {}

  int rows_ = 0;
  int cols_ = 0;
  std::ptrdiff_t stride_ = 0;
  ScratchVector<double> values_;
};

}  // namespace synergraph
#pragma GCC visibility pop
