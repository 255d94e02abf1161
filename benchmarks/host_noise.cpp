// How evenly the host runs this machine's cores: quantiles of the time that always the same work
// takes on every thread, products of matrices that stay in the first-level cache. On whole cores
// all times are alike; where a neighbour has the other half of a physical core they double.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <vector>

#include "synergraph/core/matrix.h"
#include "synergraph/core/parallel.h"
#include "synergraph/model/gemm.h"

namespace {

using namespace synergraph;

double microseconds() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How evenly the host runs this machine's cores."};
  int threads = 0;
  int trials = 5000;
  app.add_option("--threads", threads, "Threads (0: all)");
  app.add_option("--trials", trials, "Times taken on each thread, of some 0.1 ms")
      ->check(CLI::Range(1, 10000000));
  CLI11_PARSE(app, argc, argv);
  if (threads <= 0) threads = default_thread_count();

  std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
  parallel_for(times.size(), threads, [&](std::size_t index, int) {
    constexpr int kSize = 48;
    const AlignedVector<float> a(kSize * kSize, 1.0F);
    const AlignedVector<float> b(kSize * kSize, 1.0F);
    AlignedVector<float> c(kSize * kSize, 0.0F);
    times[index].reserve(static_cast<std::size_t>(trials));
    for (int trial = 0; trial < trials; ++trial) {
      const double start = microseconds();
      for (int k = 0; k < 40; ++k)
        multiply({.rows = kSize,
                  .cols = kSize,
                  .depth = kSize,
                  .a = a.data(),
                  .a_stride = kSize,
                  .b = b.data(),
                  .b_stride = kSize,
                  .c = c.data(),
                  .c_stride = kSize});
      times[index].push_back(microseconds() - start);
    }
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
