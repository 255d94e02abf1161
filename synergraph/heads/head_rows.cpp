#include "synergraph/heads/head_rows.h"

#include <algorithm>
#include <utility>

namespace synergraph {

HeadRows::HeadRows(std::shared_ptr<const StoredRows> stored, int heads, const RowLayout& layout)
    : stored_(std::move(stored)),
      heads_(heads),
      layout_(layout),
      extra_(extra_nodes(layout.missing_mass)),
      rows_(static_cast<std::size_t>(heads) * static_cast<std::size_t>(nodes())) {}

/// The row in `into`, from its kept entries, which may lie in `into`, too.
void HeadRows::divide(const Row& row, int count, const double* kept, double* into) const {
  double* to = into + extra_;
  if (kept < to)
    for (int j = count - 1; j >= 0; --j) to[j] = kept[j] / row.sum;
  else
    for (int j = 0; j < count; ++j) to[j] = kept[j] / row.sum;
  if (extra_ == 1) into[0] = row.missing / row.sum;
}

void HeadRows::read_first(int head, int i, double* into) {
  Row& found = rows_[place(head, i)];
  if (i < extra_) {
    into[0] = 1.0;
    return;
  }
  const int columns = layout_.columns;
  const int at = layout_.begin + i - extra_;
  const auto read = [&](int row, double* to) {
    stored_->read(head, row, 0, columns, to);
    if (layout_.padded) clear_padding(to, layout_.begin, layout_.end, columns);
  };
  read(at, into);
  std::vector<double> other;  // rows that a diagnosis looks at
  const std::function<const double*(int)> any_row = [&](int row) -> const double* {
    other.resize(static_cast<std::size_t>(columns));
    read(row, other.data());
    return other.data();
  };
  const AttentionCheck check = stored_->check(head);
  const AttentionCheck diagnosing = with_diagnosis(check, any_row, layout_.begin, layout_.end);
  const RowCut cut =
      checked_cut(into, at, columns, layout_.begin, diagnosing, layout_.missing_mass);
  found.sum = cut.sum;
  found.missing = cut.missing;
  divide(found, i - extra_ + 1, into + layout_.begin, into);
  found.first =
      static_cast<int>(std::find_if(into, into + i, [](double x) { return x != 0.0; }) - into);
}

void HeadRows::read_again(int head, int i, double* into) const {
  const Row& found = row(head, i);
  std::fill_n(into, std::min(found.first, i + 1), 0.0);
  if (i < extra_) {
    into[0] = 1.0;
    return;
  }
  const int first = std::max(found.first - extra_, 0);  // of the kept entries
  const int at = layout_.begin + i - extra_;
  stored_->read(head, at, layout_.begin + first, at + 1, into + extra_ + first);
  for (int j = extra_ + first; j <= i; ++j) into[j] /= found.sum;
  if (extra_ == 1) into[0] = found.missing / found.sum;
}

}  // namespace synergraph
