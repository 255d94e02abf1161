#include "synergraph/gradients/fidelity_gradient.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/gradients/extents.h"
#include "synergraph/gradients/soft_minimum.h"
#include "synergraph/gradients/step_panel.h"
#include "synergraph/gradients/survival_gradient.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

/// r_t[j], 0 <= t <= steps, of the nodes up to the sink.
std::unique_ptr<StepPanel> signals(const CombinedRows& attention, int sink, int steps) {
  auto panel = std::make_unique<StepPanel>(sink + 1, steps);
  panel->row(sink)[0] = 1.0;
  panel->advance_down(attention);
  return panel;
}

/// Passes on the gradient of sum over t <= last of adjoint_t . r_t, where `adjoint` holds these at
/// step last - t: with a_t = adjoint_t + D a_{t+1} it is sum_t r_t[i] a_{t+1}[k].
void take_signals(const CombinedRows& attention, const StepPanel& signal, StepPanel& adjoint,
                  const DifferentiableMetric::Take& take) {
  const int last = adjoint.steps();
  if (last == 0) return;
  adjoint.advance_up(attention);
  adjoint.reverse();
  take(0, {signal.view(0, last), adjoint.view(1, last)});
}

void check_horizon(int horizon) {
  if (horizon < 1 || horizon > kMostGradientSteps)
    throw UsageError(
        fmt::format("horizon: {} steps, expected 1 to {}", horizon, kMostGradientSteps));
}

void check_node(const char* what, int node, int nodes) {
  if (node < 0 || node >= nodes)
    throw InputError(fmt::format("{}: {} is not one of the tokens 0 to {}", what, node, nodes - 1));
}

/// Values that are means over sinks of signals at places; these may depend on the signals.
class PlacedSignals final : public DifferentiableMetric {
 public:
  using Places = std::vector<SignalPlace>;
  /// Finds the places in the signals towards a sink; a place whose node is after the sink is 0.
  using Find = std::function<Places(const StepPanel& signal, int sink)>;

  PlacedSignals(const CombinedRows& attention, int steps, std::size_t count, Find find,
                const Sinks& sinks)
      : sinks_(sinks.of(attention.nodes())), steps_(steps), find_(std::move(find)) {
    values_.assign(count, 0.0);
    for (const int sink : sinks_) {
      auto signal = signals(attention, sink, steps);
      const Places places = find_(*signal, sink);
      for (std::size_t k = 0; k < count; ++k)
        if (places[k].node <= sink)
          values_[k] +=
              signal->row(places[k].node)[places[k].time] / static_cast<double>(sinks_.size());
      if (sinks_.size() == 1) kept_ = std::move(signal);
    }
  }

  void pull_back(std::span<const CombinedRows> layers, std::span<const double> upstream,
                 const Take& take) const override {
    for (const int sink : sinks_) {
      std::unique_ptr<StepPanel> made;
      if (!kept_) made = signals(layers[0], sink, steps_);
      const StepPanel& signal = kept_ ? *kept_ : *made;
      const Places places = find_(signal, sink);
      const auto counts = [&](std::size_t k) {
        return places[k].node <= sink && upstream[k] != 0.0;
      };
      int last = 0;
      for (std::size_t k = 0; k < places.size(); ++k)
        if (counts(k)) last = std::max(last, places[k].time);
      if (last == 0) continue;
      StepPanel adjoint(sink + 1, last);
      for (std::size_t k = 0; k < places.size(); ++k)
        if (counts(k))
          adjoint.row(places[k].node)[last - places[k].time] +=
              upstream[k] / static_cast<double>(sinks_.size());
      take_signals(layers[0], signal, adjoint, take);
    }
  }

 private:
  std::vector<int> sinks_;
  int steps_;
  Find find_;
  std::unique_ptr<StepPanel> kept_;
};

/// x^exponent, x >= 0: by products where the exponent is a small whole number, as 1 / softness
/// usually is.
double power(double x, double exponent) {
  constexpr double kMost = 64.0;
  if (exponent != std::floor(exponent) || exponent > kMost) return std::pow(x, exponent);
  double result = 1.0;
  for (auto left = static_cast<unsigned>(exponent); left != 0;) {
    if ((left & 1U) != 0) result *= x;
    left >>= 1U;
    if (left != 0) x *= x;
  }
  return result;
}

/// The first step with the largest signal of a node.
int first_peak(const StepPanel& signal, int node) {
  const double* r = signal.row(node);
  return static_cast<int>(std::max_element(r + 1, r + signal.steps() + 1) - r);
}

class Minimax final : public DifferentiableMetric {
 public:
  Minimax(const CombinedRows& attention, const FidelityGradientOptions& options)
      : options_(options), sinks_(options.sinks.of(attention.nodes())) {
    check_horizon(options.horizon);
    if (!(options.softness >= 0.0 && options.softness <= 1.0))
      throw UsageError(fmt::format("softness: {}, expected 0 to 1", options.softness));
    // The logarithm of the mean over sinks, and each sink's part of it.
    for (const int sink : sinks_) {
      auto signal = signals(attention, sink, options.horizon);
      parts_.push_back(log_value(*signal, sink));
      if (sinks_.size() == 1) kept_ = std::move(signal);
    }
    log_mean_ = log_mean_exp(parts_);
    values_ = {options.logarithm ? log_mean_ : std::exp(log_mean_)};
  }

  void pull_back(std::span<const CombinedRows> layers, std::span<const double> upstream,
                 const Take& take) const override {
    if (upstream[0] == 0.0) return;
    if (options_.logarithm && std::isinf(log_mean_))
      throw no_gradient_of_log_zero("minimax: the fidelity is 0 within the horizon");
    for (std::size_t s = 0; s < sinks_.size(); ++s) {
      const int sink = sinks_[s];
      if (counted(sink) == 0) continue;
      std::unique_ptr<StepPanel> made;
      if (!kept_) made = signals(layers[0], sink, options_.horizon);
      const StepPanel& signal = kept_ ? *kept_ : *made;
      // The derivative of the value towards r is factor / r, times shares.
      const double factor = upstream[0] / static_cast<double>(sinks_.size());
      StepPanel adjoint(sink + 1, options_.horizon);
      const double shift = options_.logarithm ? log_mean_ : 0.0;
      const int last = add_adjoint(signal, sink, factor, shift, parts_[s], adjoint);
      if (last < options_.horizon) {
        StepPanel shorter(sink + 1, last);
        for (int j = 0; j <= sink; ++j)
          std::copy_n(adjoint.row(j) + options_.horizon - last, last + 1, shorter.row(j));
        take_signals(layers[0], signal, shorter, take);
      } else {
        take_signals(layers[0], signal, adjoint, take);
      }
    }
  }

 private:
  int counted(int sink) const { return options_.nodes == FidelityNodes::kAll ? sink + 1 : sink; }

  /// log phi_j of a node, softened over its times.
  double log_peak(const double* r) const {
    const double most = *std::max_element(r + 1, r + options_.horizon + 1);
    if (!(most > 0.0)) return -std::numeric_limits<double>::infinity();
    if (options_.softness == 0.0) return std::log(most);
    double sum = 0.0;
    for (int t = 1; t <= options_.horizon; ++t)
      if (r[t] > 0.0) sum += power(r[t] / most, 1.0 / options_.softness);
    return std::log(most) + options_.softness * std::log(sum);
  }

  /// The logarithm of the value for one sink. Shares of the nodes, if there is a place for them.
  double log_value(const StepPanel& signal, int sink, Vector* shares = nullptr) const {
    if (counted(sink) == 0) return 0.0;  // no source: 1
    Vector peaks;
    for (int j = 0; j < counted(sink); ++j) peaks.push_back(log_peak(signal.row(j)));
    Vector own(peaks.size());
    const double value = soft_minimum(peaks, options_.softness, own);
    if (shares != nullptr) *shares = std::move(own);
    return value;
  }

  /// Sets the derivatives towards r_t[j], at step horizon - t; returns the last time that has one.
  /// d value / d r = share_j q_t / r_t value, q_t = r_t^beta / sum_t r_t^beta.
  int add_adjoint(const StepPanel& signal, int sink, double factor, double shift, double part,
                  StepPanel& adjoint) const {
    Vector shares;
    log_value(signal, sink, &shares);
    int last = 0;
    for (int j = 0; j < counted(sink); ++j) {
      const double share = shares[extent(j)];
      if (share == 0.0) continue;
      const double* r = signal.row(j);
      double* to = adjoint.row(j) + options_.horizon;
      const int peak = first_peak(signal, j);
      const double most = r[peak];
      if (options_.softness == 0.0 || !(most > 0.0)) {
        // value / r is 1 where the minimum is exact.
        to[-peak] = factor * share * (options_.logarithm ? std::exp(part - shift) / most : 1.0);
        last = std::max(last, peak);
        continue;
      }
      const double beta = 1.0 / options_.softness;
      double sum = 0.0;
      for (int t = 1; t <= options_.horizon; ++t)
        if (r[t] > 0.0) sum += power(r[t] / most, beta);
      const double scale = factor * share * std::exp(part - shift - std::log(most)) / sum;
      for (int t = 1; t <= options_.horizon; ++t) {
        const double level = std::max(0.0, r[t] / most);
        const double slope = beta == 1.0   ? scale
                             : level > 0.0 ? scale * power(level, beta - 1.0)
                                           : 0.0;
        to[-t] = slope;
        if (slope != 0.0) last = t > last ? t : last;
      }
    }
    return last;
  }

  FidelityGradientOptions options_;
  std::vector<int> sinks_;
  Vector parts_;  // of each sink, logarithms
  double log_mean_ = 0.0;
  std::unique_ptr<StepPanel> kept_;
};

}  // namespace

std::unique_ptr<DifferentiableMetric> signal_gradient(const CombinedRows& attention,
                                                      const std::vector<SignalPlace>& places,
                                                      const Sinks& sinks) {
  int steps = 0;
  for (const SignalPlace& place : places) {
    check_node("nodes", place.node, attention.nodes());
    if (place.time < 0 || place.time > kMostGradientSteps)
      throw UsageError(
          fmt::format("times: {} steps, expected 0 to {}", place.time, kMostGradientSteps));
    steps = std::max(steps, place.time);
  }
  if (places.empty()) throw UsageError("nodes: expected at least one");
  return std::make_unique<PlacedSignals>(
      attention, steps, places.size(), [places](const StepPanel&, int) { return places; }, sinks);
}

std::unique_ptr<DifferentiableMetric> peak_fidelity_gradient(
    const CombinedRows& attention, const std::vector<int>& nodes,
    const FidelityGradientOptions& options) {
  check_horizon(options.horizon);
  for (const int node : nodes) check_node("nodes", node, attention.nodes());
  if (nodes.empty()) throw UsageError("nodes: expected at least one");
  const auto find = [nodes](const StepPanel& signal, int sink) {
    std::vector<SignalPlace> places;
    places.reserve(nodes.size());
    for (const int node : nodes)
      places.push_back({node, node <= sink ? first_peak(signal, node) : 0});
    return places;
  };
  return std::make_unique<PlacedSignals>(attention, options.horizon, nodes.size(), find,
                                         options.sinks);
}

std::unique_ptr<DifferentiableMetric> minimax_fidelity_gradient(
    const CombinedRows& attention, const FidelityGradientOptions& options) {
  return std::make_unique<Minimax>(attention, options);
}

}  // namespace synergraph
