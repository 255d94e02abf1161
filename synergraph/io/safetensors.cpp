#include "synergraph/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLengthSize = 8;
constexpr std::uint64_t kMaxJsonHeader = 100'000'000;
constexpr std::string_view kMetadataKey = "__metadata__";

constexpr NameTable<DType, 13> kSafetensorsTypes{{
    {DType::kBool, "BOOL"},
    {DType::kUInt8, "U8"},
    {DType::kInt8, "I8"},
    {DType::kUInt16, "U16"},
    {DType::kInt16, "I16"},
    {DType::kUInt32, "U32"},
    {DType::kInt32, "I32"},
    {DType::kUInt64, "U64"},
    {DType::kInt64, "I64"},
    {DType::kFloat16, "F16"},
    {DType::kBFloat16, "BF16"},
    {DType::kFloat32, "F32"},
    {DType::kFloat64, "F64"},
}};

/// One entry of the header, as written there.
struct Entry {
  std::string name;
  std::optional<std::string> type;
  std::optional<Shape> shape;
  std::optional<Shape> offsets;
};

/// Takes the header apart event by event: it has three levels, so no tree is built, and neither
/// deep nesting nor a key given twice can do harm.
class HeaderHandler final : public nlohmann::json_sax<json> {
 public:
  explicit HeaderHandler(const std::string& file) : file_(file) {}

  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  bool null() override { refuse("null"); }
  bool boolean(bool /*value*/) override { refuse("a boolean"); }
  bool number_float(double /*value*/, const std::string& /*text*/) override {
    refuse("a number that is not a 64-bit integer");
  }
  bool number_integer(std::int64_t /*value*/) override { refuse("a negative number"); }
  bool binary(json::binary_t& /*value*/) override { refuse("binary data"); }

  bool number_unsigned(std::uint64_t value) override {
    if (place_ != Place::kShape && place_ != Place::kOffsets) refuse("a number");
    if (!std::in_range<std::int64_t>(value)) refuse("a number above the largest int64");
    Shape& list = place_ == Place::kShape ? *entries.back().shape : *entries.back().offsets;
    if (list.size() >= kMaxRank) refuse("a list of too many numbers");
    list.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::kMetadata) {
      if (!metadata.emplace(key_, value).second) twice(key_);
    } else if (place_ == Place::kEntry && key_ == "dtype") {
      set(entries.back().type, std::move(value));
    } else {
      refuse("a string");
    }
    return true;
  }

  bool start_object(std::size_t /*elements*/) override {
    if (place_ == Place::kOutside) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == kMetadataKey) {
      if (std::exchange(has_metadata_, true)) twice(key_);
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      if (entries.size() >= kMaxTensors) refuse("more than a million tensors");
      if (!names_.insert(key_).second) twice(key_);
      entries.push_back({key_, {}, {}, {}});
      place_ = Place::kEntry;
    } else {
      refuse("an object");
    }
    return true;
  }

  bool key(std::string& value) override {
    key_ = std::move(value);
    return true;
  }

  bool end_object() override {
    place_ = place_ == Place::kTop ? Place::kOutside : Place::kTop;
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    if (place_ == Place::kEntry && key_ == "shape") {
      set(entries.back().shape, Shape{});
      place_ = Place::kShape;
    } else if (place_ == Place::kEntry && key_ == "data_offsets") {
      set(entries.back().offsets, Shape{});
      place_ = Place::kOffsets;
    } else {
      refuse("a list");
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::kEntry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    throw InputError(
        fmt::format("{}: the header is not JSON at byte {}", file_, kLengthSize + position));
  }

 private:
  enum class Place { kOutside, kTop, kMetadata, kEntry, kShape, kOffsets };

  std::string where() const {
    const bool inside = place_ != Place::kTop && place_ != Place::kMetadata && !entries.empty();
    if (inside)
      return fmt::format("{}: tensor {}: header", file_, quoted_text(entries.back().name));
    return fmt::format("{}: header", file_);
  }

  [[noreturn]] void refuse(const char* what) const {
    const std::string key = key_.empty() ? "" : fmt::format(" at key {}", quoted_text(key_));
    throw InputError(fmt::format("{}: unexpected {}{}", where(), what, key));
  }

  [[noreturn]] void twice(const std::string& name) const {
    throw InputError(fmt::format("{}: header: {} occurs twice", file_, quoted_text(name)));
  }

  template <class T>
  void set(std::optional<T>& field, T value) {
    if (field) twice(key_);
    field = std::move(value);
  }

  const std::string& file_;
  Place place_ = Place::kOutside;
  std::string key_;
  bool has_metadata_ = false;
  std::set<std::string> names_;
};

/// Checks one entry against the data that it claims. Returns its range of bytes.
std::pair<std::uint64_t, std::uint64_t> check_range(const std::string& file, const Entry& entry,
                                                    std::uint64_t data_size) {
  const auto fail = [&](const std::string& what) {
    throw InputError(fmt::format("{}: tensor {}: {}", file, quoted_text(entry.name), what));
  };
  if (!entry.type) fail("no dtype");
  if (!entry.shape) fail("no shape");
  if (!entry.offsets || entry.offsets->size() != 2) fail("data_offsets are not two numbers");
  const auto begin = static_cast<std::uint64_t>((*entry.offsets)[0]);
  const auto end = static_cast<std::uint64_t>((*entry.offsets)[1]);
  if (begin > end || end > data_size) {
    fail(fmt::format("data_offsets [{}, {}] do not lie in the {} bytes of data", begin, end,
                     data_size));
  }
  const std::optional<std::int64_t> count = element_count(*entry.shape);
  if (!count) fail(fmt::format("the shape {} is too large", to_string(*entry.shape)));
  const std::optional<DType> dtype = find_value(kSafetensorsTypes, *entry.type);
  const std::uint64_t bytes = dtype ? static_cast<std::uint64_t>(*count) * item_size(*dtype) : 0;
  if (dtype && bytes != end - begin) {
    fail(fmt::format("{} {} takes {} bytes, data_offsets give {}", *entry.type,
                     to_string(*entry.shape), bytes, end - begin));
  }
  return {begin, end};
}

/// Every byte of data belongs to exactly one tensor.
void check_cover(const std::string& file, const std::vector<Entry>& entries,
                 std::uint64_t data_size) {
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, const Entry*>> ranges;
  ranges.reserve(entries.size());
  for (const Entry& entry : entries) {
    ranges.emplace_back(check_range(file, entry, data_size), &entry);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::uint64_t end = 0;
  for (const auto& [range, entry] : ranges) {
    if (range.first != end) {
      throw InputError(fmt::format("{}: tensor {}: its data {}", file, quoted_text(entry->name),
                                   range.first < end ? "overlaps another tensor's"
                                                     : "does not follow the tensor before it"));
    }
    end = range.second;
  }
  if (end != data_size) {
    throw InputError(
        fmt::format("{}: {} bytes of data belong to no tensor", file, data_size - end));
  }
}

/// A JSON string. InputError when the text is not UTF-8.
std::string json_string(const std::string& path, const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    throw InputError(fmt::format("{}: cannot write {}: not UTF-8", path, quoted_text(text)));
  }
}

std::string header_text(const std::string& path, const std::vector<const TensorStream*>& tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<std::string> parts;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(metadata.size());
    for (const auto& [key, value] : metadata) {
      pairs.push_back(json_string(path, key) + ":" + json_string(path, value));
    }
    parts.push_back(fmt::format("\"{}\":{{{}}}", kMetadataKey, fmt::join(pairs, ",")));
  }
  std::uint64_t offset = 0;
  for (const TensorStream* tensor : tensors) {
    const TensorInfo& info = tensor->info;
    const std::uint64_t end = offset + static_cast<std::uint64_t>(info.bytes());
    parts.push_back(fmt::format(
        R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json_string(path, info.name),
        find_name(kSafetensorsTypes, info.dtype), fmt::join(info.shape, ","), offset, end));
    offset = end;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(parts, ","));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

TensorFileContents read_safetensors(const ByteSourcePtr& bytes) {
  const std::string& file = bytes->name();
  std::uint64_t length = 0;
  if (bytes->size() < kLengthSize) throw InputError(file + ": too short for a safetensors file");
  bytes->read(0, &length, kLengthSize);
  if (length > kMaxJsonHeader || length > bytes->size() - kLengthSize) {
    throw InputError(
        fmt::format("{}: the header's length {} is beyond {}", file, length,
                    length > kMaxJsonHeader ? "the limit of 100 MB" : "the file's end"));
  }
  HeaderHandler handler(file);
  {
    const std::string text = bytes->read_string(kLengthSize, static_cast<std::size_t>(length));
    json::sax_parse(text.data(), text.data() + text.size(), &handler);
  }
  const std::uint64_t data_begin = kLengthSize + length;
  check_cover(file, handler.entries, bytes->size() - data_begin);

  TensorFileContents contents;
  contents.metadata = std::move(handler.metadata);
  for (Entry& entry : handler.entries) {
    const std::optional<DType> dtype = find_value(kSafetensorsTypes, *entry.type);
    if (!dtype) {
      contents.skipped.push_back(
          {std::move(entry.name), fmt::format("dtype {} is not read", quoted_text(*entry.type))});
      continue;
    }
    TensorLayout layout;
    layout.offset = data_begin + static_cast<std::uint64_t>((*entry.offsets)[0]);
    layout.strides = c_strides(*entry.shape);
    contents.tensors.emplace_back(
        TensorInfo{std::move(entry.name), *dtype, std::move(*entry.shape)}, bytes,
        std::move(layout));
  }
  return contents;
}

void write_safetensors(const std::string& path, std::span<const TensorData> tensors,
                       const std::map<std::string, std::string>& metadata, NamedBy named_by) {
  stream_safetensors(path, streams_of(tensors), metadata, named_by);
}

void stream_safetensors(const std::string& path, std::span<const TensorStream> tensors,
                        const std::map<std::string, std::string>& metadata, NamedBy named_by) {
  std::vector<const TensorStream*> sorted;
  std::set<std::string_view> names{kMetadataKey};
  for (const TensorStream& tensor : tensors) {
    if (!names.insert(tensor.info.name).second) {
      throw InputError(fmt::format("{}: the tensor name {} is reserved or occurs twice", path,
                                   quoted_text(tensor.info.name)));
    }
    sorted.push_back(&tensor);
  }
  std::sort(sorted.begin(), sorted.end(), [](const TensorStream* a, const TensorStream* b) {
    const std::size_t size_a = item_size(a->info.dtype);
    const std::size_t size_b = item_size(b->info.dtype);
    return size_a != size_b ? size_a > size_b : a->info.name < b->info.name;
  });
  const std::string header = header_text(path, sorted, metadata);
  const std::uint64_t length = header.size();
  AtomicFile file(path, named_by);
  file.write(&length, sizeof length);
  file.write(header);
  for (const TensorStream* tensor : sorted) write_stream(file, *tensor);
  file.commit();
}

}  // namespace synergraph
