#pragma once

// What a device does for large systems, by plain loops over matrices in double precision.

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "synergraph/chain/walk_store.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/special_values.h"
#include "synergraph/device/large/operators.h"
#include "synergraph/diffusion/absorption.h"
#include "synergraph/diffusion/slow_signal.h"

namespace synergraph::testing_support {

class HostOperators final : public large::Operators {
 public:
  /// Heads are lower triangular, in rows that sum to one, or to less with `missing`. `as_given`:
  /// columns of walks, whose rows sum to anything.
  HostOperators(std::vector<Matrix> heads, std::vector<double> weights, bool missing,
                bool as_given = false)
      : heads_(static_cast<int>(heads.size())),
        weights_(std::move(weights)),
        missing_(missing),
        as_given_(as_given) {
    const int n = heads.front().rows();
    const int bases = operators();
    all_.resize(static_cast<std::size_t>(2 * bases));
    for (int h = 0; h < heads_; ++h)
      take_head(of(h), std::move(heads[static_cast<std::size_t>(h)]));
    if (heads_ > 1) {
      Operator& sum = of(heads_);
      Operator& walk = of(heads_ + 1);
      sum.entries = walk.entries = Matrix(n, n);
      walk.is_walk = true;
      resize(sum);
      resize(walk);
      walk.sums.missing_own = 0.0;
      for (int h = 0; h < heads_; ++h) add_head(of(h), weights_[static_cast<std::size_t>(h)]);
      sum.sums.missing_mass = 1.0 + sum.sums.missing_forward;
      std::fill(walk.sums.column.begin(), walk.sums.column.end(), 1.0);
    }
    for (int op = 0; op < bases; ++op) start(of(op));
    for (int base = 0; base < (heads_ == 1 ? 1 : heads_ + 1); ++base) publish(base);
  }

  int nodes() const override { return all_.front().entries.rows(); }
  int heads() const override { return heads_; }
  const large::OperatorSums& sums(int op) const override { return of(op).sums; }

  void sweep(std::span<const large::SweepTask> tasks) override {
    ++sweeps;
    for (const large::SweepTask& task : tasks) {
      Operator& op = of(task.op);
      if (task.signal) step_signal(op, task.last);
      if (task.survival) step_survival(op, task.count);
      if (task.hitting) find_hitting(op);
    }
  }
  large::SignalPanel signal(int op) const override {
    const Operator& o = of(op);
    return {o.peak.data(),         o.place.data(),         o.signal.data(),
            o.limited_peak.data(), o.limited_place.data(), o.signal_missing.data()};
  }
  large::SurvivalPanel survival(int op) const override {
    const Operator& o = of(op);
    return {o.sum.data(), o.previous.data(), o.survival.data(), o.worst.data(),
            o.survival_missing.data()};
  }
  const double* hitting(int op) const override { return of(op).times.data(); }
  void restart_signal(int op) override {
    of(op).signal.assign(of(op).signal.size(), 0.0);
    of(op).signal.back() = 1.0;
  }
  double signal_at(int op, int j, int k) const override {
    return of(op).signal_states[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)];
  }
  std::vector<std::vector<double>> passing(std::span<const PassingTask> tasks) override {
    std::vector<std::vector<double>> found;
    for (const PassingTask& task : tasks) {
      const Operator& o = of(task.op);
      std::vector<double> p(static_cast<std::size_t>(nodes()), 0.0);
      p[static_cast<std::size_t>(task.target)] = 1.0;
      for (int i = task.target + 1; i < nodes(); ++i) {
        double down = missing_of(o, i);
        double ever = 0.0;
        for (int k = 0; k < i; ++k) {
          down += o.entries(i, k);
          ever += o.entries(i, k) * p[static_cast<std::size_t>(k)];
        }
        p[static_cast<std::size_t>(i)] = down > 0.0 ? ever / down : 0.0;
      }
      found.push_back(std::move(p));
    }
    return found;
  }
  std::unique_ptr<WalkPowers> powers(int op, PowersOf what, const Execution& execution) override {
    ++squared;
    const Operator& o = of(op);
    const Matrix whole = with_missing(o, what == PowersOf::kWalk);
    if (what == PowersOf::kSignal) {
      walks_.push_back(std::make_unique<Walk>(way_back(whole)));
    } else {
      Walk walk{Matrix(whole.rows(), whole.rows()), {}};
      for (int j = 0; j < whole.rows(); ++j)
        for (int i = j; i < whole.rows(); ++i) walk.step(j, i) = whole(i, j);
      if (missing_) walk.leave.push_back(o.sums.missing_forward / o.sums.missing_mass);
      for (std::size_t j = 0; j < o.sums.column.size(); ++j)
        walk.leave.push_back(o.sums.column[j] > 0.0 ? o.sums.forward[j] / o.sums.column[j] : 0.0);
      walk.leave.back() = 0.0;
      walks_.push_back(std::make_unique<Walk>(std::move(walk)));
    }
    return std::make_unique<WalkPowers>(std::make_unique<WalkStore>(*walks_.back(), execution), 100,
                                        execution);
  }

  int sweeps = 0;
  int squared = 0;

 private:
  struct Operator {
    Matrix entries;  // of the signal; of the walk, times factor
    large::OperatorSums sums;
    bool is_walk = false;  // entries of a walk alone
    std::vector<double> factor, stay;
    std::vector<double> signal, survival, peak, limited_peak, sum, previous, times;
    std::vector<int> place, limited_place;
    std::vector<double> worst, signal_missing, survival_missing;
    std::vector<std::vector<double>> states;         // of the newest panel
    std::vector<std::vector<double>> signal_states;  // of the signal's newest panel
  };

  Operator& of(int op) { return all_[static_cast<std::size_t>(op)]; }
  const Operator& of(int op) const { return all_[static_cast<std::size_t>(op)]; }
  static double missing_of(const Operator& o, int i) {
    return o.sums.missing.empty() ? 0.0 : o.sums.missing[static_cast<std::size_t>(i)];
  }

  void resize(Operator& o) const {
    const auto n = static_cast<std::size_t>(o.entries.rows());
    o.sums.column.assign(n, 0.0);
    o.sums.forward.assign(n, 0.0);
    o.sums.diagonal.assign(n, 0.0);
    if (missing_) o.sums.missing.assign(n, 0.0);
  }

  void take_head(Operator& o, Matrix head) const {
    const int n = head.rows();
    o.entries = Matrix(n, n);
    resize(o);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      long double left = 1.0L;
      long double sum = 0.0L;
      for (int j = 0; j <= i; ++j) {
        left -= head(i, j);
        sum += head(i, j);
      }
      const double missing = missing_ && left > 0.0L ? static_cast<double>(left) : 0.0;
      const double kept = as_given_ ? 1.0 : static_cast<double>(sum) + missing;
      o.sums.whole.push_back(static_cast<double>(sum));
      if (missing_) o.sums.missing[at] = missing / kept;
      for (int j = 0; j <= i; ++j) o.entries(i, j) = head(i, j) / kept;
      o.sums.diagonal[at] = o.entries(i, i);
      double down = missing_of(o, i);
      for (int j = 0; j < i; ++j) {
        down += o.entries(i, j);
        o.sums.forward[static_cast<std::size_t>(j)] += o.entries(i, j);
      }
      if ((i > 0 || missing_) && !(down > 0.0)) o.sums.all_go_down = false;
      if (missing_) o.sums.missing_forward += o.sums.missing[at];
    }
    for (std::size_t j = 0; j < o.sums.column.size(); ++j)
      o.sums.column[j] = o.sums.forward[j] + o.sums.diagonal[j];
    o.sums.missing_mass = 1.0 + o.sums.missing_forward;
  }

  void add_head(const Operator& head, double weight) {
    Operator& sum = of(heads_);
    Operator& walk = of(heads_ + 1);
    for (int j = 0; j < nodes(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double each = head.sums.column[at] > 0.0 ? weight / head.sums.column[at] : 0.0;
      for (int i = j; i < nodes(); ++i) {
        sum.entries(i, j) += weight * head.entries(i, j);
        walk.entries(i, j) += each * head.entries(i, j);
      }
      sum.sums.column[at] += weight * head.sums.column[at];
      sum.sums.forward[at] += weight * head.sums.forward[at];
      sum.sums.diagonal[at] += weight * head.sums.diagonal[at];
      walk.sums.forward[at] += each * head.sums.forward[at];
      walk.sums.diagonal[at] += each * head.sums.diagonal[at];
      if (missing_) {
        sum.sums.missing[at] += weight * head.sums.missing[at];
        walk.sums.missing[at] += weight * (head.sums.missing[at] / head.sums.missing_mass);
      }
    }
    sum.sums.missing_forward += weight * head.sums.missing_forward;
    walk.sums.missing_forward += weight * (head.sums.missing_forward / head.sums.missing_mass);
    walk.sums.missing_own += weight / head.sums.missing_mass;
    if (weight > 0.0) sum.sums.all_go_down = sum.sums.all_go_down && head.sums.all_go_down;
  }

  void start(Operator& o) const {
    const auto n = o.sums.column.size();
    for (std::size_t j = 0; j < n; ++j) {
      const double mass = o.sums.column[j];
      const double factor = mass > 0.0 ? 1.0 / mass : 0.0;
      const double leave = o.sums.forward[j] * factor;
      o.factor.push_back(factor);
      o.stay.push_back(!(mass > 0.0)  ? 1.0
                       : leave <= 0.5 ? 1.0 - leave
                                      : o.sums.diagonal[j] * factor);
    }
    start_states(o);
  }

  static void start_states(Operator& o) {
    const auto n = o.sums.column.size();
    o.factor.back() = o.stay.back() = 0.0;
    o.signal.assign(n, 0.0);
    o.signal.back() = 1.0;
    o.survival.assign(n, 1.0);
    o.survival.back() = 0.0;
    o.signal_missing.assign(large::kSteps, 0.0);
    o.survival_missing.assign(large::kSteps, 0.0);
  }

  void publish(int base) {
    const Operator& from = of(base);
    Operator& o = of(operators() + base);
    const int n = from.entries.rows();
    o.entries = Matrix(n, n);
    resize(o);
    o.sums.column.assign(static_cast<std::size_t>(n), 1.0);
    o.factor.assign(static_cast<std::size_t>(n), 1.0);
    for (int j = 0; j < n; ++j) {
      const double own = from.entries(j, j);
      double rest = missing_of(from, j);
      for (int k = 0; k < j; ++k) rest += from.entries(j, k);
      const bool slow = own > 0.5 && std::abs(rest + own - 1.0) <= 1e-12;
      double reached = slow ? 0.0 : own;
      const double whole = slow ? rest : 1.0;
      double leave = 0.0;
      for (int i = j + 1; i < n; ++i) {
        const double entry = std::min(from.entries(i, j), std::max(0.0, whole - reached));
        reached += from.entries(i, j);
        o.entries(i, j) = entry;
        leave += entry;
      }
      o.sums.forward[static_cast<std::size_t>(j)] =
          slow ? rest : leave + std::max(0.0, whole - reached);
      o.sums.diagonal[static_cast<std::size_t>(j)] = std::min(own, 1.0);
    }
    if (!missing_) o.sums.forward.front() = 0.0;
    o.stay = o.sums.diagonal;
    start_states(o);
  }

  /// x_{t+1}[j] = factor[j] sum over i > j of a(i, j) x_t[i] + stay[j] x_t[j].
  static void panel(Operator& o, const std::vector<double>& factor, const std::vector<double>& stay,
                    std::vector<double>& now, std::vector<double>& missing) {
    o.states.assign(1, now);
    const int n = o.entries.rows();
    for (int t = 0; t < large::kSteps; ++t) {
      double flow = 0.0;
      std::vector<double> next(now.size());
      for (int j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        flow += missing_of(o, j) * now[at];
        double sum = 0.0;
        for (int i = j + 1; i < n; ++i) sum += o.entries(i, j) * now[static_cast<std::size_t>(i)];
        next[at] = factor[at] * sum + stay[at] * now[at];
      }
      missing[static_cast<std::size_t>(t)] = flow;
      now = next;
      o.states.push_back(now);
    }
  }

  static void find_peaks(const Operator& o, int last, std::vector<double>& peak,
                         std::vector<int>& place) {
    const std::size_t n = o.sums.column.size();
    peak.assign(n, 0.0);
    place.assign(n, 0);
    for (std::size_t j = 0; j < n; ++j) {
      const int first = j + 1 == n ? 1 : 0;
      for (int t = first; t <= last; ++t)
        peak[j] = std::max(peak[j], o.states[static_cast<std::size_t>(t)][j]);
      int t = first;
      while (t < last && o.states[static_cast<std::size_t>(t)][j] < peak[j] * (1.0 - 1e-14)) ++t;
      place[j] = t;
    }
  }

  void step_signal(Operator& o, int last) const {
    panel(o, std::vector<double>(o.signal.size(), 1.0), o.sums.diagonal, o.signal,
          o.signal_missing);
    o.signal_states = o.states;
    find_peaks(o, large::kSteps, o.peak, o.place);
    find_peaks(o, last, o.limited_peak, o.limited_place);
  }

  static void step_survival(Operator& o, int count) {
    panel(o, o.factor, o.stay, o.survival, o.survival_missing);
    o.sum.assign(o.survival.size(), 0.0);
    o.worst.clear();
    for (int t = 0; t <= large::kSteps; ++t) {
      const auto& state = o.states[static_cast<std::size_t>(t)];
      o.worst.push_back(*std::max_element(state.begin(), state.end()));
      for (std::size_t j = 0; t < count && j < state.size(); ++j) o.sum[j] += state[j];
    }
    o.previous = o.states[large::kSteps - 1];
  }

  static void find_hitting(Operator& o) {
    const int n = o.entries.rows();
    const bool traps = o.sums.has_trap();
    o.times.assign(static_cast<std::size_t>(n), 0.0);
    for (int j = n - 2; j >= 0; --j) {
      const auto at = static_cast<std::size_t>(j);
      const bool trapped = !(o.sums.forward[at] > 0.0);
      double sum = !traps ? o.sums.column[at] : trapped ? 1.0 : 0.0;
      for (int i = j + 1; i < n; ++i) sum += o.entries(i, j) * o.times[static_cast<std::size_t>(i)];
      o.times[at] = sum / (trapped ? 1.0 : o.sums.forward[at]);
    }
  }

  /// The matrix with the node for missing mass: of the signal by rows, of the walk by columns.
  Matrix with_missing(const Operator& o, bool walk) const {
    const int n = o.entries.rows();
    const int extra = missing_ ? 1 : 0;
    Matrix whole(n + extra, n + extra);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        const auto at = static_cast<std::size_t>(j);
        whole(i + extra, j + extra) = !walk    ? o.entries(i, j)
                                      : i == j ? (j == n - 1 ? 1.0 : o.stay[at])
                                               : o.entries(i, j) * o.factor[at];
      }
    if (extra == 0) return whole;
    const double mass = o.sums.missing_mass;
    whole(0, 0) = walk ? 1.0 - o.sums.missing_forward / mass : 1.0;
    for (int i = 0; i < n; ++i) whole(i + 1, 0) = missing_of(o, i) / (walk ? mass : 1.0);
    return whole;
  }

  int heads_;
  std::vector<double> weights_;
  bool missing_;
  bool as_given_;
  std::vector<Operator> all_;
  std::vector<std::unique_ptr<Walk>> walks_;
};

}  // namespace synergraph::testing_support
