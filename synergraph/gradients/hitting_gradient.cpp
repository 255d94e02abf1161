#include "synergraph/gradients/hitting_gradient.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

/// One sink: the time, and what its gradient is made of.
struct Times {
  double value = 0.0;
  int stuck = -1;  ///< the last node that never arrives, if there is one
  Vector node;     ///< the time from every node
  Vector leaving;  ///< sum of the weights of steps that leave the node
};

[[noreturn]] void refuse_stuck(const char* what, int stuck, int target) {
  throw InputError(
      fmt::format("{}: token {} never reaches token {}, so the time is infinite and has no "
                  "gradient; leave such "
                  "items out of the loss (torch.where), or use truncated_hitting_time",
                  what, stuck, target));
}

/// A mean over sinks, or its logarithm. Family has Times forward(attention, sink), and
/// pull_back(attention, sink, times, factor, take).
template <class Family>
class SinkTimes final : public DifferentiableMetric {
 public:
  SinkTimes(const CombinedRows& attention, const HittingGradientOptions& options)
      : sinks_(options.sinks.of(attention.nodes())), logarithm_(options.logarithm) {
    double sum = 0.0;
    for (const int sink : sinks_) {
      Times times = Family::forward(attention, sink);
      sum += times.value;
      if (sinks_.size() == 1) kept_ = std::move(times);
    }
    mean_ = sum / static_cast<double>(sinks_.size());
    values_ = {logarithm_ ? std::log(mean_) : mean_};
  }

  void pull_back(std::span<const CombinedRows> layers, std::span<const double> upstream,
                 const Take& take) const override {
    if (upstream[0] == 0.0) return;
    if (logarithm_ && mean_ == 0.0)
      throw InputError(fmt::format(
          "{}: the time is 0, so its logarithm is -infinity and has no gradient; one token has no "
          "way to go",
          Family::kName));
    double factor = upstream[0] / static_cast<double>(sinks_.size());
    if (logarithm_) factor /= mean_;
    for (const int sink : sinks_) {
      const Times made = kept_ ? Times() : Family::forward(layers[0], sink);
      const Times& times = kept_ ? *kept_ : made;
      if (times.stuck >= 0) refuse_stuck(Family::kName, times.stuck, Family::target(sink));
      if (!std::isfinite(times.value))
        throw InputError(
            fmt::format("{}: the time exceeds 1e308 steps and has no gradient in double "
                        "precision; use truncated_hitting_time",
                        Family::kName));
      if (sink > 0) Family::pull_back(layers[0], sink, times, factor, take);
    }
  }

 private:
  std::vector<int> sinks_;
  bool logarithm_;
  double mean_ = 0.0;
  std::optional<Times> kept_;
};

/// Gradient factor * visits[s] (time of the other end + 1 - time here), rank two. `by_row`: the
/// node that is left is the row of D, otherwise its column. On the diagonal both times are the
/// same, so their difference is left out. Otherwise a node that a walk leaves after 10^14 steps
/// would keep one digit.
void take_times(const Times& times, const Vector& visits, double factor, bool by_row,
                const char* name, const DifferentiableMetric::Take& take) {
  const int n = static_cast<int>(times.node.size());
  // Products are formed in an order that keeps them finite: the factor holds 1 / mean of a
  // logarithm.
  Matrix to(n, 2);
  Matrix from(n, 2);
  Vector diagonal(times.node.size());
  bool finite = true;
  for (int j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    diagonal[at] = visits[at] * factor;
    to(j, 0) = (times.node[at] + 1.0) * factor;
    to(j, 1) = 1.0;
    from(j, 0) = visits[at];
    from(j, 1) = -visits[at] * (times.node[at] * factor);
    finite =
        finite && std::isfinite(to(j, 0)) && std::isfinite(from(j, 0)) && std::isfinite(from(j, 1));
  }
  if (!finite && std::isfinite(factor))
    throw InputError(fmt::format(
        "{}: the gradient exceeds 1e308; use the logarithm, or truncated_hitting_time", name));
  const auto view = [n](const Matrix& of) { return ConstMatrixView{of.row(0), n, 2, of.stride()}; };
  take(0, by_row ? LowRankGradient{view(from), view(to), diagonal}
                 : LowRankGradient{view(to), view(from), diagonal});
}

/// To the sink, by columns of D.
struct Forward {
  static constexpr const char* kName = "hitting_time";
  static int target(int sink) { return sink; }

  // Rows from the sink up: when row j is reached, all later rows have added what h_j and the
  // weight of leaving j are made of.
  static Times forward(const CombinedRows& attention, int sink) {
    const auto n = static_cast<std::size_t>(sink) + 1;
    Times times{0.0, -1, Vector(n, 0.0), Vector(n, 0.0)};
    std::vector<bool> stuck(n, false);
    bool any_stuck = false;
    attention.visit_down(sink + 1, [&](int begin, int end, ConstMatrixView block) {
      for (int i = end - 1; i >= begin; --i) {
        const double* row = block.row(i - begin);
        const auto at = static_cast<std::size_t>(i);
        double& h = times.node[at];  // so far the sum over later nodes
        if (i < sink) {
          if (!(times.leaving[at] > 0.0)) stuck[at] = true;
          h = stuck[at] ? 0.0 : (row[i] + times.leaving[at] + h) / times.leaving[at];
          if (stuck[at] && times.stuck < 0) times.stuck = i;
          any_stuck = any_stuck || stuck[at];
        }
        add_scaled(row, h, i, times.node.data());
        add_scaled(row, 1.0, i, times.leaving.data());
        if (stuck[at])
          for (int j = 0; j < i; ++j)
            if (row[j] > 0.0) stuck[static_cast<std::size_t>(j)] = true;
      }
    });
    times.value =
        any_stuck ? kInfinity : total(times.node.data(), sink + 1) / static_cast<double>(sink + 1);
    return times;
  }

  static void pull_back(const CombinedRows& attention, int sink, const Times& times, double factor,
                        const DifferentiableMetric::Take& take) {
    Vector visits(times.node.size(), 0.0);  // expected visits over the column sum
    const double start = 1.0 / static_cast<double>(sink + 1);
    attention.visit_up(sink, [&](int begin, int end, ConstMatrixView block) {
      for (int i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        visits[at] = (start + dot(block.row(i - begin), visits.data(), i)) / times.leaving[at];
      }
    });
    take_times(times, visits, factor, false, kName, take);
  }
};

/// From the sink to node 0, by rows of D.
struct Backward {
  static constexpr const char* kName = "backward_hitting_time";
  static int target(int) { return 0; }

  static Times forward(const CombinedRows& attention, int sink) {
    const auto n = static_cast<std::size_t>(sink) + 1;
    Times times{0.0, -1, Vector(n, 0.0), Vector(n, 0.0)};
    std::vector<bool> stuck(n, false);
    attention.visit_up(sink + 1, [&](int begin, int end, ConstMatrixView block) {
      for (int i = std::max(begin, 1); i < end; ++i) {
        const double* row = block.row(i - begin);
        const auto at = static_cast<std::size_t>(i);
        times.leaving[at] = total(row, i);
        stuck[at] = !(times.leaving[at] > 0.0);
        for (int j = 0; j < i && !stuck[at]; ++j)
          stuck[at] = stuck[static_cast<std::size_t>(j)] && row[j] > 0.0;
        if (stuck[at]) continue;
        times.node[at] =
            (row[i] + times.leaving[at] + dot(row, times.node.data(), i)) / times.leaving[at];
      }
    });
    if (stuck.back()) times.stuck = sink;
    times.value = stuck.back() ? kInfinity : times.node.back();
    return times;
  }

  static void pull_back(const CombinedRows& attention, int sink, const Times& times, double factor,
                        const DifferentiableMetric::Take& take) {
    Vector visits(times.node.size(), 0.0);  // arrivals; then visits over the row sum
    visits.back() = 1.0;
    attention.visit_down(sink + 1, [&](int begin, int end, ConstMatrixView block) {
      for (int i = end - 1; i >= std::max(begin, 1); --i) {
        double& here = visits[static_cast<std::size_t>(i)];
        if (here == 0.0) continue;
        here /= times.leaving[static_cast<std::size_t>(i)];
        add_scaled(block.row(i - begin), here, i, visits.data());
      }
    });
    visits[0] = 0.0;
    take_times(times, visits, factor, true, kName, take);
  }
};

}  // namespace

std::unique_ptr<DifferentiableMetric> hitting_time_gradient(const CombinedRows& attention,
                                                            const HittingGradientOptions& options) {
  return std::make_unique<SinkTimes<Forward>>(attention, options);
}

std::unique_ptr<DifferentiableMetric> backward_hitting_time_gradient(
    const CombinedRows& attention, const HittingGradientOptions& options) {
  return std::make_unique<SinkTimes<Backward>>(attention, options);
}

}  // namespace synergraph
