#include "synergraph/chain/monte_carlo.h"

#include <algorithm>
#include <cmath>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/random.h"
#include "synergraph/core/triangular.h"

namespace synergraph {
namespace {

/// Uniform numbers of one walk: stream (seed, start node), blocks [walk << 32, ...), two a block.
class WalkDraws {
 public:
  WalkDraws(const RandomStream& stream, int walk)
      : stream_(stream), block_(static_cast<std::uint64_t>(walk) << 32U) {}
  double next() {
    if (left_ == 0) {
      pair_ = stream_.uniforms(block_++);
      left_ = 2;
    }
    return pair_[static_cast<std::size_t>(2 - left_--)];
  }

 private:
  const RandomStream& stream_;
  std::uint64_t block_;
  std::array<double, 2> pair_{};
  int left_ = 0;
};

// How often a bound may fail.
constexpr double kDoubt = 0.05;

/// The empirical Bernstein bound (Maurer and Pontil 2009, theorem 4, both sides) of the mean of
/// walks with this sample variance, times in [0, cutoff]; `among` of them may fail together.
double bernstein(double variance, const MonteCarloOptions& options, double among) {
  const double log = std::log(4.0 * among / kDoubt);
  return std::sqrt(2.0 * variance * log / options.walks) +
         7.0 * static_cast<double>(options.cutoff) * log / (3.0 * (options.walks - 1.0));
}

/// Walks on running sums: from j to the first i >= j with sums(j, i) >= u, or to the sink.
MonteCarloEstimate simulate_sums(const Matrix& sums, const MonteCarloOptions& options,
                                 const Execution& execution) {
  if (options.walks < 2)
    throw UsageError("at least two walks a node are needed for an error estimate");
  if (options.cutoff < 0) throw UsageError("the cutoff cannot be negative");
  const int n = sums.rows();
  const auto size = static_cast<std::size_t>(n);
  MonteCarloEstimate estimate{std::vector<double>(size)};
  std::vector<double> variance(size, 0.0);
  parallel_for(size, execution.threads, [&](std::size_t start, int) {
    const RandomStream stream(options.seed, Purpose::kWalk, static_cast<std::uint32_t>(start));
    double total = 0.0;  // whole numbers: exact below 2^53
    double squares = 0.0;
    for (int walk = 0; walk < options.walks; ++walk) {
      WalkDraws draws(stream, walk);
      auto at = static_cast<int>(start);
      std::int64_t steps = 0;
      while (at != n - 1 && steps < options.cutoff) {
        const double* row = sums.row(at);
        const double* next = std::lower_bound(row + at, row + n, draws.next());
        at = next == row + n ? n - 1 : static_cast<int>(next - row);
        ++steps;
      }
      total += static_cast<double>(steps);
      squares += static_cast<double>(steps) * static_cast<double>(steps);
    }
    const double count = options.walks;
    estimate.node[start] = total / count;
    variance[start] = std::max(0.0, (squares - total * total / count) / (count - 1.0));
  });
  double variance_sum = 0.0;
  double together = 0.0;  // the nodes' bounds, all of which hold at once with probability 0.95
  for (std::size_t j = 0; j + 1 < size; ++j)
    together += bernstein(variance[j], options, n - 1.0) / n;
  for (std::size_t j = 0; j < size; ++j) {
    estimate.mean += estimate.node[j] / n;
    variance_sum += variance[j];
  }
  estimate.mean_error = std::sqrt(variance_sum / options.walks) / n;
  // Hoeffding's, of (n - 1) S independent times in [0, cutoff].
  const double hoeffding = static_cast<double>(options.cutoff) *
                           std::sqrt((n - 1.0) * std::log(2.0 / kDoubt) / (2.0 * options.walks)) /
                           n;
  estimate.mean_bound = std::min(together, hoeffding);
  return estimate;
}

void accumulate_rows(Matrix& rows) {
  for (int j = 0; j < rows.rows(); ++j)
    for (int i = j + 1; i < rows.cols(); ++i) rows(j, i) += rows(j, i - 1);
}

}  // namespace

MonteCarloEstimate simulate(const Walk& walk, const MonteCarloOptions& options,
                            const Execution& execution) {
  Matrix sums = walk.step;
  accumulate_rows(sums);
  // A row's running sum may end a rounding short of one: the last node that can be reached takes
  // the rest, so that a walk never leaves its graph.
  for (int j = 0; j < sums.rows(); ++j)
    for (int i = sums.cols() - 1; i >= j; --i) {
      sums(j, i) = 1.0;
      if (walk.step(j, i) > 0.0) break;
    }
  return simulate_sums(sums, options, execution);
}

MonteCarloEstimate simulate_published(ConstMatrixView attention, const MonteCarloOptions& options,
                                      const Execution& execution) {
  Matrix sums(attention.rows, attention.rows);
  transpose_lower(attention, sums.view());
  accumulate_rows(sums);
  return simulate_sums(sums, options, execution);
}

}  // namespace synergraph
