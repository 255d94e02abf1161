#pragma once

#include <chrono>
#include <numeric>
#include <vector>

#include "synergraph/core/aligned_memory.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"

/// Products of square matrices that stay in cache: what one core can do.
class Products {
 public:
  explicit Products(int size)
      : size_(size), a_(floats(), 1.0F), b_(floats(), 1.0F), c_(floats(), 0.0F) {}

  double flop() const { return 2.0 * size_ * size_ * size_; }  ///< of one product

  /// How long so many products take, in seconds.
  double time(int count) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < count; ++k)
      synergraph::kernels().multiply({.rows = size_,
                                      .cols = size_,
                                      .depth = size_,
                                      .a = a_.data(),
                                      .a_stride = size_,
                                      .b = b_.data(),
                                      .b_stride = size_,
                                      .c = c_.data(),
                                      .c_stride = size_});
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  std::size_t floats() const {
    return static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_);
  }

  int size_;
  synergraph::AlignedVector<float> a_;
  synergraph::AlignedVector<float> b_;
  synergraph::AlignedVector<float> c_;
};

/// GFLOP/s of all threads together on `count` 96 x 96 x 96 products each.
inline double product_rate(int threads, int count) {
  std::vector<double> rates(static_cast<std::size_t>(threads));
  synergraph::parallel_for(rates.size(), threads, [&](std::size_t index, int) {
    Products products(96);
    rates[index] = count * products.flop() / products.time(count) * 1e-9;
  });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// The time of a steady clock.
inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
