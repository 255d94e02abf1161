#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace synergraph {

/// Bytes of rows 0 .. rows - 1, of row i the elements 0 .. i.
constexpr std::size_t triangle_bytes(int rows, std::size_t item) {
  const auto n = static_cast<std::size_t>(rows);
  return n * (n + 1) / 2 * item;
}

/// The lower triangle of a matrix of elements of any type, without gaps.
class LowerTriangle {
 public:
  LowerTriangle(int rows, std::size_t item) : item_(item), bytes_(triangle_bytes(rows, item)) {}

  /// Takes the first i + 1 elements of a row. std::out_of_range where the triangle has no such row:
  /// its bytes would go beyond the memory.
  void set_row(int i, const void* row) {
    if (i < 0 || triangle_bytes(i + 1, item_) > bytes_.size())
      throw std::out_of_range("a triangle has no such row");
    std::memcpy(bytes_.data() + triangle_bytes(i, item_), row,
                (static_cast<std::size_t>(i) + 1) * item_);
  }

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::size_t item_;
  std::vector<std::byte> bytes_;
};

}  // namespace synergraph
