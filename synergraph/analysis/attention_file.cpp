#include "synergraph/analysis/attention_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "synergraph/analysis/array_readings.h"
#include "synergraph/analysis/layer_choice.h"
#include "synergraph/analysis/name_pattern.h"
#include "synergraph/analysis/shape_diagnosis.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/attention_rounding.h"
#include "synergraph/heads/head_rows.h"
#include "synergraph/heads/lower_triangle.h"
#include "synergraph/heads/sample_heads.h"

namespace synergraph {
namespace {

/// The run of digits that `text` begins with, without leading zeros; what follows stays in `text`.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

std::vector<std::string> names_in(const std::vector<Tensor>& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const Tensor& tensor : tensors) names.push_back(tensor.name());
  return names;
}

bool has_axis(const AttentionAxes& axes, AttentionAxis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// The option that reads the same arrays with query and key swapped.
std::string swapped_axes(AttentionAxes axes) {
  for (AttentionAxis& axis : axes)
    axis = axis == AttentionAxis::kQuery ? AttentionAxis::kKey
           : axis == AttentionAxis::kKey ? AttentionAxis::kQuery
                                         : axis;
  return "give " + option_mark("axes") + ' ' + axes_list(axes);
}

/// A tensor in a file: (layers, samples, heads, columns, columns) elements, whatever its own axes.
struct StoredArray {
  Tensor tensor;
  int columns = 0;
  std::string where;   ///< for messages
  AttentionAxes axes;  ///< as the file has them
};

/// One layer in a file: of an array, or samples of several arrays.
struct StoredLayer {
  std::vector<std::size_t> arrays;         ///< one for all samples, or that of every sample
  std::int64_t first = 0;                  ///< its first element in the array
  std::string number;                      ///< for messages, of a layer of several in one array
  std::vector<std::int64_t> samples = {};  ///< of several arrays: the number of each in its array
};

class AttentionFile : public SequenceSource {
 public:
  AttentionFile(const TensorFile& file, AttentionFileOptions options);

  std::string reading() const override;

  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

  FloatType element_type(int layer) const override {
    return own_elements(layer).value_or(FloatType::kFloat64);
  }
  void copy_heads(const AttentionPiece& piece, const HeadCopy& copy) override;

  void choose(std::vector<TokenSpan> sequences) override;

  TokenSpan span(int layer, int sample) const override {
    const StoredSample of = sample_of(layer, sample);
    return {sequences_.empty() ? sample : sequences_[static_cast<std::size_t>(sample)].sample,
            of.begin, of.end};
  }

  /// The nodes of a sample.
  int nodes(int layer, int sample) const;

  /// Reads one head. `advise`: an error tells what the other layers are.
  void read(int layer, int sample, int head, Matrix& into, bool advise = true) const;

  /// The heads of a sample by rows. InputError where the file cannot be read so.
  std::unique_ptr<HeadRows> rows(int layer, int sample) const;

 private:
  class FileRows;

  /// A sample of a layer: where its elements are, and which tokens of it are read.
  struct StoredSample {
    const StoredArray* array;
    std::int64_t first;  ///< of its heads' elements
    std::int64_t sample;
    int begin;
    int end;
  };

  AttentionCheck check_of(int layer, const StoredSample& of, int head, bool advise) const;
  /// The axes of every array, without the one that the arrays of a list are counted by.
  std::optional<AttentionAxes> array_axes() const;
  void take_list_axis(const std::vector<Tensor>& tensors);
  OrderedAttention ordered(const Tensor& tensor) const;
  void add(const Tensor& tensor, bool only);
  void add_samples(const std::vector<Tensor>& tensors);
  void keep_layers(const LayerChoice& choice);
  /// What to do about a layer that was refused: parameters, or tensors beside attention.
  std::string advice_on_layer(int layer) const;
  StoredSample sample_of(int layer, int sample) const;
  /// The type of a layer's elements, where rows are measured whole and as anyone would read them.
  std::optional<FloatType> own_elements(int layer) const;

  AttentionFileOptions options_;
  std::optional<AttentionAxis> list_axis_;  // what the arrays of an archive are, where --axes says
  AttentionAxes own_axes_;                  // of every array, where --axes says
  bool parameters_ = false;                 // that is what the tensors are called
  std::vector<StoredArray> arrays_;
  std::vector<StoredLayer> stored_;
};

// Other layers of more tokens are not read to give advice.
constexpr int kMostTokensOfAdvice = 1 << 12;

/// Rows come in blocks: few system calls, little memory beside the matrix.
int rows_of_block(int columns, int rows) {
  constexpr int kBlockElements = 1 << 16;
  return std::clamp(kBlockElements / columns, 1, rows);
}

/// The end of the range, once the number of tokens is known.
int checked_end(const TokenRange& range, std::int64_t tokens, const std::string& where) {
  const std::int64_t end = range.end.value_or(tokens);
  if (range.begin < 0 || range.begin >= end || end > tokens)
    throw InputError(fmt::format("{}: tokens {}:{} were asked for, it has 0:{}", where, range.begin,
                                 end, tokens));
  return static_cast<int>(end);
}

/// Whether an array of this shape could be attention with its axes in some other order.
bool has_equal_extents(const Shape& shape) {
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (std::find(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(k), shape[k]) !=
        shape.begin() + static_cast<std::ptrdiff_t>(k))
      return shape.size() <= 5;
  return false;
}

/// Refuses the first of the chosen tensors that has not the shape of attention: what is wrong with
/// it, and what the file shows can be done.
[[noreturn]] void refuse_tensor(const TensorFile& file, const std::vector<Tensor>& chosen,
                                const Tensor& wrong, const std::optional<AttentionAxes>& axes,
                                const std::string& error) {
  if (are_parameters(chosen))
    throw InputError(fmt::format("{}: {}", file.path(), parameters_advice()));
  if (!axes && is_generation_step(wrong.shape()))
    throw InputError(fmt::format("{}: shape {}: {}", wrong.where(), to_string(wrong.shape()),
                                 generation_advice()));
  std::vector<std::string> fitting;
  std::vector<std::string> others;
  for (const Tensor& tensor : file.tensors())
    (fits_attention(tensor, axes) ? fitting : others).push_back(tensor.name());
  if (fitting.empty())
    throw InputError(error + (has_equal_extents(wrong.shape())
                                  ? "; change this with " + option_mark("axes")
                                  : ""));
  std::sort(fitting.begin(), fitting.end(), natural_less);
  throw InputError(fmt::format("{}. {}", error, layers_advice(fitting, others)));
}

AttentionFile::AttentionFile(const TensorFile& file, AttentionFileOptions options)
    : options_(std::move(options)) {
  const LayerChoice choice(options_.layers);
  std::vector<Tensor> chosen =
      choose_tensors(file, choice.by_number() ? std::string() : options_.layers);
  take_list_axis(chosen);
  if (choice.by_number()) {  // layers have numbers, whatever is stored beside them
    std::vector<Tensor> fitting;
    for (const Tensor& tensor : chosen)
      if (fits_attention(tensor, array_axes())) fitting.push_back(tensor);
    if (!fitting.empty()) chosen = std::move(fitting);
  }
  parameters_ = are_parameters(chosen);
  for (const Tensor& tensor : chosen) {
    if (fits_attention(tensor, array_axes())) continue;
    try {
      (void)ordered(tensor);
    } catch (const InputError& error) {
      refuse_tensor(file, chosen, tensor, array_axes(), error.what());
    }
  }
  if (list_axis_ == AttentionAxis::kSample)
    add_samples(chosen);
  else
    for (const Tensor& tensor : chosen) add(tensor, chosen.size() == 1);
  if (choice.by_number()) try {
      keep_layers(choice);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", file.path(), error.what()));
    }
}

void AttentionFile::take_list_axis(const std::vector<Tensor>& tensors) {
  const AttentionAxes& axes = options_.axes;
  own_axes_ = axes;
  if (axes.empty()) return;
  const auto all_have = [&](std::size_t rank) {
    return std::all_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
      return !tensor.name().empty() && tensor.shape().size() == rank;
    });
  };
  const bool listed =
      axes.front() == AttentionAxis::kLayer || axes.front() == AttentionAxis::kSample;
  if (listed && all_have(axes.size() - 1)) {
    list_axis_ = axes.front();
    own_axes_.erase(own_axes_.begin());
  }
  // Layers have the same tokens: arrays of different lengths are samples, too.
  if (has_axis(axes, AttentionAxis::kLayer) || !has_axis(axes, AttentionAxis::kSample) ||
      !all_have(axes.size()))
    return;
  const auto key = static_cast<std::size_t>(
      std::find(axes.begin(), axes.end(), AttentionAxis::kKey) - axes.begin());
  if (std::any_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
        return tensor.shape()[key] != tensors.front().shape()[key];
      }))
    list_axis_ = AttentionAxis::kSample;
}

std::optional<AttentionAxes> AttentionFile::array_axes() const {
  return own_axes_.empty() ? std::nullopt : std::optional(own_axes_);
}

OrderedAttention AttentionFile::ordered(const Tensor& tensor) const {
  const std::size_t rank = tensor.shape().size();
  const std::optional<AttentionAxes> given = array_axes();
  if (!given && (rank < 2 || rank > 5))
    throw InputError(
        fmt::format("{}: shape {} is not that of attention: expected (heads, n, n), (samples, "
                    "heads, n, n) or (layers, samples, heads, n, n)",
                    tensor.where(), to_string(tensor.shape())));
  return order_attention(tensor, given ? *given : default_axes(rank));
}

void AttentionFile::add(const Tensor& tensor, bool only) {
  const OrderedAttention attention = ordered(tensor);
  const AttentionAxes axes = array_axes().value_or(default_axes(tensor.shape().size()));
  const auto heads = static_cast<int>(attention.heads);
  const auto samples = static_cast<int>(attention.samples);
  const auto columns = static_cast<int>(attention.keys);
  const int end = checked_end(options_.range, columns, tensor.where());
  const bool layered = has_axis(axes, AttentionAxis::kLayer);
  arrays_.push_back({attention.tensor, columns, tensor.where(), axes});
  // Layers are numbered from 0; the tensor's name is left out where it says nothing.
  for (std::int64_t layer = 0; layer < attention.layers; ++layer) {
    std::string name = fmt::format("{}", layer);
    const std::string number = layered ? ", layer " + name : "";
    if (!tensor.name().empty() && !layered) name = tensor.name();
    if (!tensor.name().empty() && layered && !only)
      name = fmt::format("{}/{}", tensor.name(), name);
    const std::int64_t first = layer * samples * heads * columns * columns;
    stored_.push_back({{arrays_.size() - 1}, first, number});
    add_whole({std::move(name), samples, heads, end - static_cast<int>(options_.range.begin),
               options_.missing_mass});
  }
}

/// One layer, of which every tensor is a sample, or some of them.
void AttentionFile::add_samples(const std::vector<Tensor>& tensors) {
  StoredLayer stored;
  AttentionLayer layer{"0", 0, 0, 0, options_.missing_mass};
  for (const Tensor& tensor : tensors) {
    const OrderedAttention attention = ordered(tensor);
    const auto columns = static_cast<int>(attention.keys);
    const auto heads = static_cast<int>(attention.heads);
    const int tokens = checked_end(options_.range, columns, tensor.where()) -
                       static_cast<int>(options_.range.begin);
    if (attention.layers > 1)
      throw InputError(tensor.where() + ": a sample with several layers; save a tensor a layer");
    if (layer.heads != 0 && heads != layer.heads)
      throw InputError(
          fmt::format("{}: {} heads, the first sample has {}", tensor.where(), heads, layer.heads));
    layer.same_length = layer.same_length && (layer.tokens == 0 || tokens == layer.tokens);
    layer.tokens = std::max(layer.tokens, tokens);
    layer.heads = heads;
    for (std::int64_t sample = 0; sample < attention.samples; ++sample) {
      stored.arrays.push_back(arrays_.size());
      stored.samples.push_back(sample);
    }
    arrays_.push_back({attention.tensor, columns, tensor.where(), *array_axes()});
  }
  if (stored.arrays.size() > std::numeric_limits<int>::max() / 2)
    throw InputError("there are too many samples");
  layer.samples = static_cast<int>(stored.arrays.size());
  stored_.push_back(std::move(stored));
  add_whole(std::move(layer));
}

void AttentionFile::keep_layers(const LayerChoice& choice) {
  std::vector<std::string> names;
  for (const AttentionLayer& layer : whole_) names.push_back(layer.name);
  std::vector<AttentionLayer> whole;
  std::vector<StoredLayer> stored;
  for (const std::size_t place : choice.places(names)) {
    whole.push_back(std::move(whole_[place]));
    stored.push_back(std::move(stored_[place]));
  }
  layers_ = whole;
  whole_ = std::move(whole);
  stored_ = std::move(stored);
}

void AttentionFile::choose(std::vector<TokenSpan> sequences) {
  if (options_.range.begin != 0 || options_.range.end)
    throw InputError("a range of tokens and sequences exclude each other");
  if (!sequences.empty() && std::any_of(whole_.begin(), whole_.end(),
                                        [](const auto& layer) { return !layer.same_length; }))
    throw InputError("samples with lengths of their own are not cut");
  SequenceSource::choose(std::move(sequences));
}

std::string AttentionFile::reading() const {
  ArrayReadings readings;
  std::vector<bool> told(arrays_.size());
  for (const StoredLayer& layer : stored_)
    for (const std::size_t array : layer.arrays) {
      if (told[array]) continue;
      told[array] = true;
      const StoredArray& stored = arrays_[array];
      Shape shape = stored.tensor.shape();  // in the usual order: put back as the file has it
      AttentionAxes usual = stored.axes;
      std::sort(usual.begin(), usual.end());
      Shape own;
      for (const AttentionAxis axis : stored.axes)
        own.push_back(shape[static_cast<std::size_t>(std::find(usual.begin(), usual.end(), axis) -
                                                     usual.begin())]);
      readings.add(own, stored.axes);
    }
  return readings.text(list_axis_ == AttentionAxis::kSample ? "sample" : "layer",
                       options_.axes.empty());
}

AttentionFile::StoredSample AttentionFile::sample_of(int layer, int sample) const {
  const StoredLayer& stored = stored_[static_cast<std::size_t>(layer)];
  const TokenSpan span =
      sequences_.empty() ? TokenSpan{sample, 0, 0} : sequences_[static_cast<std::size_t>(sample)];
  const auto place = static_cast<std::size_t>(span.sample);
  const bool shared = stored.samples.empty();
  const StoredArray& array = arrays_[stored.arrays[shared ? 0 : place]];
  const std::int64_t heads = layers_[static_cast<std::size_t>(layer)].heads;
  const std::int64_t size = heads * array.columns * array.columns;
  const std::int64_t number = shared ? span.sample : stored.samples[place];
  StoredSample found{&array, stored.first + number * size, number,
                     static_cast<int>(options_.range.begin),
                     static_cast<int>(options_.range.end.value_or(array.columns))};
  if (!sequences_.empty()) {
    found.begin = static_cast<int>(span.begin);
    found.end = static_cast<int>(span.end);
  }
  return found;
}

int AttentionFile::nodes(int layer, int sample) const {
  const StoredSample of = sample_of(layer, sample);
  return of.end - of.begin + extra_nodes(options_.missing_mass);
}

std::string AttentionFile::advice_on_layer(int layer) const {
  if (parameters_) {
    std::string advice = parameters_advice();
    advice.front() = 'T';  // of a sentence
    return advice;
  }
  std::vector<std::string> good;
  std::vector<std::string> others;
  for (int other = 0; other < static_cast<int>(whole_.size()); ++other) {
    const AttentionLayer& of = whole_[static_cast<std::size_t>(other)];
    bool attention = false;
    if (other != layer && of.tokens <= kMostTokensOfAdvice) try {
        Matrix head(nodes(other, 0), nodes(other, 0));
        read(other, 0, 0, head, false);
        attention = true;
      } catch (const InputError&) {
      }
    (attention ? good : others).push_back(of.name);
  }
  return good.empty() || layers_for(good, others).empty()
             ? std::string()
             : layers_advice(good, others, "hold attention");
}

AttentionCheck AttentionFile::check_of(int layer, const StoredSample& of, int head,
                                       bool advise) const {
  const StoredArray& array = *of.array;
  const int columns = array.columns;
  // Integers are exact, as far as double precision is.
  const FloatType type = float_type(array.tensor.info().dtype).value_or(FloatType::kFloat64);
  AttentionCheck check =
      attention_check(type, columns, options_.row_tolerance, option_mark("row_tolerance"));
  check.axes = fmt::format(", with the axes read as {}; change this with {}", to_string(array.axes),
                           option_mark("axes"));
  check.options.swap = swapped_axes(array.axes);
  check.name = array.where + stored_[static_cast<std::size_t>(layer)].number;
  if (stored_[static_cast<std::size_t>(layer)].samples.empty() ||
      has_axis(array.axes, AttentionAxis::kSample))
    check.name += fmt::format(", sample {}", of.sample);
  check.name += fmt::format(", head {}", head);
  check.missing_hint =
      "; " + option_mark("missing_mass") + " node assigns the missing mass to an extra node";
  if (advise) check.diagnosis = [this, layer] { return advice_on_layer(layer); };
  return check;
}

/// The rows of a sample in a file.
class AttentionFile::FileRows : public StoredRows {
 public:
  FileRows(const AttentionFile& file, int layer, const StoredSample& of)
      : file_(file), layer_(layer), of_(of) {}

  void read(int head, int i, int first, int last, double* into) const override {
    const std::int64_t columns = of_.array->columns;
    of_.array->tensor.read(of_.first + (head * columns + i) * columns + first, last - first, into);
  }
  AttentionCheck check(int head) const override { return file_.check_of(layer_, of_, head, true); }

 private:
  const AttentionFile& file_;
  int layer_;
  StoredSample of_;
};

std::unique_ptr<HeadRows> AttentionFile::rows(int layer, int sample) const {
  const StoredSample of = sample_of(layer, sample);
  const StoredArray& array = *of.array;
  const bool in_order = array.tensor.in_c_order();
  if (!in_order || array.tensor.compressed())
    throw InputError(
        fmt::format("{}: {} tokens do not fit into memory, and {}. Save the array {}, or raise {}",
                    array.where, array.columns,
                    in_order ? "a compressed array cannot be read row by row"
                             : "the keys of a query do not lie side by side",
                    in_order ? "without compression (.npy, .npz of numpy.savez, .safetensors)"
                             : "in C order with the axes (heads, query, key)",
                    option_mark("memory")));
  const RowLayout layout{array.columns, of.begin, of.end, !sequences_.empty(),
                         options_.missing_mass};
  return std::make_unique<HeadRows>(std::make_shared<FileRows>(*this, layer, of),
                                    layers_[static_cast<std::size_t>(layer)].heads, layout);
}

void AttentionFile::read(int layer, int sample, int head, Matrix& into, bool advise) const {
  const StoredSample of = sample_of(layer, sample);
  const StoredArray& array = *of.array;
  const int columns = array.columns;
  const AttentionCheck check = check_of(layer, of, head, advise);
  const int block_rows = rows_of_block(columns, of.end - of.begin);
  std::vector<double> block(static_cast<std::size_t>(block_rows) *
                            static_cast<std::size_t>(columns));
  const std::int64_t first = of.first + head * std::int64_t{columns} * columns;
  int block_begin = of.begin;
  int block_end = of.begin;
  const auto row = [&](int i) -> const double* {
    if (i < block_begin || i >= block_end) {
      block_begin = i;
      block_end = std::min(i + block_rows, of.end);
      array.tensor.read(first + std::int64_t{i} * columns,
                        std::int64_t{block_end - block_begin} * columns, block.data());
      for (int k = 0; !sequences_.empty() && k < block_end - block_begin; ++k)
        clear_padding(block.data() + std::ptrdiff_t{k} * columns, of.begin, of.end, columns);
    }
    return block.data() + std::ptrdiff_t{i - block_begin} * columns;
  };
  cut_attention(row, columns, of.begin, check, into, options_.missing_mass);
}

std::optional<FloatType> AttentionFile::own_elements(int layer) const {
  const StoredLayer& stored = stored_[static_cast<std::size_t>(layer)];
  const StoredArray& array = arrays_[stored.arrays.front()];
  const bool whole = stored.samples.empty() && sequences_.empty() &&
                     layers_[static_cast<std::size_t>(layer)].nodes() == array.columns;
  if (!whole || options_.row_tolerance || options_.missing_mass != MissingMass::kError)
    return std::nullopt;
  return float_type(array.tensor.info().dtype);
}

void AttentionFile::copy_heads(const AttentionPiece& piece, const HeadCopy& copy) {
  const std::optional<FloatType> type = own_elements(piece.layer);
  if (!type) return AttentionSource::copy_heads(piece, copy);
  const StoredSample of = sample_of(piece.layer, piece.sample);
  const int n = of.array->columns;
  const int block_rows = rows_of_block(n, n);
  const std::size_t row_bytes = static_cast<std::size_t>(n) * item_size(*type);
  std::vector<std::byte> block(static_cast<std::size_t>(block_rows) * row_bytes);
  LowerTriangle triangle(n, item_size(*type));
  for (int h = 0; h < layers_[static_cast<std::size_t>(piece.layer)].heads; ++h) {
    const std::int64_t first = of.first + h * std::int64_t{n} * n;
    for (int begin = 0; begin < n; begin += block_rows) {
      const int end = std::min(begin + block_rows, n);
      of.array->tensor.read_elements(first + std::int64_t{begin} * n, std::int64_t{end - begin} * n,
                                     block.data());
      for (int i = begin; i < end; ++i)
        triangle.set_row(i, block.data() + static_cast<std::size_t>(i - begin) * row_bytes);
    }
    copy(piece.layer, h, triangle.bytes());
  }
}

/// Reads the small heads of a sample when it is opened, large ones when they are wanted.
class FileReader : public AttentionReader {
 public:
  FileReader(const AttentionFile& file, WorkingMemory memory)
      : file_(file), memory_(std::move(memory)) {}

  void open(const AttentionPiece& piece) override {
    layer_ = piece.layer;
    const AttentionLayer& shape = file_.layers()[static_cast<std::size_t>(piece.layer)];
    const int nodes = file_.nodes(piece.layer, piece.sample);
    if (!heads_ || heads_->heads() != shape.heads || heads_->nodes() != nodes)
      heads_.emplace(shape.heads, nodes, memory_);
    heads_->start(
        [this, piece](int head, Matrix& into) {
          file_.read(piece.layer, piece.sample, head, into);
        },
        [this, piece] { return file_.rows(piece.layer, piece.sample); });
  }

  void visit(const LayerVisitor& visitor) override { visitor(layer_, *heads_); }

 private:
  const AttentionFile& file_;
  WorkingMemory memory_;
  int layer_ = 0;
  std::optional<SampleHeads> heads_;
};

std::unique_ptr<AttentionReader> AttentionFile::reader(const WorkingMemory& memory) {
  return std::make_unique<FileReader>(*this, memory);
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front())
        return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // equal but for leading zeros
}

std::vector<Tensor> choose_tensors(const TensorFile& file, const std::string& expression) {
  std::vector<Tensor> chosen;
  const NamePattern pattern(expression);
  for (const Tensor& tensor : file.tensors())
    if (expression.empty() || pattern.matches(tensor.name())) chosen.push_back(tensor);
  if (chosen.empty() && file.tensors().size() == 1 && file.tensors().front().name().empty())
    throw InputError(
        fmt::format("{}: the array has no name for {} to match. Choose layers by number",
                    file.path(), quoted_text(expression)));
  if (chosen.empty())
    throw InputError(expression.empty()
                         ? fmt::format("{}: there are no tensors in it", file.path())
                         : fmt::format("{}: no tensor's name matches {}: there are {}", file.path(),
                                       quoted_text(expression),
                                       names_to_choose_from(names_in(file.tensors()))));
  std::stable_sort(chosen.begin(), chosen.end(), [](const Tensor& a, const Tensor& b) {
    return natural_less(a.name(), b.name());
  });
  return chosen;
}

std::unique_ptr<SequenceSource> open_attention_file(const TensorFile& file,
                                                    const AttentionFileOptions& options) {
  return std::make_unique<AttentionFile>(file, options);
}

}  // namespace synergraph
