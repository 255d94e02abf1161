#include "synergraph/io/torch_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/pickle.h"

namespace synergraph {
namespace {

using pickle::Kind;
using pickle::Node;
using pickle::Ref;

constexpr std::uint64_t kMaxPickle = std::uint64_t{1} << 26U;
constexpr std::string_view kPickleName = "data.pkl";

bool is_pickle(std::string_view name) {
  return name == kPickleName || name.ends_with("/data.pkl");
}

/// The directory of data.pkl, with the slash; all records are under it.
std::string find_directory(const ZipArchive& archive) {
  const std::string* found = nullptr;
  for (const ZipArchive::Member& member : archive.members()) {
    const std::string& name = member.name;
    if (!is_pickle(name)) continue;
    if (found != nullptr) {
      throw InputError(fmt::format("{}: two pickles, {} and {}", archive.path(),
                                   quoted_text(*found), quoted_text(name)));
    }
    found = &name;
  }
  if (found == nullptr) throw InputError(archive.path() + ": no data.pkl in the archive");
  return found->substr(0, found->size() - kPickleName.size());
}

/// The bytes of a small record.
std::string read_record(const ZipArchive& archive, const ZipArchive::Member& member,
                        std::uint64_t limit) {
  if (member.size > limit) {
    throw InputError(fmt::format("{}: member {}: {} bytes, the limit is {}", archive.path(),
                                 quoted_text(member.name), member.size, limit));
  }
  return archive.bytes(member)->read_string(0, static_cast<std::size_t>(member.size));
}

ByteOrder read_byte_order(const ZipArchive& archive, const std::string& directory) {
  const ZipArchive::Member* member = archive.find(directory + "byteorder");
  if (member == nullptr) return ByteOrder::kLittle;  // before PyTorch 2.1 there was no record
  const std::string order = read_record(archive, *member, 16);
  if (order != "little" && order != "big") {
    throw InputError(fmt::format("{}: byteorder is {}, expected 'little' or 'big'", archive.path(),
                                 quoted_text(order)));
  }
  return order == "big" ? ByteOrder::kBig : ByteOrder::kLittle;
}

/// Walks the pickled object and collects its tensors and scalars under their paths. The walk is
/// bounded: objects may contain themselves, or each other many times over.
class Flattener {
 public:
  Flattener(const ZipArchive& archive, const pickle::Document& document, std::string directory,
            ByteOrder order)
      : archive_(archive), document_(document), directory_(std::move(directory)), order_(order) {}

  TensorFileContents run() {
    std::size_t items = 0;
    for (const Node& object : document_.nodes) items += object.items.size();
    max_visits_ = kMinVisits + kMaxUnfolding * items;
    entered_.assign(document_.nodes.size(), false);
    visit(document_.root, "", 0);
    return std::move(contents_);
  }

 private:
  static constexpr int kMaxDepth = 100;
  /// An object kept once and referred to from several places is visited as often. An honest file
  /// has few of those.
  static constexpr std::size_t kMinVisits = 20'000;
  static constexpr std::size_t kMaxUnfolding = 8;
  static constexpr std::size_t kMaxNameBytes = std::size_t{1} << 26U;  ///< all names and values
  static constexpr std::size_t kMaxName = 4096;
  static constexpr std::size_t kShownItems = 64;
  static constexpr std::size_t kShownText = std::size_t{1} << 16U;
  /// Views that repeat their storage's elements (expanded tensors) may be this large.
  static constexpr std::int64_t kMaxRepeated = std::int64_t{1} << 26U;

  const Node& node(Ref ref) const { return document_.nodes[ref]; }

  [[noreturn]] void fail(const std::string& name, const std::string& what) const {
    throw InputError(fmt::format("{}: {}: {}", archive_.path(), quoted_text(name), what));
  }

  void count(std::size_t visits, std::size_t bytes) {
    visits_ += visits;
    bytes_ += bytes;
    if (visits_ > max_visits_ || bytes_ > kMaxNameBytes) {
      throw InputError(
          fmt::format("{}: the pickled object unfolds beyond the limits", archive_.path()));
    }
  }

  void visit(Ref ref, const std::string& name, int depth) {
    if (depth > kMaxDepth) fail(name, "nested too deeply");
    if (name.size() > kMaxName) fail(name, "the name is too long");
    if (entered_[ref]) fail(name, "contains itself");
    count(1, 0);
    entered_[ref] = true;
    unfold(node(ref), name, depth);
    entered_[ref] = false;
  }

  void unfold(const Node& object, const std::string& name, int depth) {
    if (object.kind == Kind::kTensor) {
      add_tensor(document_.tensors[static_cast<std::size_t>(object.integer)], name);
    } else if (object.kind == Kind::kDict) {
      for (std::size_t i = 0; i + 1 < object.items.size(); i += 2) {
        visit(object.items[i + 1], join(name, key_text(object.items[i], i / 2)), depth + 1);
      }
    } else if (is_sequence(object) && !all_scalars(object)) {
      for (std::size_t i = 0; i < object.items.size(); ++i) {
        visit(object.items[i], join(name, std::to_string(i)), depth + 1);
      }
    } else {
      add_metadata(object, name);
    }
  }

  static bool is_sequence(const Node& object) {
    return object.kind == Kind::kList || object.kind == Kind::kTuple || object.kind == Kind::kSet;
  }

  bool all_scalars(const Node& sequence) {
    count(sequence.items.size(), 0);
    return std::all_of(sequence.items.begin(), sequence.items.end(), [&](Ref item) {
      const Node& object = node(item);
      return !is_sequence(object) && object.kind != Kind::kDict && object.kind != Kind::kTensor;
    });
  }

  static std::string join(const std::string& name, const std::string& key) {
    return name.empty() ? key : name + "." + key;
  }

  /// Keys are mostly text, numbers in an optimiser's state; others are known by their place.
  std::string key_text(Ref key, std::size_t place) const {
    if (node(key).kind == Kind::kString) return node(key).text;
    if (node(key).kind == Kind::kInt) return std::to_string(node(key).integer);
    return fmt::format("#{}", place);
  }

  std::string scalar_text(const Node& object) const {
    switch (object.kind) {
      case Kind::kNone:
        return "null";
      case Kind::kBool:
        return object.integer != 0 ? "true" : "false";
      case Kind::kInt:
        return std::to_string(object.integer);
      case Kind::kBigInteger:
        return "(an integer of more than 64 bits)";
      case Kind::kFloat:
        return fmt::format("{}", object.real);
      case Kind::kString:
        if (object.text.size() > kShownText) return fmt::format("({} bytes)", object.text.size());
        return object.text;
      case Kind::kGlobal:
        return object.text;
      case Kind::kStorage:
        return "(a storage)";
      default:
        return "(bytes)";
    }
  }

  void add_metadata(const Node& object, const std::string& name) {
    std::string text;
    if (!is_sequence(object)) {
      text = scalar_text(object);
    } else if (object.items.size() > kShownItems) {
      text = fmt::format("({} items)", object.items.size());
    } else {
      std::vector<std::string> items;
      for (const Ref item : object.items) items.push_back(scalar_text(node(item)));
      text = fmt::format("[{}]", fmt::join(items, ", "));
    }
    count(0, name.size() + text.size());
    if (!contents_.metadata.emplace(name, std::move(text)).second) fail(name, "occurs twice");
  }

  /// The bytes of a storage, opened once for all tensors that share it.
  const ByteSourcePtr& storage_bytes(const pickle::Storage& storage, const std::string& name) {
    ByteSourcePtr& bytes = storages_[storage.key];
    if (!bytes) {
      const ZipArchive::Member* member = archive_.find(directory_ + "data/" + storage.key);
      if (member == nullptr) fail(name, "no storage " + quoted_text(storage.key));
      if (member->compressed) fail(name, "its storage is compressed, which PyTorch never does");
      bytes = archive_.bytes(*member);
    }
    const std::uint64_t item = item_size(storage.dtype);
    if (bytes->size() % item != 0 ||
        bytes->size() / item != static_cast<std::uint64_t>(storage.elements)) {
      fail(name, fmt::format("storage {} has {} bytes, not {} {}", quoted_text(storage.key),
                             bytes->size(), storage.elements, name_of(storage.dtype)));
    }
    return bytes;
  }

  void add_tensor(const pickle::StoredTensor& stored, const std::string& name) {
    if (contents_.tensors.size() >= kMaxTensors) fail(name, "more than a million tensors");
    count(stored.shape.size(), name.size());
    const ByteSourcePtr& bytes = storage_bytes(document_.storages[stored.storage], name);
    TensorLayout layout;
    layout.order = order_;
    layout.first = stored.first;
    layout.strides = stored.strides;
    Tensor tensor({name, stored.dtype, stored.shape}, bytes, std::move(layout));
    const std::int64_t elements = tensor.info().elements();
    if (elements > kMaxRepeated &&
        static_cast<std::uint64_t>(tensor.info().bytes()) > bytes->size()) {
      fail(name, fmt::format("{} elements repeat a storage of {} bytes; save it with .contiguous()",
                             elements, bytes->size()));
    }
    contents_.tensors.push_back(std::move(tensor));
  }

  const ZipArchive& archive_;
  const pickle::Document& document_;
  std::string directory_;
  ByteOrder order_;
  TensorFileContents contents_;
  std::unordered_map<std::string, ByteSourcePtr> storages_;
  std::vector<bool> entered_;  ///< the objects on the way to the one being visited
  std::size_t max_visits_ = 0;
  std::size_t visits_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

bool is_torch_archive(const ZipArchive& archive) {
  return std::any_of(archive.members().begin(), archive.members().end(),
                     [](const ZipArchive::Member& member) { return is_pickle(member.name); });
}

TensorFileContents read_torch(const ZipArchive& archive) {
  const std::string directory = find_directory(archive);
  const std::string pickle_name = directory + std::string(kPickleName);
  const ByteOrder order = read_byte_order(archive, directory);
  pickle::Document document;
  {
    const std::string bytes = read_record(archive, *archive.find(pickle_name), kMaxPickle);
    document =
        pickle::parse(bytes, fmt::format("{}: {}", archive.path(), quoted_text(pickle_name)));
  }
  return Flattener(archive, document, directory, order).run();
}

}  // namespace synergraph
