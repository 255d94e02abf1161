#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/float_type.h"
#include "synergraph/core/names.h"
#include "synergraph/heads/attention_source.h"
#include "synergraph/heads/edges.h"
#include "synergraph/io/tensor_info.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The arrays that say what heads move, by the names that they have in files and calls.
enum class MovedPart {
  kNorms,       ///< ||W_O^h v_j^h||_2: (samples, heads, tokens)
  kValues,      ///< v: (samples, key heads, tokens, width)
  kProjection,  ///< W_O: (E, heads * width), rows = outputs
  kBias,        ///< of the projection: (E)
  kResidual,    ///< x, what the heads' outputs are added to: (samples, tokens, E)
};

template <>
inline constexpr NameTable<MovedPart, 5> kNamesOf<MovedPart>{{{MovedPart::kNorms, "norms"},
                                                              {MovedPart::kValues, "values"},
                                                              {MovedPart::kProjection, "out_proj"},
                                                              {MovedPart::kBias, "out_proj_bias"},
                                                              {MovedPart::kResidual, "residual"}}};

/// Numbers with axes, in memory or in a file.
struct NumberArray {
  std::string where;  ///< begins messages
  Shape shape;
  /// Reads row `row` of the last axis, counted in C order. From any thread.
  std::function<void(std::int64_t row, double* into)> read_row;
};

/// An array in memory that someone else owns. InputError unless there is data of a known type and
/// the shape and the strides, in bytes, fit the memory.
NumberArray number_array(std::string where, const void* data, FloatType type, Shape shape,
                         const std::ptrdiff_t* strides);

/// What the heads of a source move, in arrays: one array for all layers or one a layer.
class MovedArrays {
 public:
  /// The arrays of an archive: values, out_proj, ...; or one a layer, whose names end in .values,
  /// .out_proj, ..., in the natural order of their names. InputError for other names.
  static MovedArrays of_file(const std::string& path);

  /// Adds an array of one layer, or (without a number) of all: then its first axis is the layers,
  /// where it has one axis more than an array of one layer, or as many while there are several
  /// layers of one sample. Projections and biases of one layer hold for all.
  void add(MovedPart part, std::optional<std::size_t> layer, NumberArray array);

  bool empty() const { return arrays_.empty(); }

  /// Reads what the heads of a source move. Layers of the source that are fewer than the arrays'
  /// are found by their names, numbers from 0. InputError where shapes do not fit the source. The
  /// source must outlive the result, and so must arrays in memory.
  MovedReader reader(const SequenceSource& source) const;

 private:
  class Reader;

  std::map<MovedPart, std::map<std::optional<std::size_t>, NumberArray>> arrays_;
  std::string file_;  ///< of_file(): that file
};

}  // namespace synergraph
#pragma GCC visibility pop
