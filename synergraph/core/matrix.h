#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace synergraph {

/// A row-major matrix that someone else owns. Row i starts at data + i * stride.
template <class T>
struct View {
  T* data = nullptr;
  int rows = 0;
  int cols = 0;
  std::ptrdiff_t stride = 0;

  T* row(int i) const { return data + i * stride; }
  T& operator()(int i, int j) const { return data[i * stride + j]; }
  operator View<const T>() const { return {data, rows, cols, stride}; }  // NOLINT: views convert
};
using MatrixView = View<double>;
using ConstMatrixView = View<const double>;

/// Memory on 64-byte boundaries, so that vector loads never straddle a cache line.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>& /*other*/) {}  // NOLINT: allocators convert
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* p, std::size_t /*count*/) { ::operator delete (p, std::align_val_t{64}); }
  template <class U>
  bool operator==(const AlignedAllocator<U>& /*other*/) const {
    return true;
  }
};
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// A matrix of doubles that owns its memory: row-major, zero-filled, every row 64-byte aligned.
class Matrix {
 public:
  Matrix() = default;
  Matrix(int rows, int cols)
      : rows_(rows),
        cols_(cols),
        stride_((static_cast<std::ptrdiff_t>(cols) + 7) / 8 * 8),
        values_(static_cast<std::size_t>(rows * stride_), 0.0) {}

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
  int rows_ = 0;
  int cols_ = 0;
  std::ptrdiff_t stride_ = 0;
  AlignedVector<double> values_;
};

}  // namespace synergraph
