#include "synergraph/analysis/attention_file.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/analysis/lower_triangle.h"
#include "synergraph/analysis/name_pattern.h"
#include "synergraph/analysis/visit_samples.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/attention_rounding.h"

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

/// "there are 'a', 'b' and 10 more", to choose from.
std::string first_names(const TensorFile& file) {
  constexpr std::size_t kShown = 3;
  const std::size_t count = file.tensors().size();
  std::string text;
  for (std::size_t k = 0; k < std::min(count, kShown); ++k)
    text += (k == 0 ? "there are " : ", ") + quoted_text(file.tensors()[k].name());
  if (count == 0) return "there are none";
  return count > kShown ? fmt::format("{} and {} more", text, count - kShown) : text;
}

/// One layer in a file: (samples, heads, columns, columns) elements of a tensor from `first` on.
struct StoredLayer {
  Tensor tensor;
  std::int64_t first = 0;
  int columns = 0;
  std::string where;  ///< for messages
  std::string axes;   ///< for messages
};

class AttentionFile : public AttentionSource {
 public:
  AttentionFile(const TensorFile& file, AttentionFileOptions options)
      : options_(std::move(options)) {
    const std::vector<Tensor> chosen = choose_tensors(file, options_.layers);
    for (const Tensor& tensor : chosen) add(tensor, chosen.size() == 1);
  }

  std::string reading() const override;

  std::vector<AttentionPiece> pieces(int begin, int end) const override;

  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override;

  FloatType element_type(int layer) const override {
    return own_elements(layer).value_or(FloatType::kFloat64);
  }
  void copy_heads(const AttentionPiece& piece, const HeadCopy& copy) override;

  /// Reads one head.
  void read(int layer, int sample, int head, Matrix& into) const;

 private:
  /// Arrays of the same axes, for the reader.
  struct Reading {
    AttentionAxes axes;
    std::string shape;  ///< of the first
    int arrays = 0;
    bool other_shapes = false;
  };

  /// The type of a layer's elements, where rows are measured whole and as anyone would read them.
  std::optional<FloatType> own_elements(int layer) const;
  std::int64_t first_element(int layer, int sample, int head) const;
  void add(const Tensor& tensor, bool only);
  void note(const Tensor& tensor, const AttentionAxes& axes);

  AttentionFileOptions options_;
  std::vector<StoredLayer> stored_;
  std::vector<Reading> readings_;
};

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

void AttentionFile::add(const Tensor& tensor, bool only) {
  const std::size_t rank = tensor.shape().size();
  if (options_.axes.empty() && (rank < 2 || rank > 5))
    throw InputError(
        fmt::format("{}: shape {} is not that of attention: expected (heads, n, n), (samples, "
                    "heads, n, n) or (layers, samples, heads, n, n)",
                    tensor.where(), to_string(tensor.shape())));
  const AttentionAxes axes = options_.axes.empty() ? default_axes(rank) : options_.axes;
  const OrderedAttention attention = order_attention(tensor, axes);
  note(tensor, axes);
  const auto heads = static_cast<int>(attention.heads);
  const auto samples = static_cast<int>(attention.samples);
  const auto columns = static_cast<int>(attention.keys);
  const int end = checked_end(options_.range, columns, tensor.where());
  const bool layered = std::find(axes.begin(), axes.end(), AttentionAxis::kLayer) != axes.end();
  // Layers are numbered from 1; the tensor's name is left out where it says nothing.
  for (std::int64_t layer = 0; layer < attention.layers; ++layer) {
    std::string name = fmt::format("{}", layer + 1);
    std::string where = tensor.where();
    if (layered) where += ", layer " + name;
    if (!tensor.name().empty() && !layered) name = tensor.name();
    if (!tensor.name().empty() && layered && !only)
      name = fmt::format("{}/{}", tensor.name(), name);
    const std::int64_t first = layer * samples * heads * columns * columns;
    stored_.push_back({attention.tensor, first, columns, std::move(where), to_string(axes)});
    layers_.push_back({std::move(name), samples, heads,
                       end - static_cast<int>(options_.range.begin), options_.missing_mass});
  }
}

void AttentionFile::note(const Tensor& tensor, const AttentionAxes& axes) {
  const std::string shape = to_string(tensor.shape());
  auto known = std::find_if(readings_.begin(), readings_.end(),
                            [&](const Reading& reading) { return reading.axes == axes; });
  if (known == readings_.end()) known = readings_.insert(known, {axes, shape});
  ++known->arrays;
  known->other_shapes = known->other_shapes || known->shape != shape;
}

std::string AttentionFile::reading() const {
  std::string text;
  for (const Reading& reading : readings_) {
    if (!text.empty()) text += ", ";
    if (reading.arrays > 1) text += fmt::format("{} arrays of ", reading.arrays);
    text += fmt::format("shape {}{} read as {}", reading.shape,
                        reading.other_shapes ? " and others" : "", to_string(reading.axes));
  }
  return text + (options_.axes.empty() ? " (by default; --axes says otherwise)" : "");
}

void AttentionFile::read(int layer, int sample, int head, Matrix& into) const {
  const StoredLayer& stored = stored_[static_cast<std::size_t>(layer)];
  const int columns = stored.columns;
  // Integers are exact, as far as double precision is.
  const FloatType type = float_type(stored.tensor.info().dtype).value_or(FloatType::kFloat64);
  AttentionCheck check = attention_check(type, columns, options_.row_tolerance, "--row-tolerance");
  check.axes = fmt::format(", with the axes read as {}; --axes says otherwise", stored.axes);
  check.name = fmt::format("{}, sample {}, head {}", stored.where, sample, head);
  check.missing_hint = "; --missing-mass node gives the rest to a node of its own";

  const int begin = static_cast<int>(options_.range.begin);
  const int tokens = layers_[static_cast<std::size_t>(layer)].tokens;
  const int end = begin + tokens;
  const int block_rows = rows_of_block(columns, tokens);
  std::vector<double> block(static_cast<std::size_t>(block_rows) *
                            static_cast<std::size_t>(columns));
  const std::int64_t first = first_element(layer, sample, head);
  int block_begin = begin;
  int block_end = begin;
  const auto row = [&](int i) -> const double* {
    if (i >= block_end) {
      block_begin = i;
      block_end = std::min(i + block_rows, end);
      stored.tensor.read(first + std::int64_t{i} * columns,
                         std::int64_t{block_end - block_begin} * columns, block.data());
    }
    return block.data() + std::ptrdiff_t{i - block_begin} * columns;
  };
  cut_attention(row, columns, begin, check, into, options_.missing_mass);
}

std::int64_t AttentionFile::first_element(int layer, int sample, int head) const {
  const StoredLayer& stored = stored_[static_cast<std::size_t>(layer)];
  const std::int64_t heads = layers_[static_cast<std::size_t>(layer)].heads;
  return stored.first + (sample * heads + head) * std::int64_t{stored.columns} * stored.columns;
}

std::optional<FloatType> AttentionFile::own_elements(int layer) const {
  const StoredLayer& stored = stored_[static_cast<std::size_t>(layer)];
  const bool whole = layers_[static_cast<std::size_t>(layer)].nodes() == stored.columns;
  if (!whole || options_.row_tolerance || options_.missing_mass != MissingMass::kError)
    return std::nullopt;
  return float_type(stored.tensor.info().dtype);
}

void AttentionFile::copy_heads(const AttentionPiece& piece, const HeadCopy& copy) {
  const std::optional<FloatType> type = own_elements(piece.layer);
  if (!type) return AttentionSource::copy_heads(piece, copy);
  const StoredLayer& stored = stored_[static_cast<std::size_t>(piece.layer)];
  const int n = stored.columns;
  const int block_rows = rows_of_block(n, n);
  const std::size_t row_bytes = static_cast<std::size_t>(n) * item_size(*type);
  std::vector<std::byte> block(static_cast<std::size_t>(block_rows) * row_bytes);
  LowerTriangle triangle(n, item_size(*type));
  for (int h = 0; h < layers_[static_cast<std::size_t>(piece.layer)].heads; ++h) {
    const std::int64_t first = first_element(piece.layer, piece.sample, h);
    for (int begin = 0; begin < n; begin += block_rows) {
      const int end = std::min(begin + block_rows, n);
      stored.tensor.read_elements(first + std::int64_t{begin} * n, std::int64_t{end - begin} * n,
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
    if (!heads_ || heads_->heads() != shape.heads || heads_->nodes() != shape.nodes())
      heads_.emplace(shape.heads, shape.nodes(), memory_);
    heads_->start([this, piece](int head, Matrix& into) {
      file_.read(piece.layer, piece.sample, head, into);
    });
  }

  void visit(const LayerVisitor& visitor) override { visitor(layer_, *heads_); }

 private:
  const AttentionFile& file_;
  WorkingMemory memory_;
  int layer_ = 0;
  std::optional<SampleHeads> heads_;
};

std::vector<AttentionPiece> AttentionFile::pieces(int begin, int end) const {
  return pieces_by_layer(layers_, begin, end);
}

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
  if (chosen.empty())
    throw InputError(expression.empty()
                         ? fmt::format("{}: there are no tensors in it", file.path())
                         : fmt::format("{}: no tensor's name matches {}: {}", file.path(),
                                       quoted_text(expression), first_names(file)));
  std::stable_sort(chosen.begin(), chosen.end(), [](const Tensor& a, const Tensor& b) {
    return natural_less(a.name(), b.name());
  });
  return chosen;
}

std::unique_ptr<AttentionSource> open_attention_file(const TensorFile& file,
                                                     const AttentionFileOptions& options) {
  return std::make_unique<AttentionFile>(file, options);
}

}  // namespace synergraph
