#pragma once

#include <cstddef>
#include <cstdint>

#include "synergraph/core/float_type.h"

/// What many small systems look like to the threads that measure them: plain data, the same on the
/// host and on a device.
namespace synergraph::small {

/// The most nodes of a small system. Packed, two lower triangles of doubles for 128 nodes fill 132
/// KB, which the shared memory of a block holds beside the states (227 KB on sm_90, 163 on sm_80).
inline constexpr int kMostNodes = 128;
/// The most eps of one task.
inline constexpr int kMostEps = 4;
/// Single steps of survivals that enter a truncated sum; what needs more is undecided.
inline constexpr int kMostSumSteps = 1000;
/// Powers P^(2^k) of a slow walk, k below this; what mixes later is undecided.
inline constexpr int kMostPowers = 64;
/// Steps between two looks at what is decided, at first and after kManySteps.
inline constexpr int kLookSteps = 8;
inline constexpr int kLateLookSteps = 32;
inline constexpr int kManySteps = 64;

/// Elements of the short types.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// Elements of a packed lower triangle; row i begins at triangle_of(i).
constexpr int triangle_of(int rows) {
  return rows * (rows + 1) / 2;
}

/// Which walk is measured.
enum class WalkOf {
  kNone,
  kColumns,    ///< of the matrix's columns
  kPublished,  ///< the same, cut at 1
  kHeadWalks,  ///< the convex sum of the walks of all heads
};

/// Attention in memory, [sample][head][query][key]; strides in bytes.
struct Attention {
  const void* data = nullptr;
  FloatType type = FloatType::kFloat32;
  std::int64_t sample = 0;
  std::int64_t head = 0;
  std::int64_t query = 0;
  std::int64_t key = 0;
  int tokens = 0;
  int heads = 0;
  double row_tolerance = 0.0;     ///< of the sums of rows
  double causal_tolerance = 0.0;  ///< of entries above the diagonal
};

/// What is measured of a matrix. A convention asks for a few of them.
struct Task {
  WalkOf walk = WalkOf::kNone;
  bool signal = true;               ///< the minimax fidelity
  std::int64_t horizon = 0;         ///< 0: certified
  std::int64_t cutoff = 0;          ///< of truncated times
  int eps = 0;                      ///< how many
  double threshold[kMostEps] = {};  ///< survivals that reach eps, see mixing_rules::Threshold
};

/// One matrix of one sequence, by one task.
struct Job {
  std::int64_t sample = 0;
  int begin = 0;  ///< the first token
  int nodes = 0;
  int head = -1;  ///< -1: all heads together
  int task = 0;
  int weights = 0;    ///< where the weights of this sample's heads begin
  int combined = -1;  ///< the job whose minimax signal is followed in this head, too
  /// Nodes that count for the minimax, a bit each.
  std::uint32_t chosen[kMostNodes / 32] = {};
};

/// Why a matrix is left to the CPU. Each is a bit.
enum Undecided : int {
  kBadAttention = 1,  ///< a row that is refused, or needs a second look
  kKeepsSignal = 2,   ///< a node other than the first keeps what it gets
  kOutOfRange = 4,    ///< sums so small or large that digits would be lost
  kSlowSignal = 8,    ///< the minimax is not final where the CPU goes on with powers
  kTooLarge = 32,     ///< two matrices of this size do not fit this device's shared memory
  kSlowWalk = 16,  ///< a walk that mixes after 2^(kMostPowers - 1) steps, or a sum that needs more
};

/// What was found of a job.
struct Result {
  int undecided = 0;  ///< see Undecided; with any bit the rest means nothing
  int signal_steps = 0;
  int minimax_node = 0;
  int hitting_worst = 0;
  int truncated_worst = 0;
  int squares = 0;  ///< 1: `mixing` is not known yet, powers have to be squared
  double minimax = 0.0;
  double minimax_time = 0.0;
  double forward_probability = 0.0;
  double hitting_mean = 0.0;
  double hitting_max = 0.0;
  double truncated_mean = 0.0;
  double truncated_max = 0.0;
  double mixing[kMostEps] = {};
  /// The head's signal at the node and time of the combined minimax; NaN: not followed so far.
  double signal = 0.0;
};

/// All jobs, in memory that the threads reach. Jobs with `combined` come behind those.
struct Work {
  Attention attention;
  const Task* tasks = nullptr;
  const Job* jobs = nullptr;
  const double* weights = nullptr;
  Result* results = nullptr;
};

/// Weighted sums of the heads of one sequence: of all subsets of the first `low_heads` heads, and
/// of all subsets of the others. A subset of all heads is one of each, added.
struct SubsetSums {
  const double* low = nullptr;         ///< [subset of low heads], packed
  const double* high = nullptr;        ///< [subset of the others], packed
  const double* low_weight = nullptr;  ///< total weight of each
  const double* high_weight = nullptr;
  int low_heads = 0;
};

/// What was found of a subset of heads.
struct SubsetFound {
  double minimax = 0.0;
  double truncated_mean = 0.0;
  int undecided = 0;  ///< see Undecided
  int padding = 0;
};

/// Two states that walk side by side through the same matrix: the signal, and survivals.
struct alignas(16) Pair {
  double signal = 0.0;
  double survival = 0.0;
};

}  // namespace synergraph::small
