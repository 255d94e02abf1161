#include "synergraph/subsets/subset_search.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/ties.h"

namespace synergraph {
namespace {

using Heads = std::vector<int>;  // rising

Heads with(Heads heads, int head) {
  heads.insert(std::lower_bound(heads.begin(), heads.end(), head), head);
  return heads;
}

Heads without(Heads heads, int head) {
  heads.erase(std::lower_bound(heads.begin(), heads.end(), head));
  return heads;
}

/// C(n, k), to rounding.
double binomial(int n, int k) {
  double result = 1.0;
  for (int i = 1; i <= std::min(k, n - k); ++i) result = result * (n - i + 1) / i;
  return result;
}

class Search {
 public:
  Search(int heads, const SubsetFunction& value, const SubsetSearchOptions& options)
      : all_(static_cast<std::size_t>(heads)), value_(value), options_(options) {
    std::iota(all_.begin(), all_.end(), 0);
    best_.assign(all_.size() + 1, {{}, -std::numeric_limits<double>::infinity(), false});
  }

  FoundSubsets run() {
    look_at({{}, all_});
    const Heads addition = add_greedily();
    const Heads removal = remove_greedily();
    std::vector<Heads> beginnings;
    for (const Heads& order : options_.orders) {
      Heads sorted;
      for (const int head : order) beginnings.push_back(sorted = with(sorted, head));
      if (sorted != all_)
        throw InputError(
            fmt::format("an order of heads: expected each of the {} heads once", all_.size()));
    }
    look_at(beginnings);
    for (std::size_t size = 0; size <= all_.size(); ++size) look_through(size);
    if (options_.improve) improve();

    FoundSubsets found{
        best_, path(addition), path(removal), {}, static_cast<std::int64_t>(known_.size())};
    for (const Heads& order : options_.orders) found.orders.push_back(path(order));
    return found;
  }

 private:
  /// Values of subsets; those not yet known are computed, and may become the best of their size.
  std::vector<double> look_at(const std::vector<Heads>& subsets) {
    std::vector<std::map<Heads, double>::value_type*> added;
    for (const Heads& subset : subsets)
      if (const auto [place, is_new] = known_.try_emplace(subset, 0.0); is_new)
        added.push_back(&*place);
    if (options_.prepare) {
      std::vector<Heads> unknown;
      unknown.reserve(added.size());
      for (const auto* entry : added) unknown.push_back(entry->first);
      options_.prepare(unknown);
    }
    parallel_for(added.size(), options_.execution.threads, [&](std::size_t k, int) {
      options_.execution.check();
      added[k]->second = value_(added[k]->first);
      if (!std::isfinite(added[k]->second))
        throw InputError("the value of a subset of heads is not finite");
    });
    for (const auto* entry : added) {
      FoundSubset& best = best_[entry->first.size()];
      if (best.value == -std::numeric_limits<double>::infinity() ||
          exceeds(entry->second, best.value)) {
        best.heads = entry->first;
        best.value = entry->second;
      }
    }
    std::vector<double> values;
    values.reserve(subsets.size());
    for (const Heads& subset : subsets) values.push_back(known_.at(subset));
    return values;
  }

  /// Of the heads of `left`, the first that makes the most by `change`.
  template <class Change>
  int take_best(const Heads& left, const Change& change) {
    std::vector<Heads> subsets;
    for (const int head : left) subsets.push_back(change(head));
    return left[static_cast<std::size_t>(falling_order(look_at(subsets)).front())];
  }

  Heads add_greedily() {
    Heads order;
    Heads taken;
    for (Heads left = all_; !left.empty(); left = without(left, order.back())) {
      order.push_back(take_best(left, [&](int head) { return with(taken, head); }));
      taken = with(taken, order.back());
    }
    return order;
  }

  Heads remove_greedily() {
    Heads order;
    for (Heads kept = all_; !kept.empty(); kept = without(kept, order.back())) {
      // The last of those that tie goes.
      order.push_back(take_best(Heads(kept.rbegin(), kept.rend()),
                                [&](int head) { return without(kept, head); }));
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  /// All subsets of a size, if they are few.
  void look_through(std::size_t size) {
    const auto heads = static_cast<int>(all_.size());
    if (size > 1 && heads - static_cast<int>(size) > 1 &&
        binomial(heads, static_cast<int>(size)) > static_cast<double>(options_.exhaustive))
      return;
    std::vector<Heads> subsets;
    std::vector<bool> in(all_.size());
    std::fill_n(in.begin(), size, true);
    do {
      subsets.emplace_back();
      std::copy_if(all_.begin(), all_.end(), std::back_inserter(subsets.back()),
                   [&](int head) { return in[static_cast<std::size_t>(head)]; });
    } while (std::prev_permutation(in.begin(), in.end()));
    look_at(subsets);
    best_[size].certified = true;
  }

  void improve() {
    for (bool improved = true; improved;) {
      improved = false;
      for (std::size_t size = 1; size < all_.size(); ++size)
        while (!best_[size].certified) {
          const double before = best_[size].value;
          look_at(neighbours(size));
          if (best_[size].value == before) break;
          improved = true;
        }
    }
  }

  std::vector<Heads> neighbours(std::size_t size) const {
    std::vector<Heads> subsets;
    const Heads& less = best_[size - 1].heads;
    const Heads& here = best_[size].heads;
    const Heads& more = best_[size + 1].heads;
    for (const int head : all_) {
      if (!std::binary_search(less.begin(), less.end(), head)) subsets.push_back(with(less, head));
      if (!std::binary_search(here.begin(), here.end(), head))
        for (const int other : here) subsets.push_back(with(without(here, other), head));
    }
    for (const int head : more) subsets.push_back(without(more, head));
    return subsets;
  }

  PruningPath path(const Heads& order) const {
    PruningPath path{order, {}, {}};
    Heads taken;
    for (std::size_t k = 0; k <= order.size(); ++k) {
      path.value.push_back(known_.at(taken));
      path.loss.push_back(std::max(0.0, best_[k].value - path.value.back()));
      if (k < order.size()) taken = with(taken, order[k]);
    }
    return path;
  }

  Heads all_;
  const SubsetFunction& value_;
  const SubsetSearchOptions& options_;
  std::map<Heads, double> known_;
  std::vector<FoundSubset> best_;
};

}  // namespace

FoundSubsets find_subsets(int heads, const SubsetFunction& value,
                          const SubsetSearchOptions& options) {
  if (heads < 1) throw InputError(fmt::format("{} heads: nothing to search", heads));
  return Search(heads, value, options).run();
}

}  // namespace synergraph
