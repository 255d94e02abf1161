#pragma once

#include <cstring>

#include "synergraph/core/float_type.h"
#include "synergraph/device/small/layout.h"

namespace synergraph::small {

/// A team of one thread of the host, which has all nodes and is its only lane. It measures what a
/// block of threads of a GPU measures, by the same code.
class HostTeam {
 public:
  static constexpr int kNodes = kMostNodes;
  static constexpr int kEntries = kMostNodes;

  int rank() const { return 0; }
  int size() const { return 1; }
  int lane() const { return 0; }
  int lanes() const { return 1; }
  int group() const { return 0; }
  int groups() const { return 1; }
  void sync() const {}

  double lane_sum(double x) const { return x; }
  double lane_max(double x) const { return x; }
  int lane_least(int x) const { return x; }
  bool lane_any(bool x) const { return x; }
  double lane_broadcast(double x, int /*lane*/) const { return x; }
  double sum(double x) const { return x; }
  double max(double x) const { return x; }
  bool any(bool x) const { return x; }
  int either(int bits) const { return bits; }

  /// An element in memory, aligned or not.
  template <class T>
  double load(const void* at) const {
    T element;
    std::memcpy(&element, at, sizeof element);
    return number(element);
  }

  void take_matrix(const double* /*matrix*/, int /*nodes*/) {}
  /// The sums that product() returns.
  template <bool kSignal, bool kSurvival>
  void multiply(const double* matrix, const Pair* state, int nodes);
  Pair product(int j) const { return product_[j]; }
  /// square = matrix * matrix, both packed.
  void square(const double* matrix, double* square, int nodes) const;

 private:
  static double number(Float16 x) { return static_cast<double>(half_to_float(x.bits)); }
  static double number(BFloat16 x) { return static_cast<double>(bfloat_to_float(x.bits)); }
  static double number(float x) { return static_cast<double>(x); }
  static double number(double x) { return x; }

  Pair product_[kMostNodes];
};

template <bool kSignal, bool kSurvival>
void HostTeam::multiply(const double* matrix, const Pair* state, int nodes) {
  for (int j = 0; j < nodes; ++j) product_[j] = {};
  for (int i = 0; i < nodes; ++i) {
    const double* row = matrix + triangle_of(i);
    for (int j = 0; j <= i; ++j) {
      if (kSignal) product_[j].signal += row[j] * state[i].signal;
      if (kSurvival) product_[j].survival += row[j] * state[i].survival;
    }
  }
}

}  // namespace synergraph::small
