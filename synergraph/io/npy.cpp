#include "synergraph/io/npy.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxNpyHeader = std::size_t{1} << 20U;

/// The element types as NumPy writes them after the byte order.
constexpr NameTable<DType, 12> kNpyTypes{{
    {DType::kBool, "b1"},
    {DType::kUInt8, "u1"},
    {DType::kInt8, "i1"},
    {DType::kUInt16, "u2"},
    {DType::kInt16, "i2"},
    {DType::kUInt32, "u4"},
    {DType::kInt32, "i4"},
    {DType::kUInt64, "u8"},
    {DType::kInt64, "i8"},
    {DType::kFloat16, "f2"},
    {DType::kFloat32, "f4"},
    {DType::kFloat64, "f8"},
}};

/// The dictionary in the header.
struct Fields {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
  bool structured = false;  ///< descr is a list: an array of records
};

/// Reads the header's Python dictionary: exactly the keys descr, fortran_order and shape, with a
/// string, a boolean and a tuple of integers.
class DictParser {
 public:
  DictParser(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  Fields parse() {
    Fields fields;
    expect('{');
    while (!accept('}')) {
      const std::string key(string());
      expect(':');
      if (key == "descr" && !fields.descr) {
        fields.structured = peek() == '[';
        if (fields.structured) return fields;
        fields.descr = string();
      } else if (key == "fortran_order" && !fields.fortran_order) {
        fields.fortran_order = boolean();
      } else if (key == "shape" && !fields.shape) {
        fields.shape = tuple();
      } else {
        fail("an unexpected key " + quoted_text(key));
      }
      if (!accept(',') && peek() != '}') fail("no comma");
    }
    if (peek() != '\0') fail("text after the dictionary");
    if (!fields.descr || !fields.fortran_order || !fields.shape) {
      fail("not all of descr, fortran_order and shape");
    }
    return fields;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: .npy header: {}", where_, what));
  }

  /// The next character that is not white space; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool accept(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}' at byte {}", c, at_));
  }

  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(fmt::format("expected a string at byte {}", at_));
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail("a string without an end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool boolean() {
    (void)peek();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true},
                                      std::pair<std::string_view, bool>{"False", false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("fortran_order is neither True nor False");
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kMaxRank) fail(fmt::format("more than {} dimensions", kMaxRank));
      shape.push_back(integer());
      (void)accept('L');  // Python 2 wrote long integers so
      if (!accept(',') && peek() != ')') fail("no comma in the shape");
    }
    return shape;
  }

  std::int64_t integer() {
    (void)peek();
    std::int64_t value = 0;
    const std::size_t length = parse_leading_number(text_.substr(at_), value);
    if (length == 0 || value < 0) fail("a shape that is not of integers from 0 to 2^63");
    at_ += length;
    return value;
  }

  std::string_view text_;
  std::string where_;
  std::size_t at_ = 0;
};

struct ElementType {
  DType dtype;
  ByteOrder order;
};

std::optional<ElementType> parse_descr(std::string_view descr) {
  if (descr.empty()) return {};
  ByteOrder order = ByteOrder::kLittle;
  if (std::string_view("<>|=").find(descr.front()) != std::string_view::npos) {
    if (descr.front() == '>') order = ByteOrder::kBig;
    descr.remove_prefix(1);
  }
  if (descr == "?") descr = "b1";
  const std::optional<DType> dtype = find_value(kNpyTypes, descr);
  return dtype ? std::optional(ElementType{*dtype, order}) : std::nullopt;
}

/// Reads the fixed part of the header; returns where the dictionary begins and its length.
std::pair<std::uint64_t, std::size_t> dictionary_place(const ByteSource& bytes,
                                                       const std::string& where) {
  if (bytes.size() < 10 || bytes.read_string(0, kMagic.size()) != kMagic) {
    throw InputError(where + ": not in the .npy format: it does not begin with \\x93NUMPY");
  }
  std::array<unsigned char, 6> fixed{};
  bytes.read(6, fixed.data(), 4);
  const int version = fixed[0];
  if (version < 1 || version > 3 || fixed[1] != 0) {
    throw InputError(fmt::format("{}: .npy version {}.{}: only 1.0, 2.0 and 3.0 are read", where,
                                 version, fixed[1]));
  }
  std::size_t length = fixed[2] + 256U * fixed[3];
  std::uint64_t begin = 10;
  if (version > 1) {
    bytes.read(6, fixed.data(), 6);
    length |=
        (static_cast<std::size_t>(fixed[4]) << 16U) | (static_cast<std::size_t>(fixed[5]) << 24U);
    begin = 12;
  }
  if (length > kMaxNpyHeader || length > bytes.size() - begin) {
    throw InputError(fmt::format("{}: the .npy header's length {} is beyond {}", where, length,
                                 length > kMaxNpyHeader ? "the limit of 1 MiB" : "the end"));
  }
  return {begin, length};
}

std::string header_of(const std::string& descr, const std::string& shape) {
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  constexpr std::size_t kFixed = 10;
  dictionary.resize((kFixed + dictionary.size() + 1 + 63) / 64 * 64 - kFixed - 1, ' ');
  dictionary += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xffU),
             static_cast<char>(dictionary.size() >> 8U)};
  return header + dictionary;
}

}  // namespace

NpyArray parse_npy(const ByteSourcePtr& bytes, const std::string& name) {
  const std::string where =
      name.empty() ? bytes->name() : fmt::format("{}: tensor {}", bytes->name(), quoted_text(name));
  const auto [begin, length] = dictionary_place(*bytes, where);
  const std::string text = bytes->read_string(begin, length);
  Fields fields = DictParser(text, where).parse();
  if (fields.structured) return {{}, "an array of records is not read"};
  const std::optional<ElementType> type = parse_descr(*fields.descr);
  if (!type)
    return {{},
            fmt::format("dtype {} is not read{}", quoted_text(*fields.descr),
                        *fields.descr == "|O" ? ": the array holds Python objects. Save arrays of "
                                                "numbers with numpy.savez(path, *arrays)"
                                              : "")};

  const std::optional<std::int64_t> count = element_count(*fields.shape);
  if (!count) {
    throw InputError(fmt::format("{}: the shape {} is too large", where, to_string(*fields.shape)));
  }
  const std::uint64_t expected = static_cast<std::uint64_t>(*count) * item_size(type->dtype);
  const std::uint64_t found = bytes->size() - begin - length;
  if (expected != found) {
    throw InputError(fmt::format("{}: {} {} takes {} bytes, {} follow the header", where,
                                 name_of(type->dtype), to_string(*fields.shape), expected, found));
  }
  TensorLayout layout;
  layout.offset = begin + length;
  layout.order = type->order;
  layout.strides =
      *fields.fortran_order ? fortran_strides(*fields.shape) : c_strides(*fields.shape);
  return {Tensor({name, type->dtype, std::move(*fields.shape)}, bytes, std::move(layout)), ""};
}

TensorFileContents read_npy(const ByteSourcePtr& bytes) {
  NpyArray array = parse_npy(bytes, "");
  if (!array.tensor) throw InputError(fmt::format("{}: {}", bytes->name(), array.reason));
  TensorFileContents contents;
  contents.tensors.push_back(std::move(*array.tensor));
  return contents;
}

std::string npy_header(const TensorInfo& info) {
  const std::string_view type = find_name(kNpyTypes, info.dtype);
  if (type.empty()) {
    throw InputError(fmt::format("tensor {}: {} cannot be written as .npy", quoted_text(info.name),
                                 name_of(info.dtype)));
  }
  return header_of(fmt::format("{}{}", item_size(info.dtype) == 1 ? '|' : '<', type),
                   to_string(info.shape));
}

std::string npy_text_header(std::size_t length) {
  return header_of(fmt::format("|S{}", length), "()");
}

void write_npy(const std::string& path, const TensorData& tensor) {
  stream_npy(path, streams_of({&tensor, 1}).front());
}

void stream_npy(const std::string& path, const TensorStream& tensor) {
  if (!element_count(tensor.info.shape)) {
    throw InputError(
        fmt::format("{}: the shape {} is too large", path, to_string(tensor.info.shape)));
  }
  const std::string header = npy_header(tensor.info);
  AtomicFile file(path);
  file.write(header);
  write_stream(file, tensor);
  file.commit();
}

}  // namespace synergraph
