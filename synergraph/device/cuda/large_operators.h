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
};

/// Sums of one operator, in the host's memory. See MatrixSums.
struct OperatorSums {
  std::vector<double> column, forward, diagonal;
  std::vector<double> whole;  ///< of a head
  int bad_rows = 0;
  bool all_go_down = true;  ///< every row but the first gives something to earlier nodes
};

/// What a panel of steps found of an operator's signal or survival. Pointers are valid until the
/// next sweep.
struct SignalPanel {
  const double* peak = nullptr;
  const int* place = nullptr;
  const double* after = nullptr;
};
struct SurvivalPanel {
  const double* sum = nullptr;
  const double* previous = nullptr;
  const double* after = nullptr;
  const double* worst = nullptr;  ///< kSteps + 1
};

/// What a sweep is to do with an operator.
struct SweepTask {
  int op = 0;
  bool signal = false;
  bool survival = false;
  bool hitting = false;
  int count = kSteps;  ///< survivals of the panel that enter the sum
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
  DeviceMemory<int> places;
  PinnedMemory<int> host_places;
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

/// The operators of one system: its heads, their combined diffusion, and the convex sum of their
/// walks. All work is queued in one stream; functions return when it is done.
class LargeOperators {
 public:
  LargeOperators(const LargeHeads& heads, LargeWorkspace& workspace, cudaStream_t stream);
  ~LargeOperators();
  LargeOperators(const LargeOperators&) = delete;
  LargeOperators& operator=(const LargeOperators&) = delete;

  int nodes() const;
  int heads() const;
  /// Numbers of the operators behind the heads. With one head there are none.
  int combined() const { return heads(); }
  int per_head() const { return heads() + 1; }
  int operators() const { return heads() == 1 ? 1 : heads() + 2; }

  const OperatorSums& sums(int op) const;

  /// One sweep over all strips for these tasks.
  void sweep(std::span<const SweepTask> tasks);
  SignalPanel signal(int op) const;
  SurvivalPanel survival(int op) const;
  const double* hitting(int op) const;
  /// Begins the signal again, at time 0.
  void restart_signal(int op);
  /// The signal of node j at step k of the newest panel, and after it for k = kSteps.
  double signal_at(int op, int j, int k) const;

  struct PassingTask {
    int op = 0;
    int target = 0;
  };
  /// Passing probabilities of the target of each task, in order, one list a task.
  std::vector<std::vector<double>> passing(std::span<const PassingTask> tasks);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace synergraph::cuda
