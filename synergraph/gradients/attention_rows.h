#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/heads/attention_view.h"
#include "synergraph/heads/device_view.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The attention of the heads of one system, which is read a block of rows at a time. Gradients
/// read it several times and never need all of it in memory.
class AttentionRows {
 public:
  virtual ~AttentionRows() = default;
  AttentionRows() = default;
  AttentionRows(const AttentionRows&) = delete;
  AttentionRows& operator=(const AttentionRows&) = delete;

  virtual int heads() const = 0;
  virtual int nodes() const = 0;
  /// Writes rows begin .. end - 1 of a head in double precision: `end` numbers a row, without gaps,
  /// zeros above the diagonal. Any number of threads may read.
  virtual void read(int head, int begin, int end, double* into) const = 0;
};

/// How attention in memory is checked.
struct AttentionRowsCheck {
  /// The largest distance of a row sum from 1, of an entry below 0, and of an entry above the
  /// diagonal from 0. Nothing: what the rounding of the element type explains.
  std::optional<double> row_tolerance = {};
  std::string name = "attention";  ///< the matrix's name in messages
};

/// Attention of one sample in memory that someone else owns, of any element type. Entries are taken
/// as they are: rows are checked, not renormalised, so that gradients are those of the entries.
class ViewRows final : public AttentionRows {
 public:
  /// The rows and columns of the span, whose last token is the sink. InputError names an entry
  /// that is no attention weight, and a row that does not sum to 1.
  ViewRows(const AttentionView& view, const TokenSpan& span, const AttentionRowsCheck& check = {});

  int heads() const override { return static_cast<int>(view_.heads); }
  int nodes() const override { return nodes_; }
  void read(int head, int begin, int end, double* into) const override;

 private:
  AttentionView view_;  // of the sample's first token in the span
  int nodes_ = 0;
};

/// Attention of one sample that is made from queries and keys, row i being the softmax over j <= i
/// of softcap(scale * q_i . k_j). Scores are made again whenever rows are read. With a soft cap two
/// numbers a row and head are kept.
class ScoreRows final : public AttentionRows {
 public:
  /// The tokens of the span: keys before the span count as padding, and are left out. Sink logits
  /// are not possible here. Reading throws InputError for a score that is not finite.
  ScoreRows(const QueryKeyView& view, const TokenSpan& span, const std::string& name = "attention");

  int heads() const override { return static_cast<int>(view_.heads); }
  int nodes() const override { return nodes_; }
  void read(int head, int begin, int end, double* into) const override;

  const QueryKeyView& view() const { return view_; }  ///< from the first token of the span on
  int key_head(int head) const { return static_cast<int>(head / (view_.heads / view_.key_heads)); }
  /// Writes rows of queries or keys in double precision, view().width numbers a row.
  void read_queries(int head, int begin, int end, double* into) const;
  void read_keys(int key_head, int begin, int end, double* into) const;

  /// Turns the gradient of probabilities into the gradient of q_i . k_j, for rows begin .. end - 1
  /// of `end` numbers: gradient = weight p (gradient - p . gradient) scale, times the slope of the
  /// soft cap. `probabilities` are those of read(). inner[i - begin] = p . gradient.
  void softmax_backward(int head, int begin, int end, double weight, const double* probabilities,
                        double* gradient, double* inner) const;

 private:
  void write_scores(int head, int begin, int end, double* into) const;
  std::pair<double, double> take_softmax(int head, int i, double* row) const;
  int first_key(int row) const;

  QueryKeyView view_;
  int nodes_ = 0;
  std::string name_;
  // Of soft-capped scores, heads x nodes:
  std::vector<double> shift_;  // the largest score of a row
  std::vector<double> share_;  // 1 / sum of exp(score - shift)
};

/// Combined attention D = sum_h w_h A_h, a block of rows at a time, and the weights' part of
/// gradients.
class CombinedRows {
 public:
  /// The weights are divided by their sum; none: equal weights. InputError where they cannot be.
  /// The rows must outlive this object.
  explicit CombinedRows(const AttentionRows& rows, std::span<const double> weights = {});

  const AttentionRows& rows() const { return rows_; }
  int nodes() const { return rows_.nodes(); }
  int heads() const { return rows_.heads(); }
  const std::vector<double>& weights() const { return weights_; }  ///< they sum to 1
  double given_sum() const { return given_sum_; }                  ///< of the weights as given

  /// Memory for blocks of rows.
  struct Buffer {
    std::vector<double> sum, head;
  };
  /// Rows begin .. end - 1 and columns 0 .. end - 1, valid until the next use of the buffer.
  ConstMatrixView read(int begin, int end, Buffer& buffer) const;

  /// visit(begin, end, rows) for blocks of the first `count` rows, from the first on or from the
  /// last on.
  template <class Visit>
  void visit_up(int count, const Visit& visit) const {
    Buffer buffer;
    for (int begin = 0; begin < count; begin += kBlock) {
      const int end = begin + kBlock < count ? begin + kBlock : count;
      visit(begin, end, read(begin, end, buffer));
    }
  }
  template <class Visit>
  void visit_down(int count, const Visit& visit) const {
    Buffer buffer;
    for (int end = count; end > 0;) {
      const int begin = (end - 1) / kBlock * kBlock;
      visit(begin, end, read(begin, end, buffer));
      end = begin;
    }
  }
  static constexpr int kBlock = 64;  ///< rows

 private:
  const AttentionRows& rows_;
  std::vector<double> weights_;
  double given_sum_ = 1.0;
};

}  // namespace synergraph
#pragma GCC visibility pop
