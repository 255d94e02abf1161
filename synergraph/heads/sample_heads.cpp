#include "synergraph/heads/sample_heads.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/graph/attention_rounding.h"

namespace synergraph {
namespace {

// Of the working memory: for the heads at hand, and what is made of each.
constexpr double kHeadsShare = 4.0 / 9.0;
// For all heads of one sample.
constexpr double kKeptShare = 1.0 / 4.0;
// Matrices of working memory that measuring one head takes beside the heads themselves.
constexpr double kWorkMatrices = 8;

double matrix_bytes(int tokens) {
  return 8.0 * static_cast<double>(tokens) * static_cast<double>(tokens);
}

bool keeps_heads(int heads, int tokens, const WorkingMemory& memory, double most) {
  return heads * matrix_bytes(tokens) <=
         std::min(most, kKeptShare * static_cast<double>(memory.bytes()));
}

// A head, the combination and a walk.
double needed_bytes(int tokens) {
  return 3.0 * matrix_bytes(tokens);
}

// Heads of so many tokens take what memory they need, unless less than usual was allowed.
constexpr int kAlways = 16384;

bool fits(int tokens, const WorkingMemory& memory) {
  constexpr std::size_t kLeast = 1 << 20;  // less is no limit that anything could keep to
  const bool usual =
      tokens <= kAlways && (memory.bytes() >= kAttentionMemory || memory.bytes() < kLeast);
  return usual || needed_bytes(tokens) <= static_cast<double>(memory.bytes());
}

[[noreturn]] void refuse_size(int tokens, const WorkingMemory& memory) {
  constexpr double kGiB = 1 << 30;
  throw InputError(fmt::format(
      "this needs whole heads in memory, for {} tokens {:.0f} GiB, and may use {:.1f} "
      "GiB: raise {}, analyse fewer tokens, or measure on a GPU ({} cuda)",
      tokens, std::ceil(needed_bytes(tokens) / kGiB), static_cast<double>(memory.bytes()) / kGiB,
      option_mark("memory"), option_mark("device")));
}

}  // namespace

SampleHeads::SampleHeads(int heads, int tokens, const WorkingMemory& memory, double most)
    : heads_(heads),
      tokens_(tokens),
      memory_(memory),
      keep_(keeps_heads(heads, tokens, memory, most)) {}

void SampleHeads::start(Reader reader, const RowsMaker& rows) {
  reader_ = std::move(reader);
  held_ = -1;
  rows_.reset();
  if (!fits(tokens_, memory_)) {
    if (rows) rows_ = rows();
    if (rows_) return;
    if (tokens_ > kAlways) refuse_size(tokens_, memory_);
  }
  make_room();
  for (int h = 0; keep_ && h < heads_; ++h) read(h, matrices_[static_cast<std::size_t>(h)]);
}

void SampleHeads::make_room() {
  const auto wanted = static_cast<std::size_t>(keep_ ? heads_ : 1);
  while (matrices_.size() < wanted) matrices_.emplace_back(Matrix(tokens_, tokens_));
}

void SampleHeads::read(int h, MirroredMatrix& into) const {
  into.refill([&](Matrix& lower) { reader_(h, lower); });
}

const MirroredMatrix& SampleHeads::head(int h) {
  if (keep_) return matrices_[static_cast<std::size_t>(h)];
  if (held_ != h) {
    if (rows_ && tokens_ > kAlways) refuse_size(tokens_, memory_);
    make_room();
    held_ = -1;
    read(h, matrices_.front());
    held_ = h;
  }
  return matrices_.front();
}

namespace {

AttentionCheck check_of_head(const AttentionView& view, std::int64_t sample, int head,
                             std::optional<double> row_tolerance) {
  AttentionCheck check = attention_check(view.type, static_cast<int>(view.tokens), row_tolerance);
  check.name = fmt::format("sample {}, head {}", sample, head);
  check.missing_hint = "; missing_mass=\"node\" assigns the missing mass to an extra node";
  check.options = {"pass attention.swapaxes(-1, -2)", "lengths=attention_mask.sum(1)",
                   ", padding=\"left\""};
  return check;
}

/// Rows of a view, or of queries and keys that stand for one.
class ViewRows : public StoredRows {
 public:
  ViewRows(const AttentionView& view, std::optional<QueryKeyView> scores, std::int64_t sample,
           std::optional<double> row_tolerance, std::string prefix)
      : view_(view), sample_(sample), row_tolerance_(row_tolerance), prefix_(std::move(prefix)) {
    if (scores) made_.emplace(*scores, sample);
  }

  void read(int head, int i, int first, int last, double* into) const override {
    if (!made_) {
      AttentionView part = view_;
      part.data = static_cast<const std::byte*>(view_.data) + first * view_.strides.key;
      part.tokens = last - first;
      return read_rows(part, sample_, head, i, 1, into);
    }
    std::vector<double> row(static_cast<std::size_t>(i) + 1);
    made_->read(head, i, row.data());
    for (int j = first; j < last; ++j)
      into[j - first] = j <= i ? row[static_cast<std::size_t>(j)] : 0.0;
  }

  AttentionCheck check(int head) const override {
    AttentionCheck check = check_of_head(view_, sample_, head, row_tolerance_);
    check.name = prefix_ + check.name;
    return check;
  }

  double held_bytes() const override { return made_ ? made_->held_bytes() : 0.0; }

 private:
  AttentionView view_;
  std::optional<ProbabilityRows> made_;
  std::int64_t sample_;
  std::optional<double> row_tolerance_;
  std::string prefix_;
};

}  // namespace

std::unique_ptr<HeadRows> view_rows(const AttentionView& view,
                                    const std::optional<QueryKeyView>& scores,
                                    const TokenSpan& sequence, std::optional<double> row_tolerance,
                                    MissingMass missing_mass, const std::string& prefix) {
  const RowLayout layout{static_cast<int>(view.tokens), static_cast<int>(sequence.begin),
                         static_cast<int>(sequence.end), true, missing_mass};
  return std::make_unique<HeadRows>(
      std::make_shared<ViewRows>(view, scores, sequence.sample, row_tolerance, prefix),
      static_cast<int>(view.heads), layout);
}

SampleHeads::Reader head_reader(const AttentionView& view, const TokenSpan& sequence,
                                std::optional<double> row_tolerance, MissingMass missing_mass) {
  return [=](int head, Matrix& into) {
    const auto columns = static_cast<int>(view.tokens);
    const AttentionCheck check = check_of_head(view, sequence.sample, head, row_tolerance);
    // As many rows at a time as a cache line holds: they may lie side by side.
    constexpr int kRows = 16;
    std::vector<double> rows(kRows * static_cast<std::size_t>(columns));
    const auto begin = static_cast<int>(sequence.begin);
    const auto row = [&](int i) -> const double* {
      const int at = (i - begin) % kRows;
      if (at == 0)
        read_rows(view, sequence.sample, head, i, std::min<std::int64_t>(kRows, sequence.end - i),
                  rows.data());
      double* entries = rows.data() + std::ptrdiff_t{at} * columns;
      clear_padding(entries, begin, static_cast<int>(sequence.end), columns);
      return entries;
    };
    cut_attention(row, columns, begin, check, into, missing_mass);
  };
}

int systems_at_once(int heads, int tokens, const Execution& execution, double most) {
  const double kept = keeps_heads(heads, tokens, execution.memory, most) ? heads : 1;
  const double each = (kept + kWorkMatrices) * matrix_bytes(tokens);
  const double memory = kHeadsShare * static_cast<double>(execution.memory.bytes());
  return static_cast<int>(
      std::clamp(memory / each, 1.0, static_cast<double>(execution.thread_count())));
}

Execution execution_of_each(const Execution& execution, int at_once) {
  Execution each = execution.part(std::max(1, execution.thread_count() / at_once));
  const double memory = (1.0 - kHeadsShare) * static_cast<double>(execution.memory.bytes());
  each.memory = WorkingMemory(static_cast<std::size_t>(memory)).shared();
  return each;
}

}  // namespace synergraph
