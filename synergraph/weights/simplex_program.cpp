#include "synergraph/weights/simplex_program.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace synergraph {
namespace {

using Vector = std::vector<double>;

double dot_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// K = L L' in place, lower triangle; pivots that rounding made too small are raised.
void factorise(Matrix& matrix) {
  const int n = matrix.rows();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = matrix(i, j);
      for (int k = 0; k < j; ++k) sum -= matrix(i, k) * matrix(j, k);
      if (i != j)
        matrix(i, j) = sum / matrix(j, j);
      else
        matrix(i, i) = std::sqrt(std::max(sum, 1e-30 + 1e-15 * std::abs(matrix(i, i))));
    }
  }
}

Vector solve(const Matrix& factor, Vector x) {
  const int n = factor.rows();
  for (int i = 0; i < n; ++i) {
    double& at = x[static_cast<std::size_t>(i)];
    for (int k = 0; k < i; ++k) at -= factor(i, k) * x[static_cast<std::size_t>(k)];
    at /= factor(i, i);
  }
  for (int i = n - 1; i >= 0; --i) {
    double& at = x[static_cast<std::size_t>(i)];
    for (int k = i + 1; k < n; ++k) at -= factor(k, i) * x[static_cast<std::size_t>(k)];
    at /= factor(i, i);
  }
  return x;
}

/// min x'Bx/2 - mean z with z_g <= a_p + g_p . (lower + x), x >= 0, sum x = -sum lower.
class InteriorPoint {
 public:
  InteriorPoint(std::span<const WeightPiece> pieces, std::size_t groups,
                std::span<const double> lower, const Matrix& curvature)
      : pieces_(pieces),
        lower_(lower),
        curvature_(curvature),
        share_(1.0 / static_cast<double>(groups)),
        heads_(lower.size()),
        z_(groups, std::numeric_limits<double>::infinity()),
        newton_(static_cast<int>(heads_), static_cast<int>(heads_)) {
    // Values count from the least of their group.
    base_.assign(groups, std::numeric_limits<double>::infinity());
    for (const WeightPiece& piece : pieces)
      base_[piece.group] = std::min(base_[piece.group], piece.value);
    double size = 0.0;
    for (const WeightPiece& piece : pieces)
      for (const double slope : piece.slope) size = std::max(size, std::abs(slope));
    for (int h = 0; h < curvature.rows(); ++h) size = std::max(size, curvature(h, h));
    unit_ = size > 1e-300 ? 1.0 / size : 1.0;
    room_ = 0.0;
    for (const double l : lower) room_ -= l;
    x_.assign(heads_, room_ / static_cast<double>(heads_));
    mu_.assign(heads_, 1.0 / static_cast<double>(heads_));
    Vector count(groups, 0.0);
    for (const WeightPiece& piece : pieces) count[piece.group] += 1.0;
    for (const WeightPiece& piece : pieces) {
      const double value = value_of(piece);
      z_[piece.group] = std::min(z_[piece.group], value - room_);
      lambda_.push_back(share_ / count[piece.group]);
    }
    for (const WeightPiece& piece : pieces) slack_.push_back(value_of(piece) - z_[piece.group]);
  }

  void run() {
    constexpr int kMost = 80;
    for (int iteration = 0; iteration < kMost; ++iteration) {
      const double gap = complementarity();
      residuals();
      if (gap <= 1e-15 * room_ && worst_ <= 1e-13 * (1.0 + room_)) break;
      prepare();
      const Direction affine = direction(0.0, nullptr);
      const double after = complementarity_after(affine, reach(affine, 1.0));
      const double ratio = after / gap;
      const Direction chosen = direction(gap * ratio * ratio * ratio, &affine);
      const double step = reach(chosen, 0.9995);
      if (!(step > 1e-12)) break;
      move(chosen, step);
    }
  }

  ModelStep take() {
    ModelStep result;
    for (std::size_t h = 0; h < heads_; ++h) result.step.push_back(lower_[h] + x_[h]);
    result.multiplier = lambda_;
    return result;
  }

 private:
  struct Direction {
    Vector x, mu, lambda, slack, z;
    double nu = 0.0;
  };

  double slope(const WeightPiece& piece, std::size_t h) const { return unit_ * piece.slope[h]; }
  double value_of(const WeightPiece& piece) const {
    double value = piece.value - base_[piece.group];
    for (std::size_t h = 0; h < heads_; ++h) value += piece.slope[h] * (lower_[h] + x_[h]);
    return unit_ * value;
  }

  double complementarity() const {
    const double sum = dot_product(x_, mu_) + dot_product(slack_, lambda_);
    return sum / static_cast<double>(heads_ + pieces_.size());
  }
  double complementarity_after(const Direction& d, double step) const {
    double sum = 0.0;
    for (std::size_t h = 0; h < heads_; ++h)
      sum += (x_[h] + step * d.x[h]) * (mu_[h] + step * d.mu[h]);
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      sum += (slack_[p] + step * d.slack[p]) * (lambda_[p] + step * d.lambda[p]);
    return sum / static_cast<double>(heads_ + pieces_.size());
  }

  void residuals() {
    dual_.assign(heads_, nu_);
    for (std::size_t h = 0; h < heads_; ++h) {
      dual_[h] -= mu_[h];
      for (std::size_t k = 0; k < heads_; ++k)
        dual_[h] +=
            unit_ * curvature_(static_cast<int>(h), static_cast<int>(k)) * (lower_[k] + x_[k]);
    }
    group_.assign(z_.size(), -share_);
    primal_.resize(pieces_.size());
    worst_ = 0.0;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (std::size_t h = 0; h < heads_; ++h) dual_[h] -= lambda_[p] * slope(pieces_[p], h);
      group_[pieces_[p].group] += lambda_[p];
      primal_[p] = value_of(pieces_[p]) - z_[pieces_[p].group] - slack_[p];
      worst_ = std::max(worst_, std::abs(primal_[p]));
    }
    sum_ = -room_;
    for (const double x : x_) sum_ += x;
    for (const double r : dual_) worst_ = std::max(worst_, std::abs(r));
  }

  /// The matrix of Newton's equations, without all but the steps.
  void prepare() {
    theta_.resize(pieces_.size());
    weight_.assign(z_.size(), 0.0);
    mean_.assign(z_.size(), Vector(heads_, 0.0));
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      theta_[p] = lambda_[p] / slack_[p];
      weight_[pieces_[p].group] += theta_[p];
      for (std::size_t h = 0; h < heads_; ++h)
        mean_[pieces_[p].group][h] += theta_[p] * slope(pieces_[p], h);
    }
    for (std::size_t g = 0; g < z_.size(); ++g)
      for (double& m : mean_[g]) m /= weight_[g];
    for (std::size_t i = 0; i < heads_; ++i)
      for (std::size_t k = 0; k <= i; ++k)
        newton_(static_cast<int>(i), static_cast<int>(k)) =
            unit_ * curvature_(static_cast<int>(i), static_cast<int>(k)) +
            (i == k ? mu_[i] / x_[i] : 0.0);
    Vector apart(heads_);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (std::size_t h = 0; h < heads_; ++h)
        apart[h] = slope(pieces_[p], h) - mean_[pieces_[p].group][h];
      for (std::size_t i = 0; i < heads_; ++i) {
        double* row = newton_.row(static_cast<int>(i));
        const double factor = theta_[p] * apart[i];
        for (std::size_t k = 0; k <= i; ++k) row[k] += factor * apart[k];
      }
    }
    factorise(newton_);
    ones_ = solve(newton_, Vector(heads_, 1.0));
  }

  /// Newton's step towards complementarity `target`, with the second order of `affine` if given.
  Direction direction(double target, const Direction* affine) const {
    Direction d;
    const std::size_t count = pieces_.size();
    Vector c(count);
    Vector zeta(z_.size());
    for (std::size_t g = 0; g < z_.size(); ++g) zeta[g] = -group_[g];
    for (std::size_t p = 0; p < count; ++p) {
      c[p] = lambda_[p] * slack_[p] - target;
      if (affine != nullptr) c[p] += affine->lambda[p] * affine->slack[p];
      zeta[pieces_[p].group] += c[p] / slack_[p] + theta_[p] * primal_[p];
    }
    for (std::size_t g = 0; g < z_.size(); ++g) zeta[g] /= weight_[g];
    Vector right(heads_);
    Vector e(heads_);
    for (std::size_t h = 0; h < heads_; ++h) {
      e[h] = mu_[h] * x_[h] - target;
      if (affine != nullptr) e[h] += affine->mu[h] * affine->x[h];
      right[h] = -dual_[h] - e[h] / x_[h];
    }
    Vector fixed(count);  // the part of the multipliers' step that does not depend on the step
    for (std::size_t p = 0; p < count; ++p) {
      fixed[p] = -c[p] / slack_[p] - theta_[p] * (primal_[p] - zeta[pieces_[p].group]);
      for (std::size_t h = 0; h < heads_; ++h) right[h] += fixed[p] * slope(pieces_[p], h);
    }
    d.x = solve(newton_, right);
    double total = 0.0;
    double ones = 0.0;
    for (std::size_t h = 0; h < heads_; ++h) {
      total += d.x[h];
      ones += ones_[h];
    }
    d.nu = (total + sum_) / ones;
    for (std::size_t h = 0; h < heads_; ++h) {
      d.x[h] -= d.nu * ones_[h];
      d.mu.push_back((-e[h] - mu_[h] * d.x[h]) / x_[h]);
    }
    for (std::size_t g = 0; g < z_.size(); ++g) d.z.push_back(zeta[g] + dot_product(mean_[g], d.x));
    for (std::size_t p = 0; p < count; ++p) {
      double rise = 0.0;
      for (std::size_t h = 0; h < heads_; ++h) rise += slope(pieces_[p], h) * d.x[h];
      d.slack.push_back(rise - d.z[pieces_[p].group] + primal_[p]);
      d.lambda.push_back((-c[p] - lambda_[p] * d.slack[p]) / slack_[p]);
    }
    return d;
  }

  /// How far to go before something non-negative is not.
  double reach(const Direction& d, double part) const {
    double step = 1.0 / part;
    const auto limit = [&](const Vector& at, const Vector& by) {
      for (std::size_t k = 0; k < at.size(); ++k)
        if (by[k] < 0.0) step = std::min(step, -at[k] / by[k]);
    };
    limit(x_, d.x);
    limit(mu_, d.mu);
    limit(slack_, d.slack);
    limit(lambda_, d.lambda);
    return std::min(1.0, part * step);
  }

  void move(const Direction& d, double step) {
    const auto add = [&](Vector& at, const Vector& by) {
      for (std::size_t k = 0; k < at.size(); ++k) at[k] += step * by[k];
    };
    add(x_, d.x);
    add(mu_, d.mu);
    add(slack_, d.slack);
    add(lambda_, d.lambda);
    add(z_, d.z);
    nu_ += step * d.nu;
  }

  std::span<const WeightPiece> pieces_;
  std::span<const double> lower_;
  const Matrix& curvature_;
  double share_;
  std::size_t heads_;
  Vector base_;        // of each group's values
  double unit_ = 1.0;  // of values
  double room_ = 0.0;
  Vector x_, mu_, lambda_, slack_, z_;
  double nu_ = 0.0;
  Vector dual_, group_, primal_;  // residuals
  double sum_ = 0.0;
  double worst_ = 0.0;
  Vector theta_, weight_, ones_;
  std::vector<Vector> mean_;
  Matrix newton_;
};

}  // namespace

double model_value(std::span<const WeightPiece> pieces, std::size_t groups,
                   std::span<const double> step) {
  Vector least(groups, std::numeric_limits<double>::infinity());
  for (const WeightPiece& piece : pieces)
    least[piece.group] = std::min(least[piece.group], piece.value + dot_product(piece.slope, step));
  double sum = 0.0;
  for (const double value : least) sum += value;
  return sum / static_cast<double>(groups);
}

ModelStep best_step(std::span<const WeightPiece> pieces, std::size_t groups,
                    std::span<const double> lower, const Matrix& curvature) {
  InteriorPoint point(pieces, groups, lower, curvature);
  point.run();
  ModelStep result = point.take();
  result.value = model_value(pieces, groups, result.step);
  return result;
}

}  // namespace synergraph
