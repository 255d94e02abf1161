#include "synergraph/gradients/stack_gradient.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/gradients/soft_minimum.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

class StackGradient final : public DifferentiableMetric {
 public:
  StackGradient(std::span<const CombinedRows> layers, const StackGradientOptions& options)
      : options_(options), sinks_(options.sinks.of(layers.front().nodes())) {
    for (const int sink : sinks_) {
      std::vector<Vector> rows = rows_of(layers, sink);
      parts_.push_back(log_value(rows.front(), sink, nullptr));
      if (sinks_.size() == 1) kept_ = std::move(rows);
    }
    log_mean_ = log_mean_exp(parts_);
    values_ = {options.logarithm ? log_mean_ : std::exp(log_mean_)};
  }

  void pull_back(std::span<const CombinedRows> layers, std::span<const double> upstream,
                 const Take& take) const override {
    if (upstream[0] == 0.0) return;
    if (options_.logarithm && std::isinf(log_mean_))
      throw no_gradient_of_log_zero("stack_fidelity: the fidelity is 0");
    for (std::size_t s = 0; s < sinks_.size(); ++s) {
      const int sink = sinks_[s];
      if (sink == 0) continue;
      const std::vector<Vector> made =
          kept_.empty() ? rows_of(layers, sink) : std::vector<Vector>();
      const std::vector<Vector>& rows = kept_.empty() ? made : kept_;
      Vector column(static_cast<std::size_t>(sink) + 1, 0.0);
      Vector shares;
      log_value(rows.front(), sink, &shares);
      const double factor = upstream[0] / static_cast<double>(sinks_.size());
      const double shift = options_.logarithm ? log_mean_ : 0.0;
      for (std::size_t j = 0; j < shares.size(); ++j)
        if (shares[j] != 0.0) {
          const double r = rows.front()[j];
          const bool plain = !(r > 0.0) || (options_.softness == 0.0 && !options_.logarithm);
          column[j] =
              factor * shares[j] * (plain ? 1.0 : std::exp(parts_[s] - shift - std::log(r)));
        }
      pull_back(layers, sink, rows, column, take);
    }
  }

 private:
  /// rows[l] = e_sink R_L ... R_{l+1}: rows[0] is the signal.
  std::vector<Vector> rows_of(std::span<const CombinedRows> layers, int sink) const {
    const auto n = static_cast<std::size_t>(sink) + 1;
    std::vector<Vector> rows(layers.size() + 1, Vector(n, 0.0));
    rows.back().back() = 1.0;
    for (std::size_t l = layers.size(); l > 0; --l) {
      const Vector& above = rows[l];
      Vector& here = rows[l - 1];
      layers[l - 1].visit_up(sink + 1, [&](int begin, int end, ConstMatrixView block) {
        for (int i = begin; i < end; ++i) {
          const double amount = above[static_cast<std::size_t>(i)];
          if (amount == 0.0) continue;
          add_scaled(block.row(i - begin), (1.0 - options_.residual) * amount, i + 1, here.data());
          here[static_cast<std::size_t>(i)] += options_.residual * amount;
        }
      });
    }
    return rows;
  }

  double log_value(const Vector& signal, int sink, Vector* shares) const {
    if (sink == 0) return 0.0;  // no source: 1
    Vector logs;
    for (int j = 0; j < sink; ++j) {
      const double r = signal[static_cast<std::size_t>(j)];
      logs.push_back(r > 0.0 ? std::log(r) : -std::numeric_limits<double>::infinity());
    }
    Vector own(logs.size());
    const double value = soft_minimum(logs, options_.softness, own);
    if (shares != nullptr) *shares = std::move(own);
    return value;
  }

  /// With c_1 = column, c_{l+1} = R_l c_l, the derivative towards D_l(i, k) is (1 - a) p_l[i]
  /// c_l[k].
  void pull_back(std::span<const CombinedRows> layers, int sink, const std::vector<Vector>& rows,
                 Vector column, const Take& take) const {
    const double moved = 1.0 - options_.residual;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      Matrix left(sink + 1, 1);
      Matrix right(sink + 1, 1);
      for (int j = 0; j <= sink; ++j) {
        left(j, 0) = moved * rows[l + 1][static_cast<std::size_t>(j)];
        right(j, 0) = column[static_cast<std::size_t>(j)];
      }
      take(static_cast<int>(l), {left, right});
      if (l + 1 == layers.size()) break;
      Vector next(column.size());
      layers[l].visit_up(sink + 1, [&](int begin, int end, ConstMatrixView block) {
        for (int i = begin; i < end; ++i)
          next[static_cast<std::size_t>(i)] =
              options_.residual * column[static_cast<std::size_t>(i)] +
              moved * dot(block.row(i - begin), column.data(), i + 1);
      });
      column = std::move(next);
    }
  }

  StackGradientOptions options_;
  std::vector<int> sinks_;
  Vector parts_;  // of each sink, logarithms
  double log_mean_ = 0.0;
  std::vector<Vector> kept_;
};

}  // namespace

std::unique_ptr<DifferentiableMetric> stack_fidelity_gradient(std::span<const CombinedRows> layers,
                                                              const StackGradientOptions& options) {
  if (layers.empty()) throw InputError("stack_fidelity: expected at least one layer");
  for (const CombinedRows& layer : layers)
    if (layer.nodes() != layers.front().nodes())
      throw InputError(
          fmt::format("stack_fidelity: layers of {} and {} tokens; all layers need the "
                      "same tokens",
                      layers.front().nodes(), layer.nodes()));
  if (!(options.residual >= 0.0 && options.residual <= 1.0))
    throw UsageError(fmt::format("residual: {}, expected 0 to 1", options.residual));
  if (!(options.softness >= 0.0 && options.softness <= 1.0))
    throw UsageError(fmt::format("softness: {}, expected 0 to 1", options.softness));
  return std::make_unique<StackGradient>(layers, options);
}

}  // namespace synergraph
