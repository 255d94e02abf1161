#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "synergraph/report/page_attention.h"
#include "synergraph/report/page_writer.h"

namespace synergraph {

/// Which heads of a source go into a page, and where.
class PlacedAttention {
 public:
  explicit PlacedAttention(const PageAttention& attention);

  bool empty() const { return layers_ == 0 || samples_ == 0; }

  /// What is left out, in a line; empty: nothing.
  std::string left_out() const;

  /// The page's `attention`.
  void write_json(PageWriter& writer) const;

  /// The page's arrays.
  void write_arrays(PageWriter& writer) const;

 private:
  const std::vector<AttentionLayer>& all() const { return attention_.source->layers(); }
  std::size_t head_bytes(int layer) const;
  std::size_t bytes(int layers, int samples) const;
  void place();
  void write_layer(PageWriter& writer, int layer) const;

  const PageAttention& attention_;
  std::size_t most_bytes_;
  int layers_ = 0;     // the first
  int samples_ = 0;    // the first
  bool full_ = false;  // more would go in if there were room
  int all_samples_ = 0;
  std::vector<AttentionPiece> pieces_;
  std::vector<std::vector<std::uint64_t>> offsets_;  // [layer][sample], of the first head
};

}  // namespace synergraph
