#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/special_values.h"
#include "synergraph/weights/part_walks.h"

namespace synergraph {
namespace {

using Vector = std::vector<double>;

/// c_w(i) = min(1, sum_k b_k C_k(i)), C_k the running sums of a column, and a step from j gives the
/// sum over i of c_w(i) (x(i) - x(i + 1)). c_w is concave in b: at least sum_k b_k min(1, C_k(i)),
/// at most 1 and at most sum_k b_k C_k(i).
class PublishedPart : public PartWalks {
 public:
  PublishedPart(std::span<const ConstMatrixView> corners, ConstMatrixView centre, Walk centre_walk)
      : PartWalks(std::move(centre_walk)), centre_sums_(running_sums(centre)) {
    for (const ConstMatrixView& corner : corners) sums_.push_back(running_sums(corner));
  }

 private:
  static Matrix running_sums(ConstMatrixView columns) {
    Matrix sums(columns.rows, columns.rows);
    for (int j = 0; j < columns.rows; ++j) {
      double sum = 0.0;
      for (int i = j; i < columns.rows; ++i) sums(j, i) = sum += columns(j, i);
    }
    return sums;
  }

  std::size_t corners() const override { return sums_.size(); }

  /// A linear function of the shares that is at least c_w(i), at corner k.
  double at_most(int j, int i, std::size_t k) const {
    return centre_sums_(j, i) < 1.0 ? sums_[k](j, i) : 1.0;
  }
  double at_least(int j, int i, std::size_t k) const { return std::min(1.0, sums_[k](j, i)); }

  /// What j receives of the falls of x at corner k: at most, or at least.
  double received(int j, const double* x, std::size_t k, bool most) const {
    double sum = 0.0;
    for (int i = j; i + 1 < nodes(); ++i) {
      const double fall = x[i] - x[i + 1];
      sum += fall * ((fall >= 0.0) == most ? at_most(j, i, k) : at_least(j, i, k));
    }
    return sum;
  }
  double least(int j, const double* x) const override {
    double least = kInfinity;
    for (std::size_t k = 0; k < sums_.size(); ++k)
      least = std::min(least, received(j, x, k, false));
    return std::max(0.0, least);
  }
  double most(int j, const double* x) const override {
    double most = 0.0;
    for (std::size_t k = 0; k < sums_.size(); ++k) most = std::max(most, received(j, x, k, true));
    return most;
  }
  // The first node is never left.
  double least_time(int /*j*/, const double* /*x*/) const override { return kInfinity; }
  double most_time(int /*j*/, const double* /*x*/) const override { return kInfinity; }

  void changes(const Vector& low, const Vector& high, std::vector<Vector>& change) const override {
    for (int j = 0; j + 1 < nodes(); ++j)
      for (std::size_t k = 0; k < sums_.size(); ++k) {
        double sum = 0.0;
        for (int i = j; i + 1 < nodes(); ++i) {
          const auto at = static_cast<std::size_t>(i);
          const double here = std::min(1.0, centre_sums_(j, i));
          const double less = at_least(j, i, k) - here;
          const double more = at_most(j, i, k) - here;
          const double fall_least = low[at] - high[at + 1];
          const double fall_most = high[at] - low[at + 1];
          sum += std::min(std::min(less * fall_least, less * fall_most),
                          std::min(more * fall_least, more * fall_most));
        }
        change[k][static_cast<std::size_t>(j)] = sum;
      }
  }

  Matrix centre_sums_;
  std::vector<Matrix> sums_;
};

}  // namespace

std::unique_ptr<PartWalks> published_part(std::span<const ConstMatrixView> corners,
                                          ConstMatrixView centre, Walk centre_walk) {
  return std::make_unique<PublishedPart>(corners, centre, std::move(centre_walk));
}

}  // namespace synergraph
