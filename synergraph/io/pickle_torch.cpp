#include "synergraph/io/pickle_torch.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"

namespace synergraph::pickle {
namespace {

constexpr NameTable<DType, 12> kStorages{{
    {DType::kBool, "torch.BoolStorage"},
    {DType::kUInt8, "torch.ByteStorage"},
    {DType::kInt8, "torch.CharStorage"},
    {DType::kInt16, "torch.ShortStorage"},
    {DType::kInt32, "torch.IntStorage"},
    {DType::kInt64, "torch.LongStorage"},
    {DType::kFloat16, "torch.HalfStorage"},
    {DType::kBFloat16, "torch.BFloat16Storage"},
    {DType::kFloat32, "torch.FloatStorage"},
    {DType::kFloat64, "torch.DoubleStorage"},
    {DType::kUInt8, "torch.UntypedStorage"},
    {DType::kUInt8, "torch.storage.UntypedStorage"},
}};

constexpr std::array<std::string_view, 11> kOthers{"collections.OrderedDict",
                                                   "torch._utils._rebuild_tensor",
                                                   "torch._utils._rebuild_tensor_v2",
                                                   "torch._utils._rebuild_tensor_v3",
                                                   "torch._utils._rebuild_parameter",
                                                   "torch._utils._rebuild_parameter_with_state",
                                                   "torch._tensor._rebuild_from_type_v2",
                                                   "torch.Tensor",
                                                   "torch.nn.parameter.Parameter",
                                                   "torch.Size",
                                                   "torch.device"};

std::optional<DType> element_type(std::string_view global) {
  constexpr std::string_view kModule = "torch.";
  if (!global.starts_with(kModule)) return {};
  return parse_name<DType>(global.substr(kModule.size()));
}

/// The arguments of one call, checked as they are taken.
class Arguments {
 public:
  Arguments(const Document& document, std::string_view global, Ref tuple, const std::string& where)
      : document_(document), global_(global), where_(where) {
    const Node& node = document.nodes[tuple];
    if (node.kind != Kind::kTuple) fail();
    items_ = &node.items;
  }

  [[noreturn]] void fail() const {
    throw InputError(fmt::format("{}: unexpected arguments for {}", where_, quoted_text(global_)));
  }

  std::size_t count() const { return items_->size(); }
  Ref ref(std::size_t i) const {
    if (i >= items_->size()) fail();
    return (*items_)[i];
  }
  const Node& node(std::size_t i) const { return document_.nodes[ref(i)]; }
  const Node& node(std::size_t i, Kind kind) const {
    if (node(i).kind != kind) fail();
    return node(i);
  }
  std::vector<std::int64_t> integers(std::size_t i) const {
    const Node& tuple = node(i, Kind::kTuple);
    if (tuple.items.size() > kMaxRank) fail();
    std::vector<std::int64_t> values;
    for (const Ref item : tuple.items) {
      if (document_.nodes[item].kind != Kind::kInt) fail();
      values.push_back(document_.nodes[item].integer);
    }
    return values;
  }

 private:
  const Document& document_;
  std::string_view global_;
  const std::string& where_;
  const std::vector<Ref>* items_ = nullptr;
};

/// _rebuild_tensor(storage, first, shape, strides), _v2 (..., requires_grad, hooks) and
/// _v3 (..., requires_grad, hooks, dtype): the last three make no difference to the elements, but
/// for _v3, whose storage has no type.
Ref rebuild_tensor(Document& document, const Arguments& arguments, bool typed,
                   const std::string& where) {
  StoredTensor tensor;
  tensor.storage = static_cast<std::size_t>(arguments.node(0, Kind::kStorage).integer);
  tensor.dtype = document.storages[tensor.storage].dtype;
  tensor.first = arguments.node(1, Kind::kInt).integer;
  tensor.shape = arguments.integers(2);
  tensor.strides = arguments.integers(3);
  if (!typed) {
    const std::optional<DType> dtype = element_type(arguments.node(6, Kind::kGlobal).text);
    if (!dtype) arguments.fail();
    tensor.dtype = *dtype;
  }
  document.tensors.push_back(std::move(tensor));
  Node node;
  node.kind = Kind::kTensor;
  node.integer = static_cast<std::int64_t>(document.tensors.size() - 1);
  return add_node(document, std::move(node), where);
}

/// _rebuild_from_type_v2(function, type, arguments, state) is function(*arguments) with attributes.
Ref rebuild_from_type(Document& document, const Arguments& arguments, const std::string& where) {
  const std::string function = arguments.node(0, Kind::kGlobal).text;
  const std::string& type = arguments.node(1, Kind::kGlobal).text;
  const bool rebuilds = function.starts_with("torch._utils._rebuild_");
  if (!rebuilds || (type != "torch.Tensor" && type != "torch.nn.parameter.Parameter")) {
    arguments.fail();
  }
  return call(document, function, arguments.ref(2), where);
}

}  // namespace

bool is_known_global(std::string_view name) {
  return find_value(kStorages, name) || element_type(name) ||
         std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

Ref call(Document& document, const std::string& global, Ref arguments_ref,
         const std::string& where) {
  const Arguments arguments(document, global, arguments_ref, where);
  if (global == "collections.OrderedDict" && arguments.count() == 0) {
    Node node;
    node.kind = Kind::kDict;
    return add_node(document, std::move(node), where);
  }
  if (global == "torch._utils._rebuild_tensor" || global == "torch._utils._rebuild_tensor_v2") {
    return rebuild_tensor(document, arguments, true, where);
  }
  if (global == "torch._utils._rebuild_tensor_v3") {
    return rebuild_tensor(document, arguments, false, where);
  }
  if (global == "torch._utils._rebuild_parameter" ||
      global == "torch._utils._rebuild_parameter_with_state") {
    (void)arguments.node(0, Kind::kTensor);
    return arguments.ref(0);
  }
  if (global == "torch._tensor._rebuild_from_type_v2") {
    return rebuild_from_type(document, arguments, where);
  }
  if (global == "torch.Size" && arguments.node(0).kind == Kind::kTuple) return arguments.ref(0);
  if (global == "torch.device" && arguments.node(0).kind == Kind::kString) return arguments.ref(0);
  arguments.fail();
}

Ref persistent(Document& document, Ref id, const std::string& where) {
  const Arguments arguments(document, "persistent id", id, where);
  if (arguments.node(0, Kind::kString).text != "storage") arguments.fail();
  const std::optional<DType> dtype = find_value(kStorages, arguments.node(1, Kind::kGlobal).text);
  const std::int64_t elements = arguments.node(4, Kind::kInt).integer;
  if (!dtype || elements < 0) arguments.fail();
  document.storages.push_back({arguments.node(2, Kind::kString).text, *dtype, elements});
  Node node;
  node.kind = Kind::kStorage;
  node.integer = static_cast<std::int64_t>(document.storages.size() - 1);
  return add_node(document, std::move(node), where);
}

}  // namespace synergraph::pickle
