#include "synergraph/io/pickle_document.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/core/error.h"

namespace synergraph::pickle {

Ref add_node(Document& document, Node node, const std::string& where) {
  if (document.nodes.size() >= kMaxNodes) {
    throw InputError(fmt::format("{}: more than {} objects", where, kMaxNodes));
  }
  document.nodes.push_back(std::move(node));
  return static_cast<Ref>(document.nodes.size() - 1);
}

}  // namespace synergraph::pickle
