#include "synergraph/weights/weight_ascent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace synergraph {
namespace {

using Vector = std::vector<double>;

double norm(const Vector& a) {
  double sum = 0.0;
  for (const double x : a) sum += x * x;
  return std::sqrt(sum);
}

/// w + d on the simplex, without rounding's negatives.
Vector moved(const Vector& weights, const Vector& step) {
  Vector to(weights.size());
  double sum = 0.0;
  for (std::size_t h = 0; h < to.size(); ++h) sum += to[h] = std::max(0.0, weights[h] + step[h]);
  for (double& w : to) w /= sum;
  return to;
}

/// The curvature of the Lagrangian, kept positive (Powell's damping).
class Curvature {
 public:
  Curvature(std::size_t size, double start)
      : matrix_(static_cast<int>(size), static_cast<int>(size)), start_(start) {
    for (int h = 0; h < matrix_.rows(); ++h) matrix_(h, h) = start;
  }

  Matrix with(double extra) const {
    Matrix sum = matrix_;
    for (int h = 0; h < sum.rows(); ++h) sum(h, h) += extra;
    return sum;
  }

  /// After a step along which the gradient fell by `fall`.
  void learn(const Vector& step, const Vector& fall) {
    const auto size = step.size();
    Vector product(size, 0.0);
    double curved = 0.0;
    double along = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < size; ++k)
        product[i] += matrix_(static_cast<int>(i), static_cast<int>(k)) * step[k];
      curved += step[i] * product[i];
      along += step[i] * fall[i];
    }
    if (!(curved > 0.0)) return;
    if (!scaled_ && along > 0.0) {  // the first step sets the scale
      const double scale = std::clamp(along / curved, 1e-6, 1e6);
      for (int i = 0; i < matrix_.rows(); ++i) matrix_(i, i) = start_ * scale;
      for (double& p : product) p *= scale;
      curved *= scale;
    }
    scaled_ = true;
    const double kept = along >= 0.2 * curved ? 1.0 : 0.8 * curved / (curved - along);
    Vector damped(size);
    double divisor = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      damped[i] = kept * fall[i] + (1.0 - kept) * product[i];
      divisor += step[i] * damped[i];
    }
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < size; ++k)
        matrix_(static_cast<int>(i), static_cast<int>(k)) +=
            damped[i] * damped[k] / divisor - product[i] * product[k] / curved;
  }

 private:
  Matrix matrix_;
  double start_;
  bool scaled_ = false;
};

class Climb {
 public:
  Climb(const WeightObjective& objective, std::span<const double> start,
        const AscentOptions& options)
      : objective_(objective), options_(options), also_(objective.systems().size()) {
    point_ = objective.evaluate(start);
  }

  Ascent run() {
    Ascent result;
    if (objective_.heads() > 1 && std::isfinite(point_.height)) climb(result.iterations);
    result.point = std::move(point_);
    return result;
  }

 private:
  double enough() const {
    return 0.1 * options_.tolerance * (objective_.is_time() ? 1.0 : std::abs(point_.height));
  }
  void climb(int& iterations);
  bool advance(const Curvature& curvature);
  void correct(const WeightObjective::Point& trial, const Vector& step, double promised,
               const Matrix& curvature);
  bool accept(WeightObjective::Point trial, const Vector& step, double promised);
  void note_weakest(const WeightObjective::Point& trial);
  void note_multipliers(const ModelStep& model);

  const WeightObjective& objective_;
  const AscentOptions& options_;
  WeightObjective::Point point_;
  std::vector<WeightPiece> pieces_;
  std::vector<std::vector<int>> also_;  // nodes to keep in the model
  double extra_ = 0.0;                  // curvature that keeps steps short
  ModelStep model_;                     // of the accepted step
  Vector step_;
  bool accepted_ = false;
};

void Climb::note_weakest(const WeightObjective::Point& trial) {
  if (objective_.goal() != WeightGoal::kFidelity) return;
  for (std::size_t s = 0; s < also_.size(); ++s)
    also_[s].push_back(trial.systems[s].fidelity.minimax_node);
}

void Climb::note_multipliers(const ModelStep& model) {
  if (objective_.goal() != WeightGoal::kFidelity) return;
  for (std::vector<int>& nodes : also_) nodes.clear();
  for (std::size_t p = 0; p < pieces_.size(); ++p)
    if (model.multiplier[p] > 1e-6 / static_cast<double>(also_.size()))
      also_[pieces_[p].group].push_back(pieces_[p].node);
}

bool Climb::accept(WeightObjective::Point trial, const Vector& step, double promised) {
  constexpr double kPart = 1e-4;
  if (!(trial.height >= point_.height + kPart * promised)) return false;
  step_ = step;
  for (std::size_t h = 0; h < step.size(); ++h) step_[h] = trial.weights[h] - point_.weights[h];
  point_ = std::move(trial);
  accepted_ = true;
  return true;
}

/// The model bends where the weakest nodes change: with their values at the trial, a second try.
void Climb::correct(const WeightObjective::Point& trial, const Vector& step, double promised,
                    const Matrix& curvature) {
  std::vector<WeightPiece> bent = pieces_;
  for (WeightPiece& piece : bent) {
    piece.value = trial.systems[piece.group].fidelity.node[static_cast<std::size_t>(piece.node)];
    for (std::size_t h = 0; h < step.size(); ++h) piece.value -= piece.slope[h] * step[h];
  }
  Vector lower = point_.weights;
  for (double& l : lower) l = -l;
  ModelStep model = best_step(bent, objective_.groups(), lower, curvature);
  WeightObjective::Point second = objective_.evaluate(moved(point_.weights, model.step));
  if (accept(std::move(second), model.step, promised)) model_ = std::move(model);
}

/// One step; false where the model promises nothing.
bool Climb::advance(const Curvature& curvature) {
  constexpr int kMostTries = 25;
  Vector lower = point_.weights;
  for (double& l : lower) l = -l;
  accepted_ = false;
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const Matrix bent = curvature.with(extra_);
    ModelStep model = best_step(pieces_, objective_.groups(), lower, bent);
    const double promised = model.value - point_.height;
    if (!(promised > enough())) return false;
    WeightObjective::Point trial = objective_.evaluate(moved(point_.weights, model.step));
    const double gained = trial.height - point_.height;
    if (accept(trial, model.step, promised)) {
      model_ = std::move(model);
      if (gained > 0.75 * promised) extra_ *= 0.25;
      return true;
    }
    if (objective_.goal() == WeightGoal::kFidelity) {
      std::vector<std::vector<int>> before = also_;
      note_weakest(trial);
      std::vector<WeightPiece> more = objective_.pieces(point_, also_);
      const bool grown = more.size() > pieces_.size();
      pieces_ = std::move(more);
      if (grown) continue;
      if (attempt < 2) {
        correct(trial, model.step, promised, bent);
        if (accepted_) return true;
      }
    }
    // What the step lacked, as a curvature.
    const double length = norm(model.step);
    extra_ = std::max(4.0 * extra_, 0.5 * promised / (length * length));
  }
  return false;
}

void Climb::climb(int& iterations) {
  pieces_ = objective_.pieces(point_);
  double steepest = 0.0;
  for (const WeightPiece& piece : pieces_) steepest = std::max(steepest, norm(piece.slope));
  if (!(steepest > 0.0)) return;
  Curvature curvature(point_.weights.size(), steepest);
  for (; iterations < options_.iterations; ++iterations) {
    if (!advance(curvature)) return;
    const std::vector<WeightPiece> before = std::move(pieces_);
    pieces_ = before;
    note_multipliers(model_);
    pieces_ = objective_.pieces(point_, also_);
    // The fall of the Lagrangian's gradient along the step.
    Vector fall(step_.size(), 0.0);
    for (std::size_t p = 0; p < before.size(); ++p) {
      const auto same = std::find_if(pieces_.begin(), pieces_.end(), [&](const WeightPiece& piece) {
        return piece.group == before[p].group && piece.node == before[p].node;
      });
      if (same == pieces_.end()) continue;
      for (std::size_t h = 0; h < fall.size(); ++h)
        fall[h] += model_.multiplier[p] * (before[p].slope[h] - same->slope[h]);
    }
    curvature.learn(step_, fall);
  }
}

}  // namespace

Ascent ascend(const WeightObjective& objective, std::span<const double> start,
              const AscentOptions& options) {
  return Climb(objective, start, options).run();
}

double projected_gradient_norm(const WeightObjective& objective,
                               const WeightObjective::Point& point) {
  if (!std::isfinite(point.height)) return std::numeric_limits<double>::quiet_NaN();
  if (objective.heads() < 2) return 0.0;
  const std::vector<WeightPiece> pieces = objective.pieces(point);
  double steepest = 0.0;
  for (const WeightPiece& piece : pieces) steepest = std::max(steepest, norm(piece.slope));
  if (!(steepest > 0.0)) return 0.0;
  Vector lower = point.weights;
  for (double& l : lower) l = -l;
  const Matrix curvature = Curvature(lower.size(), steepest).with(0.0);
  return steepest * norm(best_step(pieces, objective.groups(), lower, curvature).step);
}

}  // namespace synergraph
