#include "synergraph/analysis/moved_arrays.h"

#include <fmt/core.h>

#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include "synergraph/analysis/attention_file.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/tensor_file.h"

namespace synergraph {
namespace {

constexpr std::int64_t kMostOfAxis = std::int64_t{1} << 30;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 16;  ///< of a token
constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr std::int64_t kMostOfProjection = std::int64_t{1} << 29;  ///< entries of a layer

/// The axes of an array of one layer.
std::size_t own_axes(MovedPart part) {
  switch (part) {
    case MovedPart::kValues:
      return 4;
    case MovedPart::kNorms:
    case MovedPart::kResidual:
      return 3;
    case MovedPart::kProjection:
      return 2;
    case MovedPart::kBias:
      return 1;
  }
  return 0;
}

bool has_samples(MovedPart part) {
  return own_axes(part) > 2;
}

double decoded(const std::byte* from, FloatType type) {
  const auto stored = [&]<class Stored>(Stored value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  switch (type) {
    case FloatType::kFloat16:
      return half_to_float(stored(std::uint16_t{}));
    case FloatType::kBFloat16:
      return bfloat_to_float(stored(std::uint16_t{}));
    case FloatType::kFloat32:
      return stored(float{});
    case FloatType::kFloat64:
      return stored(double{});
  }
  return 0.0;
}

/// The part that a name of an archive stands for, and what stands before it.
std::optional<MovedPart> part_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return parse_name<MovedPart>(dot == std::string::npos ? name : name.substr(dot + 1));
}

NumberArray number_array(const Tensor& tensor) {
  const std::int64_t columns = tensor.shape().empty() ? 0 : tensor.shape().back();
  return {tensor.where(), tensor.shape(), [tensor, columns](std::int64_t row, double* into) {
            tensor.read(row * columns, columns, into);
          }};
}

void check_shape(const NumberArray& array) {
  for (const std::int64_t extent : array.shape)
    if (extent < 1 || extent > kMostOfAxis)
      throw InputError(
          fmt::format("{}: shape {} is empty or too large", array.where, to_string(array.shape)));
}

}  // namespace

NumberArray number_array(std::string where, const void* data, FloatType type, Shape shape,
                         const std::ptrdiff_t* strides) {
  NumberArray array{std::move(where), std::move(shape), {}};
  check_shape(array);
  if (data == nullptr) throw InputError(fmt::format("{}: there is no data", array.where));
  if (name_of(type).empty())
    throw InputError(fmt::format(
        "{}: unknown element type, expected float16, bfloat16, float32 or float64", array.where));
  const auto size = static_cast<std::ptrdiff_t>(item_size(type));
  std::vector<std::ptrdiff_t> steps(array.shape.size(), size);
  std::ptrdiff_t reach = size;
  for (std::size_t d = array.shape.size(); d-- > 0;) {
    bool fits = true;
    if (strides != nullptr)
      steps[d] = strides[d];
    else if (d + 1 < array.shape.size())
      fits = !__builtin_mul_overflow(steps[d + 1], array.shape[d + 1], &steps[d]);
    std::ptrdiff_t last = 0;
    if (!fits || steps[d] % size != 0 || steps[d] == std::numeric_limits<std::ptrdiff_t>::min() ||
        __builtin_mul_overflow(steps[d] < 0 ? -steps[d] : steps[d], array.shape[d] - 1, &last) ||
        __builtin_add_overflow(reach, last, &reach))
      throw InputError(fmt::format("{}: strides that do not fit its shape {}, or the memory",
                                   array.where, to_string(array.shape)));
  }
  array.read_row = [data, type, of = array.shape, steps](std::int64_t row, double* into) {
    const auto* from = static_cast<const std::byte*>(data);
    for (std::size_t d = of.size() - 1; d-- > 0; row /= of[d]) from += row % of[d] * steps[d];
    for (std::int64_t k = 0; k < of.back(); ++k) into[k] = decoded(from + k * steps.back(), type);
  };
  return array;
}

MovedArrays MovedArrays::of_file(const std::string& path) {
  const TensorFile file = TensorFile::open(path);
  MovedArrays arrays;
  arrays.file_ = file.path();
  std::map<MovedPart, std::size_t> layers;
  for (const Tensor& tensor : choose_tensors(file, "")) {
    const std::optional<MovedPart> part = part_of(tensor.name());
    if (!part)
      throw InputError(
          fmt::format("{}: expected names that are, or end in a dot and, norms, values, out_proj, "
                      "out_proj_bias or residual",
                      tensor.where()));
    const bool named = tensor.name() != name_of(*part);
    arrays.add(*part, named ? std::optional(layers[*part]++) : std::nullopt, number_array(tensor));
  }
  return arrays;
}

void MovedArrays::add(MovedPart part, std::optional<std::size_t> layer, NumberArray array) {
  check_shape(array);
  const std::size_t axes = own_axes(part);
  const std::size_t given = array.shape.size();
  const std::size_t least = has_samples(part) ? axes - 1 : axes;
  if (given < least || given > axes + (layer ? 0 : 1))
    throw InputError(fmt::format("{}: shape {}; {} have {} axes of one layer{}", array.where,
                                 to_string(array.shape), name_of(part), axes,
                                 layer ? "" : ", and one more of several layers"));
  auto& own = arrays_[part];
  if (own.contains(layer) || (!own.empty() && own.begin()->first.has_value() != layer.has_value()))
    throw InputError(fmt::format("{}: {} are given twice", array.where, name_of(part)));
  own.emplace(layer, std::move(array));
}

/// Where the arrays of a source's layers are.
class MovedArrays::Reader {
 public:
  Reader(MovedArrays arrays, const SequenceSource& source)
      : arrays_(std::move(arrays)), source_(source), projections_(source.layers().size()) {
    for (const auto& [part, own] : arrays_.arrays_)
      for (std::size_t l = 0; l < source.layers().size(); ++l)
        places_[part].push_back(place_of(part, own, l));
  }

  MovedValues read(int layer, int sample) {
    const TokenSpan span = source_.span(layer, sample);
    const auto l = static_cast<std::size_t>(layer);
    MovedValues moved;
    moved.file = arrays_.file_;
    if (const Place* norms = place(MovedPart::kNorms, l)) moved.norms = norms_of(*norms, span);
    if (const Place* values = place(MovedPart::kValues, l)) {
      const std::int64_t heads = values->shape[1];
      for (std::int64_t h = 0; h < heads; ++h)
        moved.values.push_back(
            rows(*values, (span.sample * heads + h) * values->shape[2] + span.begin, span));
    }
    if (const Place* residual = place(MovedPart::kResidual, l))
      moved.residual = rows(*residual, span.sample * residual->shape[1] + span.begin, span);
    if (const Place* bias = place(MovedPart::kBias, l)) {
      moved.bias.resize(static_cast<std::size_t>(bias->shape[0]));
      bias->array->read_row(bias->first, moved.bias.data());
    }
    moved.projection = projection(l);
    return moved;
  }

 private:
  /// One layer's part of an array.
  struct Place {
    const NumberArray* array;
    Shape shape;         ///< with all axes of one layer
    std::int64_t first;  ///< its first row
  };

  const Place* place(MovedPart part, std::size_t layer) const {
    const auto found = places_.find(part);
    return found == places_.end() ? nullptr : &found->second[layer];
  }

  /// The number among `count` layers of arrays that a layer of the source has.
  std::size_t number_of(std::size_t layer, std::size_t count, const std::string& where) const {
    if (count == source_.layers().size()) return layer;
    std::int64_t number = -1;
    if (parse_number(source_.layers()[layer].name, number) && number >= 0 &&
        number < static_cast<std::int64_t>(count))
      return static_cast<std::size_t>(number);
    throw InputError(fmt::format("{}: {} layers; the attention has {}, layer {} is none of them",
                                 where, count, source_.layers().size(),
                                 quoted_text(source_.layers()[layer].name)));
  }

  Place place_of(MovedPart part, const std::map<std::optional<std::size_t>, NumberArray>& own,
                 std::size_t l) const {
    const AttentionLayer& whole = source_.whole_layers()[l];
    const NumberArray* array = &own.begin()->second;
    Shape shape = array->shape;
    std::size_t number = 0;  // of the layer in the array
    const std::size_t axes = own_axes(part);
    if (own.begin()->first) {
      if (*own.rbegin()->first + 1 != own.size())
        throw InputError(fmt::format("{}: {} {} given, which must be of layers 0 to {}",
                                     own.rbegin()->second.where, own.size(),
                                     own.size() == 1 ? "array is" : "arrays are", own.size() - 1));
      auto found = own.begin();
      if (own.size() > 1 || has_samples(part))
        std::advance(found, static_cast<std::ptrdiff_t>(number_of(l, own.size(), array->where)));
      array = &found->second;
      shape = array->shape;
    } else if (shape.size() == axes + 1 ||
               (shape.size() == axes && has_samples(part) && source_.layers().size() > 1)) {
      number = number_of(l, static_cast<std::size_t>(shape.front()), array->where);
      shape.erase(shape.begin());
    } else if (has_samples(part) && source_.layers().size() > 1) {
      throw InputError(fmt::format("{}: shape {} has no axis of layers; the attention has {}",
                                   array->where, to_string(array->shape), source_.layers().size()));
    }
    if (has_samples(part) && shape.size() + 1 == axes) shape.insert(shape.begin(), 1);
    check_size(part, *array, shape, whole);
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
    const std::size_t tokens = part == MovedPart::kResidual ? 1 : 2;
    if (has_samples(part) && (shape[0] != whole.samples || shape[tokens] < whole_tokens(l)))
      throw InputError(fmt::format(
          "{}: shape {}: {} samples of {} tokens, the attention has {} of {}", array->where,
          to_string(array->shape), shape[0], shape[tokens], whole.samples, whole_tokens(l)));
    return {array, std::move(shape), static_cast<std::int64_t>(number) * rows};
  }

  /// Refuses sizes that no layer has, before memory is taken for them.
  static void check_size(MovedPart part, const NumberArray& array, const Shape& shape,
                         const AttentionLayer& layer) {
    if (part == MovedPart::kProjection) {
      if (shape[0] > kMostNumbers || shape[1] > kMostOfProjection / shape[0])
        throw InputError(fmt::format("{}: shape {} is not that of an output projection",
                                     array.where, to_string(array.shape)));
      return;
    }
    const bool heads = part == MovedPart::kValues || part == MovedPart::kNorms;
    if (heads && shape[1] > layer.heads)
      throw InputError(fmt::format("{}: shape {}: {} heads, the attention has {}", array.where,
                                   to_string(array.shape), shape[1], layer.heads));
    if (shape.back() > (part == MovedPart::kNorms ? kMostTokens : kMostNumbers))
      throw InputError(
          fmt::format("{}: shape {} is too large", array.where, to_string(array.shape)));
  }

  /// The last token that is read, plus one.
  std::int64_t whole_tokens(std::size_t layer) const {
    std::int64_t most = 0;
    for (int s = 0; s < source_.layers()[layer].samples; ++s)
      most = std::max(most, source_.span(static_cast<int>(layer), s).end);
    return most;
  }

  static Matrix rows(const Place& of, std::int64_t first, const TokenSpan& span) {
    Matrix tokens(static_cast<int>(span.end - span.begin), static_cast<int>(of.shape.back()));
    for (int i = 0; i < tokens.rows(); ++i) of.array->read_row(of.first + first + i, tokens.row(i));
    return tokens;
  }

  static Matrix norms_of(const Place& of, const TokenSpan& span) {
    Matrix norms(static_cast<int>(of.shape[1]), static_cast<int>(span.end - span.begin));
    std::vector<double> row(static_cast<std::size_t>(of.shape[2]));
    for (int h = 0; h < norms.rows(); ++h) {
      of.array->read_row(of.first + span.sample * of.shape[1] + h, row.data());
      std::copy_n(row.data() + span.begin, norms.cols(), norms.row(h));
    }
    return norms;
  }

  std::shared_ptr<const Matrix> projection(std::size_t layer) {
    const Place* of = place(MovedPart::kProjection, layer);
    if (of == nullptr) return nullptr;
    const std::lock_guard lock(reading_);
    if (projections_[layer]) return projections_[layer];
    Matrix matrix(static_cast<int>(of->shape[0]), static_cast<int>(of->shape[1]));
    for (int e = 0; e < matrix.rows(); ++e) of->array->read_row(of->first + e, matrix.row(e));
    projections_[layer] = std::make_shared<const Matrix>(std::move(matrix));
    return projections_[layer];
  }

  const MovedArrays arrays_;  // its own: places_ refer to them
  const SequenceSource& source_;
  std::map<MovedPart, std::vector<Place>> places_;
  std::mutex reading_;
  std::vector<std::shared_ptr<const Matrix>> projections_;
};

MovedReader MovedArrays::reader(const SequenceSource& source) const {
  auto reader = std::make_shared<Reader>(*this, source);
  return [reader](int layer, int sample) { return reader->read(layer, sample); };
}

}  // namespace synergraph
