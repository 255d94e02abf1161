#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "synergraph/graph/attention.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Heads as they are given, of which any row can be read at any time, from any thread.
class StoredRows {
 public:
  StoredRows() = default;
  StoredRows(const StoredRows&) = delete;
  StoredRows& operator=(const StoredRows&) = delete;
  virtual ~StoredRows() = default;

  /// Entries first .. last - 1 of row i of a head, in double precision.
  virtual void read(int head, int i, int first, int last, double* into) const = 0;

  /// What is wrong with a head, if something is.
  virtual AttentionCheck check(int head) const = 0;

  /// Memory that reading takes beside the rows.
  virtual double held_bytes() const { return 0.0; }
};

/// Where the nodes of heads are in their stored rows.
struct RowLayout {
  int columns = 0;      ///< stored keys of a row
  int begin = 0;        ///< the first token that is kept
  int end = 0;          ///< behind the last one
  bool padded = false;  ///< entries beyond may be anything: see clear_padding()
  MissingMass missing_mass = MissingMass::kError;
};

/// The heads of one system, exact causal attention each, a row at a time: see cut_attention(). The
/// first reading of a row checks the row.
class HeadRows {
 public:
  HeadRows(std::shared_ptr<const StoredRows> stored, int heads, const RowLayout& layout);

  int heads() const { return heads_; }
  int nodes() const { return layout_.end - layout_.begin + extra_; }
  double held_bytes() const { return stored_->held_bytes(); }
  /// Entries that `into` of the functions below must have room for.
  int width() const { return layout_.columns + extra_; }

  /// Reads row i for the first time, whole. Rows of a head may be read by several threads.
  /// InputError for what cut_attention() refuses.
  void read_first(int head, int i, double* into);
  /// Reads entries 0 .. i of row i again.
  void read_again(int head, int i, double* into) const;
  /// The first entry of a row that is not zero. For rows that were read.
  int first_entry(int head, int i) const { return row(head, i).first; }

 private:
  struct Row {
    double sum = 1.0;
    double missing = 0.0;
    int first = 0;
  };
  std::size_t place(int head, int i) const {
    return static_cast<std::size_t>(head) * static_cast<std::size_t>(nodes()) +
           static_cast<std::size_t>(i);
  }
  const Row& row(int head, int i) const { return rows_[place(head, i)]; }
  void divide(const Row& row, int count, const double* kept, double* into) const;

  std::shared_ptr<const StoredRows> stored_;
  int heads_;
  RowLayout layout_;
  int extra_;
  std::vector<Row> rows_;
};

}  // namespace synergraph
#pragma GCC visibility pop
