#include "synergraph/heads/allowed_keys.h"

#include <algorithm>
#include <numeric>

namespace synergraph {

AllowedKeys::AllowedKeys(int nodes) : missing_(static_cast<std::size_t>(nodes)) {
  std::iota(missing_.begin(), missing_.end(), 1);
  masked_.assign(place(nodes, 0), true);
}

void AllowedKeys::add(ConstMatrixView attention, int skipped) {
  if (all()) return;
  for (int i = 0; i < nodes(); ++i) {
    int& missing = missing_[static_cast<std::size_t>(i)];
    const double* row = attention.row(i + skipped) + skipped;
    for (int j = 0; missing > 0 && j <= i; ++j) {
      if (row[j] == 0.0 || !masked_[place(i, j)]) continue;
      masked_[place(i, j)] = false;
      --missing;
    }
  }
  settle();
}

void AllowedKeys::settle() {
  if (std::all_of(missing_.begin(), missing_.end(), [](int count) { return count == 0; }))
    masked_ = {};
}

void AllowedKeys::list(int query, int first, std::vector<int>& into) const {
  into.clear();
  for (int key = first; key <= query; ++key)
    if (all() || !masked_[place(query, key)]) into.push_back(key);
}

AllowedKeys AllowedKeys::without_first(int count) const {
  AllowedKeys rest(nodes() - count);
  if (all()) {
    std::fill(rest.missing_.begin(), rest.missing_.end(), 0);
  } else {
    for (int i = 0; i < rest.nodes(); ++i)
      for (int j = 0; j <= i; ++j) {
        const bool masked = masked_[place(i + count, j + count)];
        rest.masked_[rest.place(i, j)] = masked;
        if (!masked) --rest.missing_[static_cast<std::size_t>(i)];
      }
  }
  rest.settle();
  return rest;
}

}  // namespace synergraph
