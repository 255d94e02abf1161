#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "synergraph/chain/power_store.h"
#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/large_layout.h"
#include "synergraph/device/cuda/pinned_memory.h"

namespace synergraph::cuda {

/// What the first power is made of. Lists lie on the device.
struct PowersPlan {
  int nodes = 0;                    ///< without the node for missing mass
  int extra = 0;                    ///< 1: there is one, the first
  bool of_walk = false;             ///< the walk's columns; otherwise the rows of the signal
  const double* factor = nullptr;   ///< n: of columns; null: ones
  const double* stay = nullptr;     ///< n: the diagonal
  const double* missing = nullptr;  ///< n: entries of the node for missing mass, times the factor
  double missing_factor = 1.0;
  std::vector<double> leave;  ///< of every node: 1 - its diagonal, to full precision
};

/// Powers of a lower triangular matrix in a device's memory: of a walk, P(j, i) = M(i, j), or of a
/// signal, whose way back is the walk on the nodes in reverse order. Tiles of 64 x 64 entries lie
/// one after the other, so that a power takes 4 n^2 bytes.
class DevicePowers final : public PowerStore {
 public:
  /// DeviceFull where the memory does not hold three powers.
  DevicePowers(PowersPlan plan, cudaStream_t stream);
  ~DevicePowers() override;

  /// Takes the columns of the matrix from `first` on. Queued.
  void take_strip(const Entries& entries, int first, FloatType type);
  /// How many powers to keep beside the newest: half of the memory that is left.
  std::size_t capacity() const { return capacity_; }

  int nodes() const override { return plan_.nodes + plan_.extra; }
  void square() override;
  void keep() override { kept_[level_] = newest_; }
  void load(int level) override;
  void drop(int level) override;
  int level() const override { return level_; }
  std::vector<double> survival() const override;
  std::vector<double> arrival() const override;
  void multiply(int level, const double* in, double* out) override;
  const double* first_row(int level) override;
  std::vector<double> column(int level, int target) override;
  void multiply_row(int level, const double* in, double* out) override;
  void multiply_column(int level, const double* in, int count, double* out) override;
  void multiply_row_forward(const double* in, double* out) override;
  void multiply_column_forward(const double* in, int count, double* out) override;
  const std::vector<double>& leave() const override { return leave_; }

 private:
  struct Power {
    DeviceMemory<double> tiles;
    DeviceMemory<double> leave;
  };
  using Shared = std::shared_ptr<Power>;

  Shared make_power();
  void give_back(Shared& power);
  const Power& at(int level) const;
  /// y = M x, or y = x M, with the vectors in the order of the matrix or reversed.
  void apply(const Power& power, bool by_columns, bool forward, bool reversed, const double* in,
             int count, double* out) const;

  PowersPlan plan_;
  cudaStream_t stream_;
  int blocks_;                 ///< of 64 rows
  std::vector<double> leave_;  ///< as the walk counts its nodes
  Shared newest_;
  std::vector<Shared> spare_;
  std::map<int, Shared> kept_;
  int level_ = 0;
  std::size_t capacity_ = 1;
  std::map<int, std::vector<double>> first_rows_;
  mutable DeviceMemory<double> vectors_;  ///< in, then out
  mutable PinnedMemory<double> host_;
};

}  // namespace synergraph::cuda
