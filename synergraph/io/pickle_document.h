#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/io/dtype.h"
#include "synergraph/io/tensor_info.h"

namespace synergraph::pickle {

/// The largest number of objects in a pickle, in total or on the stack. The parser refuses larger
/// pickles.
inline constexpr std::size_t kMaxNodes = std::size_t{1} << 21U;

/// The index of a node in Document::nodes. Nodes may refer to each other in cycles.
using Ref = std::uint32_t;

enum class Kind {
  kNone,
  kBool,        ///< integer
  kInt,         ///< integer
  kBigInteger,  ///< an integer of more than 64 bits; its value is not kept
  kFloat,       ///< real
  kString,      ///< text
  kBytes,       ///< the content is not kept
  kList,        ///< items
  kTuple,       ///< items
  kSet,         ///< items
  kDict,        ///< items: key, value, key, value, ...
  kGlobal,      ///< text: "torch.float32"
  kStorage,     ///< integer: index in Document::storages
  kTensor,      ///< integer: index in Document::tensors
};

struct Node {
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Ref> items;
};

/// A block of elements outside the pickle, stored under a key.
struct Storage {
  std::string key;
  DType dtype = DType::kUInt8;  ///< kUInt8 for bytes without a type
  std::int64_t elements = 0;
};

/// A tensor as the pickle describes it: a view of a storage.
struct StoredTensor {
  std::size_t storage = 0;
  DType dtype = DType::kFloat32;
  std::int64_t first = 0;
  Shape shape;
  std::vector<std::int64_t> strides;
};

struct Document {
  std::vector<Node> nodes;
  std::vector<Storage> storages;
  std::vector<StoredTensor> tensors;
  Ref root = 0;
};

/// Adds a node. Throws InputError for more than kMaxNodes nodes.
Ref add_node(Document& document, Node node, const std::string& where);

}  // namespace synergraph::pickle
