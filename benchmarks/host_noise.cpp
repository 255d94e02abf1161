// How evenly the host runs this machine's cores: quantiles of the time that always the same work
// takes on every thread, products of matrices that stay in the first-level cache. On whole cores
// all times are alike; where a neighbour has the other half of a physical core they double.
// `taskset -c 0` looks at one core.

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "benchmarks/products.h"
#include "synergraph/core/parallel.h"

int main() {
  constexpr int kTrials = 5000;
  const int threads = synergraph::default_thread_count();
  std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
  synergraph::parallel_for(times.size(), threads, [&](std::size_t index, int) {
    Products products(48);
    times[index].reserve(kTrials);
    for (int trial = 0; trial < kTrials; ++trial) times[index].push_back(products.time(40) * 1e6);
  });
  for (std::size_t index = 0; index < times.size(); ++index) {
    std::vector<double>& sorted = times[index];
    std::sort(sorted.begin(), sorted.end());
    const auto quantile = [&](double share) {
      return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    };
    const double limit = 1.3 * sorted.front();
    const auto slow = sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), limit);
    fmt::print(
        "thread {}: {:.0f} us at best, median {:.0f}, 90 % {:.0f}, 99 % {:.0f}; {:.0f} % of the "
        "times are over 1.3 times the best\n",
        index, sorted.front(), quantile(0.5), quantile(0.9), quantile(0.99),
        100.0 * static_cast<double>(slow) / static_cast<double>(sorted.size()));
  }
}
