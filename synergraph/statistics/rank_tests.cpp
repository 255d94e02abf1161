#include "synergraph/statistics/rank_tests.h"

// Statistics are kept as whole numbers (pairs and ranks counted
// twice), so that equal ones are found equal.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>

#include "synergraph/core/random.h"
#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

constexpr TestResult kNoTest = {kNan, kNan, kNan, PValueMethod::kExact, kNan};

// Streams of random permutations, one a test.
constexpr std::uint32_t kTrendStream = 0;
constexpr std::uint32_t kCorrelationStream = 1;
constexpr std::uint32_t kWithinStream = 2;

/// Values per group, or how many of them are already placed.
using Counts = std::vector<int>;

bool has_nan(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

/// m! / (prod_k parts_k!), for parts that sum to m.
double multinomial(const Counts& parts) {
  double product = 1.0;
  int sum = 0;
  for (const int part : parts)
    for (int k = 1; k <= part; ++k) product = product * ++sum / k;
  return product;
}

/// In a random order; every order has the same probability.
template <class T>
void shuffle(std::vector<T>& values, RandomSequence& random) {
  for (std::size_t k = values.size(); k > 1; --k)
    std::swap(values[k - 1], values[static_cast<std::size_t>(random.below(k))]);
}

/// The pooled values of all groups in ascending order: whose they are, and how long the runs of
/// equal ones are.
struct Pool {
  Counts sizes;                  ///< of the groups, none empty
  std::vector<int> group_of;     ///< of each value
  std::vector<int> run_lengths;  ///< they sum to the number of values
};

Pool pool_of(const std::vector<std::vector<double>>& groups) {
  Pool pool;
  std::vector<std::pair<double, int>> values;
  for (const std::vector<double>& group : groups) {
    if (group.empty()) continue;
    for (const double value : group)
      values.emplace_back(value, static_cast<int>(pool.sizes.size()));
    pool.sizes.push_back(static_cast<int>(group.size()));
  }
  std::sort(values.begin(), values.end());
  for (std::size_t k = 0; k < values.size(); ++k) {
    pool.group_of.push_back(values[k].second);
    if (k == 0 || values[k].first != values[k - 1].first) pool.run_lengths.push_back(0);
    ++pool.run_lengths.back();
  }
  return pool;
}

/// Twice the ordered pairs that a run of equal values adds: `share` of them in each group, above
/// the values that are `placed`; pairs within the run are ties.
int pairs_of_run(const Counts& placed, const Counts& share) {
  int pairs = 0;
  int below = 0;       // placed in groups before this one
  int run_before = 0;  // of the run, likewise
  for (std::size_t g = 0; g < share.size(); ++g) {
    pairs += share[g] * (2 * below + run_before);
    below += placed[g];
    run_before += share[g];
  }
  return pairs;
}

/// Twice the statistic.
int ordered_pairs(const Pool& pool, const std::vector<int>& group_of) {
  Counts placed(pool.sizes.size(), 0);
  Counts share(pool.sizes.size(), 0);
  int pairs = 0;
  std::size_t next = 0;
  for (const int length : pool.run_lengths) {
    std::fill(share.begin(), share.end(), 0);
    for (int k = 0; k < length; ++k) ++share[static_cast<std::size_t>(group_of[next++])];
    pairs += pairs_of_run(placed, share);
    for (std::size_t g = 0; g < share.size(); ++g) placed[g] += share[g];
  }
  return pairs;
}

/// Pairs of values from different groups.
int all_pairs(const Counts& sizes) {
  int pairs = 0;
  int before = 0;
  for (const int size : sizes) {
    pairs += before * size;
    before += size;
  }
  return pairs;
}

/// Calls visit(share) for every way to give `left` values to the groups from `group` on that have
/// room for them.
template <class Visit>
void for_each_share(std::size_t group, int left, const Counts& room, Counts& share,
                    const Visit& visit) {
  if (group + 1 == room.size()) {
    if (left > room[group]) return;
    share[group] = left;
    visit(share);
    return;
  }
  for (int part = 0; part <= std::min(left, room[group]); ++part) {
    share[group] = part;
    for_each_share(group + 1, left - part, room, share, visit);
  }
}

/// How many assignments of the pooled values to the groups have each (doubled) statistic. Values
/// are placed from the smallest on; what was placed matters only by how many each group has.
std::vector<double> count_assignments(const Pool& pool) {
  std::map<Counts, std::vector<double>> current;
  current[Counts(pool.sizes.size(), 0)] = {1.0};
  for (const int length : pool.run_lengths) {
    std::map<Counts, std::vector<double>> next;
    for (const auto& [placed, counts] : current) {
      Counts room = pool.sizes;
      for (std::size_t g = 0; g < room.size(); ++g) room[g] -= placed[g];
      Counts share(room.size(), 0);
      for_each_share(0, length, room, share, [&, &from = placed, &ways = counts](const Counts& to) {
        Counts now = from;
        for (std::size_t g = 0; g < now.size(); ++g) now[g] += to[g];
        const auto shift = static_cast<std::size_t>(pairs_of_run(from, to));
        const double weight = multinomial(to);
        std::vector<double>& target = next[now];
        target.resize(std::max(target.size(), ways.size() + shift), 0.0);
        for (std::size_t k = 0; k < ways.size(); ++k) target[k + shift] += weight * ways[k];
      });
    }
    current = std::move(next);
  }
  return current.begin()->second;
}

/// About how many additions count_assignments() takes.
double counting_steps(const Counts& sizes) {
  double steps = 2.0 * all_pairs(sizes) + 1.0;
  for (const int size : sizes) steps *= size + 1.0;
  return steps * static_cast<double>(sizes.size());
}

/// Twice the distance of each rank from the middle: whole numbers. Nothing may be NaN.
std::vector<std::int64_t> centred_ranks(const std::vector<double>& values) {
  std::vector<std::int64_t> centred;
  for (const double rank : ranks(values))
    centred.push_back(std::llround(2.0 * rank) - static_cast<std::int64_t>(values.size()) - 1);
  return centred;
}

std::int64_t dot(const std::vector<std::int64_t>& u, const std::vector<std::int64_t>& v) {
  return std::inner_product(u.begin(), u.end(), v.begin(), std::int64_t{0});
}

/// The distinct orders of sorted values.
double distinct_orders(const std::vector<std::int64_t>& sorted) {
  Counts runs;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    if (k == 0 || sorted[k] != sorted[k - 1]) runs.push_back(0);
    ++runs.back();
  }
  return multinomial(runs);
}

/// The share of all distinct orders of v in which |u v| is no smaller than `observed`.
double exact_correlation_p(const std::vector<std::int64_t>& u, std::vector<std::int64_t> v,
                           std::int64_t observed) {
  std::sort(v.begin(), v.end());
  std::int64_t hits = 0;
  std::int64_t orders = 0;
  do {
    ++orders;
    if (std::abs(dot(u, v)) >= observed) ++hits;
  } while (std::next_permutation(v.begin(), v.end()));
  return static_cast<double>(hits) / static_cast<double>(orders);
}

/// (1 + hits) / (1 + permutations), where hit() tries one random permutation.
template <class Hit>
double permutation_p(int permutations, const Hit& hit) {
  int hits = 0;
  for (int k = 0; k < permutations; ++k)
    if (hit()) ++hits;
  return (1.0 + hits) / (1.0 + permutations);
}

double correlation_of(const std::vector<std::int64_t>& u, const std::vector<std::int64_t>& v) {
  const double scale = std::sqrt(static_cast<double>(dot(u, u)) * static_cast<double>(dot(v, v)));
  if (scale == 0.0) return kNan;
  return std::clamp(static_cast<double>(dot(u, v)) / scale, -1.0, 1.0);
}

}  // namespace

TestResult jonckheere_terpstra(const std::vector<std::vector<double>>& groups,
                               const TestOptions& options) {
  if (std::any_of(groups.begin(), groups.end(), has_nan)) return kNoTest;
  const Pool pool = pool_of(groups);
  if (pool.sizes.size() < 2) return kNoTest;
  const int pairs = all_pairs(pool.sizes);
  const int observed = ordered_pairs(pool, pool.group_of);
  TestResult result;
  result.statistic = 0.5 * observed;
  result.effect = static_cast<double>(observed - pairs) / pairs;
  if (counting_steps(pool.sizes) <= static_cast<double>(options.exact_limit)) {
    const std::vector<double> counts = count_assignments(pool);
    const double hits = std::accumulate(counts.begin() + observed, counts.end(), 0.0);
    result.p_value = hits / std::accumulate(counts.begin(), counts.end(), 0.0);
    result.smallest_p = 1.0 / multinomial(pool.sizes);
    return result;
  }
  result.method = PValueMethod::kPermutation;
  RandomSequence random(options.seed, Purpose::kPermutation, kTrendStream);
  std::vector<int> group_of = pool.group_of;
  result.p_value = permutation_p(options.permutations, [&] {
    shuffle(group_of, random);
    return ordered_pairs(pool, group_of) >= observed;
  });
  result.smallest_p = 1.0 / (1.0 + options.permutations);
  return result;
}

TestResult spearman(const std::vector<double>& x, const std::vector<double>& y,
                    const TestOptions& options) {
  const double rho = rank_correlation(x, y);
  if (std::isnan(rho)) return kNoTest;
  const std::vector<std::int64_t> u = centred_ranks(x);
  std::vector<std::int64_t> v = centred_ranks(y);
  const std::int64_t observed = std::abs(dot(u, v));
  TestResult result;
  result.statistic = result.effect = rho;
  std::vector<std::int64_t> sorted = v;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(v.size());
  if (distinct_orders(sorted) * n <= static_cast<double>(options.exact_limit)) {
    result.p_value = exact_correlation_p(u, v, observed);
    result.smallest_p = 2.0 / multinomial(Counts(v.size(), 1));
    return result;
  }
  result.method = PValueMethod::kPermutation;
  RandomSequence random(options.seed, Purpose::kPermutation, kCorrelationStream);
  result.p_value = permutation_p(options.permutations, [&] {
    shuffle(v, random);
    return std::abs(dot(u, v)) >= observed;
  });
  result.smallest_p = 1.0 / (1.0 + options.permutations);
  return result;
}

TestResult spearman_within(const std::vector<std::vector<double>>& x,
                           const std::vector<std::vector<double>>& y, const TestOptions& options) {
  std::vector<std::size_t> used;
  for (std::size_t g = 0; g < std::min(x.size(), y.size()); ++g)
    if (!std::isnan(rank_correlation(x[g], y[g]))) used.push_back(g);
  if (used.empty()) return kNoTest;
  if (used.size() == 1) return spearman(x[used.front()], y[used.front()], options);
  std::vector<std::vector<std::int64_t>> u;
  std::vector<std::vector<std::int64_t>> v;
  double orders = 1.0;
  double scales = 0.0;
  double others = 0.0;
  for (const std::size_t g : used) {
    u.push_back(centred_ranks(x[g]));
    v.push_back(centred_ranks(y[g]));
    scales += static_cast<double>(dot(u.back(), u.back()));
    others += static_cast<double>(dot(v.back(), v.back()));
    orders *= multinomial(Counts(v.back().size(), 1));
  }
  const auto sum = [&] {
    std::int64_t total = 0;
    for (std::size_t g = 0; g < u.size(); ++g) total += dot(u[g], v[g]);
    return total;
  };
  const std::int64_t observed = std::abs(sum());
  TestResult result;
  result.statistic = result.effect =
      std::clamp(static_cast<double>(sum()) / std::sqrt(scales * others), -1.0, 1.0);
  result.method = PValueMethod::kPermutation;
  RandomSequence random(options.seed, Purpose::kPermutation, kWithinStream);
  result.p_value = permutation_p(options.permutations, [&] {
    for (std::vector<std::int64_t>& group : v) shuffle(group, random);
    return std::abs(sum()) >= observed;
  });
  result.smallest_p = std::max(1.0 / (1.0 + options.permutations), 2.0 / orders);
  return result;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isnan(values[k])) order.push_back(k);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size(), kNan);
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    // Ranks begin + 1 .. end, on average.
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    for (; begin < end; ++begin) result[order[begin]] = rank;
  }
  return result;
}

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.empty() || x.size() != y.size() || has_nan(x) || has_nan(y)) return kNan;
  return correlation_of(centred_ranks(x), centred_ranks(y));
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < p_values.size(); ++k)
    if (!std::isnan(p_values[k])) order.push_back(k);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted = p_values;
  double largest = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest,
                       std::min(1.0, static_cast<double>(order.size() - k) * p_values[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace synergraph
