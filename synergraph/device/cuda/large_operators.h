#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "synergraph/device/cuda/device_memory.h"
#include "synergraph/device/cuda/event.h"
#include "synergraph/device/cuda/large_layout.h"
#include "synergraph/device/cuda/pinned_memory.h"
#include "synergraph/device/cuda/stream.h"
#include "synergraph/device/large/operators.h"

namespace synergraph::cuda {

/// Makes the entries of heads that are not in memory, a part at a time: see Held.
class HeadMaker {
 public:
  HeadMaker() = default;
  HeadMaker(const HeadMaker&) = delete;
  HeadMaker& operator=(const HeadMaker&) = delete;
  virtual ~HeadMaker() = default;

  /// The type of the elements that are made.
  virtual FloatType type() const = 0;
  /// Queues the sums of all heads. Row scales must be in place when strips are made.
  virtual void queue_sums(const std::vector<SumsJob>& jobs, const SumsJob* on_device,
                          cudaStream_t stream) = 0;
  /// Queues a strip of kStrip columns of every head: `strips` has strip_size() elements a head.
  virtual void queue_strips(int first, void* strips, cudaStream_t stream) = 0;
  /// Queues kBlock rows of every head, row_length elements apart.
  virtual void queue_rows(int first, std::int64_t row_length, void* rows, cudaStream_t stream) = 0;
};

/// The heads of one system in the device's memory, or made there.
struct LargeHeads {
  int nodes = 0;
  int heads = 0;
  int begin = 0;  ///< keys before the first one that is kept
  int after = 0;  ///< keys behind the last one
  FloatType type = FloatType::kFloat32;
  std::int64_t stride = 0;        ///< elements from one row to the next
  std::vector<const void*> data;  ///< element (0, 0) of every head; empty: they are made
  HeadMaker* maker = nullptr;
  std::vector<double> weights;  ///< convex
  bool missing_mass = false;    ///< what rows leave out is for a node of its own
  bool published = false;       ///< the published walk is wanted, too
  bool as_given = false;        ///< rows are not divided by their sums: columns of walks
};

/// Streams in which the parts of a sweep run side by side: one makes strips of the matrices, the
/// others use them. There are two places for strips, so that the next one is made meanwhile.
struct SweepLanes {
  static constexpr int kUsers = 4;
  static constexpr int kPlaces = 2;
  Stream maker;
  Stream users[kUsers];
  Event begin;
  Event made[kPlaces];
  Event used[kPlaces][kUsers];
};

/// Memory for the operators of a system, kept from one system to the next.
struct LargeWorkspace {
  SweepLanes lanes;
  DeviceMemory<double> numbers;  ///< lists with a number a node
  PinnedMemory<double> host;     ///< the same lists
  DeviceMemory<int> places;      ///< of peaks, then of limited peaks
  PinnedMemory<int> host_places;
  DeviceMemory<int> cuts;  ///< of published walks
  DeviceMemory<double> missing_flow;
  PinnedMemory<double> host_missing_flow;
  DeviceMemory<double> worst;
  PinnedMemory<double> host_worst;
  DeviceMemory<double> states;   ///< of signals, then of survivals
  DeviceMemory<double> partial;  ///< of signals, then of survivals
  DeviceMemory<double> hitting_partial;
  DeviceMemory<double> column_partial;
  DeviceMemory<double> combined_strips;  ///< diffusion, then walk; in every place
  DeviceMemory<std::byte> head_strips;   ///< of heads that are made; in every place
  DeviceMemory<Entries> head_entries;    ///< as strips of every place are combined, then as rows
  DeviceMemory<double> head_weights;
  DeviceMemory<double> head_columns;
  DeviceMemory<int> flags;
  DeviceMemory<SumsJob> jobs;
  DeviceMemory<std::byte> lists;
  PinnedMemory<std::byte> host_lists;
};

/// The operators of one system in a device's memory. All work is queued in one stream.
class LargeOperators final : public large::Operators {
 public:
  LargeOperators(const LargeHeads& heads, LargeWorkspace& workspace, cudaStream_t stream);
  ~LargeOperators() override;
  LargeOperators(const LargeOperators&) = delete;
  LargeOperators& operator=(const LargeOperators&) = delete;

  int nodes() const override;
  int heads() const override;
  const large::OperatorSums& sums(int op) const override;
  void sweep(std::span<const large::SweepTask> tasks) override;
  large::SignalPanel signal(int op) const override;
  large::SurvivalPanel survival(int op) const override;
  const double* hitting(int op) const override;
  void restart_signal(int op) override;
  double signal_at(int op, int j, int k) const override;
  std::vector<std::vector<double>> passing(std::span<const PassingTask> tasks) override;
  std::unique_ptr<WalkPowers> powers(int op, PowersOf of, const Execution& execution) override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace synergraph::cuda
