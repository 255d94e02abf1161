#include "synergraph/subsets/sampled_game.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/random.h"
#include "synergraph/subsets/subset.h"

namespace synergraph {
namespace {

/// With fewer squares than this an error may be small because what is rare was not seen: it counts
/// as no smaller than those of all heads, or of all pairs, are on average.
constexpr double kEnoughSquares = 32;

/// A square is drawn by a number of 32 bits.
constexpr std::int64_t kMostOrders = std::int64_t{1} << 32;

/// Means and sums of squared deviations of numbers that come a row at a time (Welford).
class RunningMeans {
 public:
  explicit RunningMeans(std::size_t numbers) : mean_(numbers), deviation_(numbers) {}

  void add(std::span<const double> row) {
    ++rows_;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double before = row[k] - mean_[k];
      mean_[k] += before / rows_;
      deviation_[k] += before * (row[k] - mean_[k]);
    }
  }
  double rows() const { return rows_; }
  const std::vector<double>& mean() const { return mean_; }
  /// Standard errors of the means.
  std::vector<double> error() const {
    std::vector<double> error;
    for (const double deviation : deviation_)
      error.push_back(std::sqrt(deviation / (rows_ * (rows_ - 1.0))));
    return error;
  }

 private:
  double rows_ = 0.0;
  std::vector<double> mean_, deviation_;
};

/// No error below the root of the mean of all squared errors.
void level(std::vector<double>& errors) {
  double squares = 0.0;
  for (const double error : errors) squares += error * error / static_cast<double>(errors.size());
  for (double& error : errors) error = std::max(error, std::sqrt(squares));
}

/// Numbers 0 .. H-1 in random order.
std::vector<int> shuffled(int heads, RandomSequence& draws) {
  std::vector<int> numbers(static_cast<std::size_t>(heads));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::size_t k = numbers.size(); k > 1; --k)
    std::swap(numbers[k - 1], numbers[draws.below(k)]);
  return numbers;
}

/// The rows label[(column[k] + r) mod H], r = 0 .. H-1: every head stands once at every place.
std::vector<std::vector<int>> latin_square(const std::vector<int>& columns,
                                           const std::vector<int>& labels) {
  std::vector<std::vector<int>> rows;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    rows.emplace_back();
    for (const int column : columns)
      rows.back().push_back(labels[(static_cast<std::size_t>(column) + r) % labels.size()]);
  }
  return rows;
}

void append_reversed(std::vector<std::vector<int>>& rows) {
  for (std::size_t r = 0, count = rows.size(); r < count; ++r)
    rows.emplace_back(rows[r].rbegin(), rows[r].rend());
}

/// Orders drawn together.
struct Orders {
  std::vector<std::vector<int>> heads;  ///< for what a head adds
  std::vector<std::vector<int>> pairs;  ///< for what two neighbours add together
};

/// Both are Latin squares with all reversed rows. Columns are at random where heads are looked at,
/// so that the heads before one of them differ from row to row. For pairs they are 0, 1, -1, 2, -2,
/// ...: every two heads are neighbours in as many rows (Williams 1949); with even H the reversed
/// rows are there already.
Orders draw_orders(int heads, const SamplingOptions& options, std::int64_t square) {
  RandomSequence draws(options.seed, Purpose::kHeadOrders, static_cast<std::uint32_t>(square));
  const std::vector<int> columns = shuffled(heads, draws);
  Orders orders{latin_square(columns, shuffled(heads, draws)), {}};
  append_reversed(orders.heads);
  if (!options.pairs) return orders;
  std::vector<int> zigzag(columns.size());
  for (int k = 0; k < heads; ++k)
    zigzag[static_cast<std::size_t>(k)] = k % 2 == 1 ? (k + 1) / 2 : heads - k / 2;
  orders.pairs = latin_square(zigzag, shuffled(heads, draws));
  if (heads % 2 == 1) append_reversed(orders.pairs);
  return orders;
}

/// What one order says of every place: what the head there adds to those before it, or what it and
/// the next one add together beyond what each does; of all games.
using OrderValues = std::vector<double>;

class Sampling {
 public:
  Sampling(int heads, int games, const PrefixValues& values, const SamplingOptions& options)
      : heads_(heads),
        size_(static_cast<std::size_t>(heads)),
        games_(static_cast<std::size_t>(games)),
        values_(values),
        options_(options),
        means_(games_, RunningMeans(size_ + (options.pairs ? size_ * (size_ - 1) / 2 : 0))) {}

  GameSample run() {
    const std::int64_t rows = 2 * heads_;
    const auto squares_of = [&](std::int64_t orders) { return (orders - 1) / rows + 1; };
    const std::int64_t most =
        std::max(options_.least_batches, squares_of(options_.max_permutations));
    std::vector<int> order(size_);
    std::iota(order.begin(), order.end(), 0);
    const std::vector<double> ends = prefixes(order, 0, heads_);

    GameSample sample;
    std::int64_t squares = 0;
    bool reached = false;
    while (squares < most && !reached) {
      const std::int64_t end =
          std::min(most, std::max(options_.least_batches, squares + squares_of(options_.batch)));
      add_squares(squares, end);
      squares = end;
      sample.permutations = squares * rows;
      sample.games.clear();
      reached = true;
      for (std::size_t game = 0; game < games_; ++game) {
        sample.games.push_back(estimate(means_[game], ends[game], ends[games_ + game]));
        const bool decides = options_.deciding_games == 0 ||
                             game < static_cast<std::size_t>(options_.deciding_games);
        reached = reached && (sample.games.back().reached || !decides);
      }
    }
    return sample;
  }

 private:
  std::vector<double> prefixes(const std::vector<int>& order, int begin, int step) const {
    std::vector<double> values(static_cast<std::size_t>((heads_ - begin) / step + 1) * games_);
    values_(order, begin, step, values);
    for (const double value : values)
      if (!std::isfinite(value)) throw InputError("the value of a subset of heads is not finite");
    return values;
  }

  void add_squares(std::int64_t begin, std::int64_t end) {
    std::vector<Orders> squares;
    for (std::int64_t square = begin; square < end; ++square)
      squares.push_back(draw_orders(heads_, options_, square));
    const std::size_t of_heads = squares.front().heads.size();
    const std::size_t rows = of_heads + squares.front().pairs.size();
    std::vector<OrderValues> measured(squares.size() * rows);
    parallel_for(measured.size(), options_.execution.threads, [&](std::size_t k, int) {
      options_.execution.check();
      const Orders& orders = squares[k / rows];
      const std::size_t row = k % rows;
      measured[k] = row < of_heads ? additions(orders.heads[row])
                                   : interactions(orders.pairs[row - of_heads]);
    });
    for (std::size_t square = 0; square < squares.size(); ++square)
      add_square(squares[square], std::span(measured).subspan(square * rows, rows));
  }

  OrderValues additions(const std::vector<int>& order) const {
    OrderValues values = prefixes(order, 0, 1);
    for (std::size_t k = 0; k < size_ * games_; ++k) values[k] = values[k + games_] - values[k];
    return values;
  }

  OrderValues interactions(const std::vector<int>& order) const {
    const std::vector<double> values = prefixes(order, 0, 1);
    OrderValues result((size_ - 1) * games_);
    // Neighbours change places, first those at 0 and 1, 2 and 3, ..., then those at 1 and 2, ...:
    // the first 1, 3, ... heads are others then, and the first 2, 4, ... .
    for (int begin = 1; begin <= 2 && begin < heads_; ++begin) {
      std::vector<int> exchanged = order;
      for (auto k = static_cast<std::size_t>(begin); k < size_; k += 2)
        std::swap(exchanged[k - 1], exchanged[k]);
      const std::vector<double> others = prefixes(exchanged, begin, 2);
      for (auto k = static_cast<std::size_t>(begin); k < size_; k += 2)
        for (std::size_t game = 0; game < games_; ++game) {
          const double* at = &values[k * games_ + game];
          const double other = others[(k - static_cast<std::size_t>(begin)) / 2 * games_ + game];
          result[(k - 1) * games_ + game] =
              (at[games_] - other) - (at[0] - at[-static_cast<std::ptrdiff_t>(games_)]);
        }
    }
    return result;
  }

  /// The means over the orders drawn together, independent of all others.
  void add_square(const Orders& orders, std::span<const OrderValues> measured) {
    const std::size_t of_heads = orders.heads.size();
    const double pair_rows = 2.0 * static_cast<double>(orders.pairs.size()) / heads_;
    for (std::size_t game = 0; game < games_; ++game) {
      std::vector<double> mean(means_[game].mean().size());
      for (std::size_t row = 0; row < of_heads; ++row)
        for (std::size_t k = 0; k < size_; ++k)
          mean[static_cast<std::size_t>(orders.heads[row][k])] +=
              measured[row][k * games_ + game] / static_cast<double>(of_heads);
      for (std::size_t row = 0; row < orders.pairs.size(); ++row)
        for (std::size_t k = 0; k + 1 < size_; ++k) {
          const auto [i, j] = std::minmax(orders.pairs[row][k], orders.pairs[row][k + 1]);
          mean[size_ + pair_index(heads_, i, j)] +=
              measured[of_heads + row][k * games_ + game] / pair_rows;
        }
      means_[game].add(mean);
    }
  }

  SampledIndices estimate(const RunningMeans& means, double none, double all) const {
    const auto split = [&](const std::vector<double>& numbers, std::vector<double>& of_heads,
                           std::vector<double>& of_pairs) {
      of_heads.assign(numbers.begin(), numbers.begin() + heads_);
      of_pairs.assign(numbers.begin() + heads_, numbers.end());
    };
    SampledIndices indices;
    indices.none = none;
    indices.all = all;
    split(means.mean(), indices.shapley, indices.pairs);
    split(means.error(), indices.shapley_error, indices.pairs_error);
    if (means.rows() < kEnoughSquares) {
      level(indices.shapley_error);
      level(indices.pairs_error);
    }
    const double worst =
        *std::max_element(indices.shapley_error.begin(), indices.shapley_error.end());
    indices.reached = worst <= options_.precision * std::abs(all - none);
    return indices;
  }

  int heads_;
  std::size_t size_;
  std::size_t games_;
  const PrefixValues& values_;
  const SamplingOptions& options_;
  std::vector<RunningMeans> means_;
};

}  // namespace

GameSample sample_games(int heads, int games, const PrefixValues& values,
                        const SamplingOptions& options) {
  if (heads < 1 || games < 1)
    throw InputError(fmt::format("{} games of {} heads: nothing to sample", games, heads));
  if (options.least_batches < 2)
    throw InputError("fewer than 2 batches of sampled orders have no standard error");
  if (!(options.precision >= 0.0)) throw InputError("a precision of sampled orders is negative");
  for (const std::int64_t orders : {options.batch, options.max_permutations})
    if (orders < 1 || orders > kMostOrders)
      throw InputError(fmt::format("{} sampled orders: expected 1 to {}", orders, kMostOrders));
  return Sampling(heads, games, values, options).run();
}

}  // namespace synergraph
