#include "synergraph/gradients/survival_gradient.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/gradients/extents.h"
#include "synergraph/gradients/step_panel.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

/// What is kept of one sink.
struct Survival {
  Vector inverse;   ///< 1 / C_j; 0 where no token attends to j, itself included: the walk stays
  StepPanel panel;  ///< s_t[j] of the sources
};

Survival survive(const CombinedRows& attention, int sink, int steps) {
  Survival made{Vector(extent(sink) + 1, 0.0), StepPanel(sink, steps)};
  attention.visit_up(sink + 1, [&](int begin, int end, ConstMatrixView block) {
    for (int i = begin; i < end; ++i)
      add_scaled(block.row(i - begin), 1.0, i + 1, made.inverse.data());
  });
  for (double& c : made.inverse) c = c > 0.0 ? 1.0 / c : 0.0;
  for (int j = 0; j < sink; ++j) made.panel.row(j)[0] = 1.0;
  made.panel.advance_down(attention, made.inverse.data());
  return made;
}

class SurvivalGradient final : public DifferentiableMetric {
 public:
  /// weights[k][t]: of s_t in value k.
  SurvivalGradient(const CombinedRows& attention, std::vector<Vector> weights, const Sinks& sinks)
      : sinks_(sinks.of(attention.nodes())), weights_(std::move(weights)) {
    for (const Vector& of_value : weights_)
      steps_ = std::max(steps_, static_cast<int>(of_value.size()) - 1);
    values_.assign(weights_.size(), 0.0);
    for (const int sink : sinks_) {
      Survival made = survive(attention, sink, steps_);
      for (std::size_t k = 0; k < values_.size(); ++k) {
        double sum = 0.0;
        for (int j = 0; j < sink; ++j)
          sum += dot(made.panel.row(j), weights_[k].data(), static_cast<int>(weights_[k].size()));
        values_[k] += sum / (static_cast<double>(sink + 1) * static_cast<double>(sinks_.size()));
      }
      if (sinks_.size() == 1) kept_ = std::make_unique<Survival>(std::move(made));
    }
  }

  void pull_back(std::span<const CombinedRows> layers, std::span<const double> upstream,
                 const Take& take) const override {
    Vector weight(extent(steps_) + 1, 0.0);  // of s_t in all values together
    int last = 0;                            // time that matters
    for (std::size_t k = 0; k < weights_.size(); ++k)
      for (std::size_t t = 0; t < weights_[k].size(); ++t)
        if (const double part = upstream[k] * weights_[k][t]; part != 0.0) {
          weight[t] += part;
          last = std::max(last, static_cast<int>(t));
        }
    if (last == 0) return;
    for (const int sink : sinks_) {
      if (sink == 0) continue;
      std::unique_ptr<Survival> made;
      if (!kept_) made = std::make_unique<Survival>(survive(layers[0], sink, steps_));
      pull_back(layers[0], sink, kept_ ? *kept_ : *made, weight, last, take);
    }
  }

 private:
  // With b_t = weight_t / n + P^T b_{t+1} the derivative towards P(j, i) is sum_t b_{t+1}[j]
  // s_t[i]. Through P(j, i) = D(i, j) / C_j it becomes sum_t (b_{t+1}[j] / C_j) (s_t[i] -
  // s_{t+1}[j]).
  void pull_back(const CombinedRows& attention, int sink, const Survival& made,
                 const Vector& weight, int last, const Take& take) const {
    const double scale = 1.0 / (static_cast<double>(sink + 1) * static_cast<double>(sinks_.size()));
    StepPanel adjoint(sink, last);  // of b_t / C at step last - t
    for (int j = 0; j < sink; ++j)
      for (int s = 0; s <= last; ++s)
        adjoint.row(j)[s] =
            weight[extent(last - s)] * scale * (s == 0 ? made.inverse[extent(j)] : 1.0);
    adjoint.advance_up(attention, made.inverse.data());
    adjoint.reverse();
    Matrix left(sink + 1, last + 1);  // s_0 .. s_{last-1}, and 1; zeros at the sink, which stays 0
    Matrix right(sink + 1, last + 1);
    for (int j = 0; j <= sink; ++j) {
      left(j, last) = 1.0;
      if (j == sink) break;
      std::copy_n(made.panel.row(j), last, left.row(j));
      std::copy_n(adjoint.row(j) + 1, last, right.row(j));
      right(j, last) = -dot(adjoint.row(j) + 1, made.panel.row(j) + 1, last);
    }
    take(0, {left, right});
  }

  std::vector<int> sinks_;
  std::vector<Vector> weights_;
  int steps_ = 0;
  std::unique_ptr<Survival> kept_;
};

void check_steps(const char* what, int steps, int least) {
  if (steps < least || steps > kMostGradientSteps)
    throw UsageError(
        fmt::format("{}: {} steps, expected {} to {}", what, steps, least, kMostGradientSteps));
}

}  // namespace

std::unique_ptr<DifferentiableMetric> truncated_hitting_time_gradient(const CombinedRows& attention,
                                                                      int cutoff,
                                                                      const Sinks& sinks) {
  check_steps("cutoff", cutoff, 1);
  return std::make_unique<SurvivalGradient>(
      attention, std::vector<Vector>{Vector(extent(cutoff), 1.0)}, sinks);
}

std::unique_ptr<DifferentiableMetric> survival_gradient(const CombinedRows& attention,
                                                        const std::vector<int>& times,
                                                        const Sinks& sinks) {
  std::vector<Vector> weights;
  for (const int time : times) {
    check_steps("times", time, 0);
    weights.emplace_back(extent(time) + 1, 0.0);
    weights.back().back() = 1.0;
  }
  if (weights.empty()) throw UsageError("times: expected at least one");
  return std::make_unique<SurvivalGradient>(attention, std::move(weights), sinks);
}

}  // namespace synergraph
