#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/io/tensor.h"

namespace synergraph {

/// A file in tests/data/io; tests/data/io/make_files.py says how they were made.
inline std::string data_file(const std::string& name) {
  return std::string(SYNERGRAPH_TEST_DATA) + "/io/" + name;
}

/// Element k, in C order, of every array in tests/data/io.
inline double pattern(DType dtype, std::int64_t k) {
  if (dtype == DType::kBool) return static_cast<double>(k % 2);
  if (is_integer(dtype)) return static_cast<double>(k);
  return static_cast<double>(k) / 2 - 3;
}

inline std::vector<double> pattern_of(const TensorInfo& info) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < info.elements(); ++k) values.push_back(pattern(info.dtype, k));
  return values;
}

}  // namespace synergraph
