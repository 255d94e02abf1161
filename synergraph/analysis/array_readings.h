#pragma once

#include <string>
#include <utility>
#include <vector>

#include "synergraph/analysis/attention_axes.h"

namespace synergraph {

/// How arrays of attention were read, told to the reader.
class ArrayReadings {
 public:
  void add(const Shape& shape, const AttentionAxes& axes);

  /// "2 arrays of shape (4, 9, 9) and others read as (head, query, key), a layer each (default;
  /// change with --axes=...)". `each`: what every array of a list is, or empty; `by_default`:
  /// nobody said what the axes are.
  std::string text(const std::string& each, bool by_default) const;

 private:
  /// Arrays of the same axes.
  struct Reading {
    AttentionAxes axes;
    std::string shape;  ///< of the first
    int arrays = 0;
    bool other_shapes = false;
  };

  std::vector<Reading> readings_;
  std::int64_t tokens_ = -1;  // of the first array
  bool other_tokens_ = false;
};

/// How a caller says that it has read arrays: their shapes and axes, and the rest as for text().
struct GivenReading {
  std::vector<std::pair<Shape, std::string>> arrays;
  std::string each;
  bool by_default = false;
};

}  // namespace synergraph
