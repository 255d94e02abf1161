#pragma once

#include <map>
#include <vector>

#include "synergraph/chain/power_store.h"
#include "synergraph/chain/walk.h"
#include "synergraph/core/execution.h"

namespace synergraph {

/// The powers of a walk in the CPU's memory.
class WalkStore final : public PowerStore {
 public:
  /// Both must outlive this object.
  WalkStore(const Walk& walk, const Execution& execution) : walk_(walk), execution_(execution) {}

  int nodes() const override { return walk_.nodes(); }
  void square() override;
  void keep() override;
  void load(int level) override;
  void drop(int level) override { kept_.erase(level); }
  int level() const override { return level_; }
  std::vector<double> survival() const override;
  std::vector<double> arrival() const override;
  void multiply(int level, const double* in, double* out) override;
  const double* first_row(int level) override { return row(level, 0); }
  std::vector<double> column(int level, int target) override;
  void multiply_row(int level, const double* in, double* out) override;
  void multiply_column(int level, const double* in, int count, double* out) override;
  void multiply_row_forward(const double* in, double* out) override;
  void multiply_column_forward(const double* in, int count, double* out) override;
  const std::vector<double>& leave() const override { return walk_.leave; }

 private:
  struct Power {
    Matrix step;
    std::vector<double> leave;
  };
  /// A power without the empty triangle: the entries of row j from the diagonal on follow those of
  /// row j-1.
  struct Packed {
    ScratchVector<double> entries;
    std::vector<double> leave;
  };
  const Matrix& step() const { return level_ == 0 ? walk_.step : newest_.step; }
  const double* row(int level, int j) const;

  const Walk& walk_;  // level 0
  const Execution& execution_;
  Power newest_;  // level_, unless that is 0
  Power spare_;
  int level_ = 0;
  std::map<int, Packed> kept_;
};

}  // namespace synergraph
