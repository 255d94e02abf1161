#pragma once

#include <string>
#include <vector>

#include "synergraph/report/heads_results.h"

namespace synergraph {

/// How texts about heads call layers, heads and tokens: printable and short.
class HeadsNames {
 public:
  explicit HeadsNames(const HeadsReport& report);

  /// "layer 4", or a tensor's name; empty for a graph.
  const std::string& layer(std::size_t l) const { return layers_[l]; }
  /// "2", or the name of a graph's head.
  std::string head(int h) const;
  /// "head 2", "heads 2 and 7".
  std::string heads(const std::vector<int>& heads) const;
  /// "2", "heads 2 and 7" or, of more than a few, "5 of 16 heads".
  std::string few(const std::vector<int>& heads, std::size_t all) const;
  /// A set of rising heads in a cell: "0-3 5", "all but 4", "none".
  std::string set(const std::vector<int>& heads, std::size_t all) const;
  /// "token 3", or its name; "the missing mass" for the node of that.
  std::string node(int node) const;

 private:
  std::string ranges(const std::vector<int>& heads) const;

  std::vector<std::string> layers_;
  std::vector<std::string> heads_;
  std::vector<std::string> tokens_;
  int extra_nodes_ = 0;           // before the tokens
  std::int64_t first_token_ = 0;  // of a range, as the input counts
};

}  // namespace synergraph
