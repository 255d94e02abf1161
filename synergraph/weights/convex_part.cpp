#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/special_values.h"
#include "synergraph/weights/corner_pairs.h"
#include "synergraph/weights/part_walks.h"
#include "synergraph/weights/time_plane.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

class ConvexPart : public PartWalks {
 public:
  ConvexPart(std::vector<Walk> corners, Walk centre, std::vector<Vector> masses, Vector shares)
      : PartWalks(std::move(centre)),
        walks_(std::move(corners)),
        masses_(std::move(masses)),
        shares_(std::move(shares)) {}

 private:
  std::size_t corners() const override { return walks_.size(); }
  bool linear() const override { return masses_.empty(); }

  double step(std::size_t k, int j, const double* x) const override {
    return dot(walks_[k].step.row(j) + j, x + j, nodes() - j);
  }
  /// The least and the most of a number that every corner has, none negative.
  template <class Number>
  double least_of(const Number& number) const {
    double least = kInfinity;
    for (std::size_t k = 0; k < walks_.size(); ++k) least = std::min(least, number(k));
    return least;
  }
  template <class Number>
  double most_of(const Number& number) const {
    double most = 0.0;
    for (std::size_t k = 0; k < walks_.size(); ++k) most = std::max(most, number(k));
    return most;
  }

  double least(int j, const double* x) const override {
    return least_of([&](std::size_t k) { return step(k, j, x); });
  }
  double most(int j, const double* x) const override {
    return most_of([&](std::size_t k) { return step(k, j, x); });
  }
  double time(std::size_t k, int j, const double* x) const {
    const double leave = walks_[k].leave[static_cast<std::size_t>(j)];
    if (!(leave > 0.0)) return kInfinity;
    const double* row = walks_[k].step.row(j);
    double sum = 1.0;
    for (int i = j + 1; i < nodes(); ++i)
      if (row[i] > 0.0) sum += row[i] * x[i];
    return sum / leave;
  }
  double least_time(int j, const double* x) const override {
    return least_of([&](std::size_t k) { return time(k, j, x); });
  }
  double most_time(int j, const double* x) const override {
    return most_of([&](std::size_t k) { return time(k, j, x); });
  }
  void changes(const Vector& low, const Vector& high, std::vector<Vector>& change) const override;
  void add_planes(std::int64_t cutoff, std::vector<Vector>& rows) const override {
    const Vector plane = time_plane(walks_, masses_, shares_, cutoff);
    if (!plane.empty()) rows.push_back(paired(plane));
  }

  double mass(std::size_t k, int j) const {
    return masses_.empty() ? 1.0 : masses_[k][static_cast<std::size_t>(j)];
  }
  double lightest(int j) const {
    return least_of([&](std::size_t k) { return mass(k, j); });
  }
  double heaviest(int j) const {
    return most_of([&](std::size_t k) { return mass(k, j); });
  }

  std::vector<Walk> walks_;
  std::vector<Vector> masses_;
  Vector shares_;  // of the centre
};

void ConvexPart::changes(const Vector& low, const Vector& high, std::vector<Vector>& change) const {
  const int n = nodes();
  Vector middle(low.size());
  Vector radius(low.size());
  for (std::size_t i = 0; i < low.size(); ++i) {
    middle[i] = 0.5 * (low[i] + high[i]);
    radius[i] = 0.5 * (high[i] - low[i]);
  }
  for (int j = 0; j + 1 < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double* there = centre().step.row(j);
    for (std::size_t k = 0; k < walks_.size(); ++k) {
      const double* row = walks_[k].step.row(j);
      // What is kept is what is not passed on: nothing that a slow walk keeps enters.
      const double leave = walks_[k].leave[at] - centre().leave[at];
      double sum = -leave * middle[at] - std::abs(leave) * radius[at];
      for (int i = j + 1; i < n; ++i) {
        const double by = row[i] - there[i];
        const auto to = static_cast<std::size_t>(i);
        sum += by * middle[to] - std::abs(by) * radius[to];
      }
      if (!masses_.empty()) {
        // The corner's share of the row is its mass over that of all, which lies between the
        // lightest and the heaviest.
        const double divisor = sum < 0.0 ? lightest(j) : heaviest(j);
        if (!(mass(k, j) > 0.0))  // it has a share only where all that have one stay
          sum = std::min(sum, 0.0);
        else if (sum != 0.0)
          sum = divisor > 0.0 ? sum * (mass(k, j) / divisor) : -kInfinity;
      }
      change[k][at] = sum;
    }
  }
}

}  // namespace

std::unique_ptr<PartWalks> convex_part(std::vector<Walk> corners, Walk centre,
                                       std::vector<std::vector<double>> masses,
                                       std::vector<double> shares) {
  return std::make_unique<ConvexPart>(std::move(corners), std::move(centre), std::move(masses),
                                      std::move(shares));
}

}  // namespace synergraph
