#include "synergraph/graph/attention_diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace synergraph {
namespace {

// Sums are compared with one as bfloat16, the coarsest type, would leave them.
constexpr double kNear = 0.02;
constexpr double kNegative = -1e-3;   // below: no rounding
constexpr double kMasked = -9900.0;   // at most this, of scores: a mask's number
constexpr int kMostTokens = 1 << 14;  // a matrix of more is not read again

bool near_one(double sum) {
  return std::abs(sum - 1.0) <= kNear;
}

bool is_share(double entry) {
  return entry >= kNegative && entry <= 1.0 + kNear;
}

/// What one row shows.
struct RowLook {
  bool shares = true;   ///< every entry is a probability
  bool finite = true;   ///< but for masks
  bool all_nan = true;  ///< every entry is NaN
  bool all_zero = true;
  bool uniform = true;       ///< every entry is the same share, later tokens' too
  bool masked_ahead = true;  ///< every later token is masked
  bool negative = false;     ///< an entry is, and is no mask
  double behind = 0.0;       ///< sum up to the diagonal
  double ahead = 0.0;        ///< sum behind the diagonal
  int zeros = 0;             ///< up to the diagonal
};

RowLook look_at(const double* row, int i, int n) {
  RowLook look;
  for (int j = 0; j < n; ++j) {
    const double entry = row[j];
    const bool masked = entry <= kMasked;
    look.shares = look.shares && is_share(entry);
    look.finite = look.finite && (masked || std::isfinite(entry));
    look.all_nan = look.all_nan && std::isnan(entry);
    look.all_zero = look.all_zero && entry == 0.0;
    look.uniform = look.uniform && near_one(entry * n);
    look.negative = look.negative || (!masked && entry < kNegative);
    if (j > i) {
      look.masked_ahead = look.masked_ahead && masked;
      look.ahead += entry;
    } else {
      look.behind += masked ? 0.0 : entry;
      look.zeros += entry == 0.0 ? 1 : 0;
    }
  }
  return look;
}

/// What all rows show together.
class Evidence {
 public:
  explicit Evidence(int n) : n_(n), columns_(static_cast<std::size_t>(n)) {}

  void add(const double* row, int i) {
    const RowLook look = look_at(row, i, n_);
    add_padding(look, row, i);
    finite_ = finite_ && look.finite;
    shares_ = shares_ && look.shares;
    all_masked_ = all_masked_ && look.masked_ahead;
    negative_ += look.negative ? 1 : 0;
    const double sum = look.behind + look.ahead;
    rows_of_one_ += near_one(sum) ? 1 : 0;
    behind_of_one_ += near_one(look.behind) ? 1 : 0;
    ahead_ += look.ahead > kNear ? 1 : 0;
    ahead_total_ += std::abs(look.ahead);
    off_ += near_one(look.behind) ? 0 : 1;
    zeros_ += look.zeros;
    largest_sum_ = std::max(largest_sum_, look.behind);
    smallest_sum_ = std::min(smallest_sum_, look.behind);
    if (look.zeros == 0) smallest_full_ = std::min(smallest_full_, look.behind);
    not_negative_ = not_negative_ && !look.negative && look.finite;
    if (i == 0) first_ = row[0];
    for (int j = 0; j < n_; ++j) {
      columns_[static_cast<std::size_t>(j)] += row[j];
      if (j < i) strictly_behind_ += std::abs(row[j]);
    }
  }

  AttentionDiagnosis diagnosis() const {
    if (n_ < 2) return {};
    if (scores())
      return {all_masked_ ? AttentionLikeness::kMaskedScores : AttentionLikeness::kScores};
    if (padding_ && valid_ > 0 && (leading_ > 0) != (trailing_ > 0))
      return leading_ > 0 ? AttentionDiagnosis{AttentionLikeness::kPaddedLeft, leading_}
                          : AttentionDiagnosis{AttentionLikeness::kPaddedRight, trailing_};
    if (shares_) {
      const bool columns = std::all_of(columns_.begin(), columns_.end(), near_one);
      const bool many_ahead = 2 * ahead_ >= n_ - 1;
      if (rows_of_one_ == n_) {
        if (many_ahead) return {AttentionLikeness::kNotCausal};
      } else if (columns && many_ahead) {
        return {strictly_behind_ <= kNear ? AttentionLikeness::kTransposed
                                          : AttentionLikeness::kNotCausalTransposed};
      }
    }
    if (dropout()) return {AttentionLikeness::kDropout};
    return {};
  }

 private:
  /// Rows of padding hold nothing, NaN, or the same share for every token, which is what softmax
  /// makes of a row that is masked as a whole. A mask that adds -10000 leaves other shares on the
  /// left, of later tokens too. No other token attends to padding.
  void add_padding(const RowLook& look, const double* row, int i) {
    const bool sees_ahead =
        valid_ == 0 && look.shares && look.ahead > kNear && near_one(look.behind + look.ahead);
    if (look.all_nan || look.all_zero || look.uniform || sees_ahead) {
      (valid_ == 0 ? leading_ : trailing_) += 1;
      return;
    }
    double to_padding = 0.0;
    for (int j = 0; j < std::min(leading_, i + 1); ++j) to_padding += std::abs(row[j]);
    const bool good = look.shares && near_one(look.behind) && std::abs(look.ahead) <= kNear &&
                      to_padding <= kNear;
    padding_ = padding_ && good && trailing_ == 0;
    ++valid_;
  }

  bool scores() const {
    const bool look_so = all_masked_ || 2 * negative_ >= n_;
    return finite_ && look_so && 4 * (all_masked_ ? behind_of_one_ : rows_of_one_) <= n_;
  }

  /// Dropout makes some entries zero and multiplies the others by 1 / (1 - p). The first row's
  /// only entry tells this factor, unless it is zero. Rows without zeros sum to the factor, the
  /// others to less.
  bool dropout() const {
    constexpr int kFewest = 3;
    constexpr double kLargestFactor = 10.0;
    const double factor = first_ > 0.0 ? first_ : largest_sum_;
    if (n_ < kFewest || !not_negative_ || ahead_total_ > kNear || factor <= 1.0 + kNear ||
        factor > kLargestFactor || largest_sum_ > factor * (1.0 + kNear) ||
        smallest_full_ < factor * (1.0 - kNear) || 3 * off_ < n_)
      return false;
    if (zeros_ > 0 && smallest_sum_ < factor * (1.0 - kNear)) return true;
    // In a short text every entry of some size may have been kept. Common values of p are
    // multiples of 0.05.
    constexpr double kUnlikely = 1e-3;
    const double p = 1.0 - 1.0 / factor;
    return std::abs(p - 0.05 * std::round(p / 0.05)) <= kNear / 4.0 &&
           std::pow(1.0 - p, 0.5 * n_ * (n_ + 1.0)) >= kUnlikely;
  }

  int n_;
  std::vector<double> columns_;  // their sums
  bool finite_ = true;
  bool shares_ = true;
  bool not_negative_ = true;
  bool all_masked_ = true;
  int negative_ = 0;       // rows with a negative entry
  int rows_of_one_ = 0;    // that sum to one
  int behind_of_one_ = 0;  // the same up to the diagonal
  int ahead_ = 0;          // rows that attend to later tokens
  double ahead_total_ = 0.0;
  double strictly_behind_ = 0.0;
  int off_ = 0;  // rows whose sum up to the diagonal is not one
  int zeros_ = 0;
  double largest_sum_ = 0.0;
  double smallest_sum_ = std::numeric_limits<double>::infinity();
  double smallest_full_ = std::numeric_limits<double>::infinity();  // of rows without zeros
  double first_ = 0.0;
  bool padding_ = true;  // so far
  int leading_ = 0;
  int valid_ = 0;
  int trailing_ = 0;
};

}  // namespace

AttentionDiagnosis diagnose_attention(const std::function<const double*(int i)>& row, int begin,
                                      int end) {
  const int n = end - begin;
  if (n > kMostTokens) return {};
  Evidence evidence(n);
  for (int i = 0; i < n; ++i) evidence.add(row(begin + i) + begin, i);
  return evidence.diagnosis();
}

std::string advice_on(const AttentionDiagnosis& diagnosis, const AdviceOptions& options) {
  const auto padding = [&](const char* which, const std::string& side) {
    const bool one = diagnosis.padding == 1;
    return fmt::format(
        "The {} {} like padding. Pass the number of real tokens per sample, such as {}{}", which,
        one ? "token looks" : fmt::format("{} tokens look", diagnosis.padding), options.lengths,
        side);
  };
  switch (diagnosis.likeness) {
    case AttentionLikeness::kScores:
      return "These look like attention scores. Apply the causal mask, then softmax over the keys";
    case AttentionLikeness::kMaskedScores:
      return "These look like attention scores. Apply softmax over the keys";
    case AttentionLikeness::kPaddedLeft:
      return padding("first", options.left);
    case AttentionLikeness::kPaddedRight:
      return padding("last", "");
    case AttentionLikeness::kTransposed:
      return fmt::format(
          "Its columns sum to 1 instead of its rows, so query and key are swapped: {}",
          options.swap);
    case AttentionLikeness::kNotCausal:
      return "Its rows sum to 1 only with the later tokens, as in an encoder. Only causal "
             "attention, as "
             "in a decoder, can be measured";
    case AttentionLikeness::kNotCausalTransposed:
      return "Its columns sum to 1 instead of its rows, and entries lie above the diagonal in both "
             "orders of the axes. Only causal attention, as in a decoder, can be measured";
    case AttentionLikeness::kDropout:
      return "The row sums look like dropout: call model.eval() before the model runs";
    default:
      return {};
  }
}

}  // namespace synergraph
