#pragma once

#include <array>
#include <cstdint>

#pragma GCC visibility push(default)
namespace synergraph {

/// The purpose of a stream of random numbers. Streams with different purposes are independent.
/// Files are reproducible only if these values stay fixed: never renumber a value, only append
/// values.
enum class Purpose : std::uint32_t {
  kWalk = 1,            ///< Monte Carlo walks
  kGraph = 2,           ///< random graphs
  kData = 3,            ///< training sequences
  kShuffle = 4,         ///< order of sequences in an epoch
  kInitialisation = 5,  ///< parameters before training
  kDropout = 6,         ///< dropout masks
  kPermutation = 7,     ///< permutation tests
  kTest = 8,            ///< inputs made by tests and benchmarks
  kHeadOrders = 9,      ///< sampled orders of heads
  kWeights = 10,        ///< starting points of searches for the best weights of heads
  kNull = 11,           ///< orders of the weights in rows of attention, see PermutedHeads
  kDesign = 12,         ///< searches for graphs
};

/// A counter-based random stream (Philox4x32-10). Block b of stream (seed, purpose, a) is a pure
/// function of these indices. So any thread or device can draw any element in any order.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t index = 0)
      : seed_(seed), purpose_(purpose), index_(index) {}

  /// Returns four independent 32-bit words: block `block` of this stream.
  std::array<std::uint32_t, 4> words(std::uint64_t block) const;

  /// Returns two independent uniforms in [0, 1) with 53 bits: block `block` of this stream.
  std::array<double, 2> uniforms(std::uint64_t block) const;

  /// Returns two independent standard normal numbers (Box-Muller): block `block` of this stream.
  std::array<double, 2> normals(std::uint64_t block) const;

 private:
  std::uint64_t seed_;
  Purpose purpose_;
  std::uint32_t index_;
};

/// Draws numbers from a RandomStream one after another, for callers with a fixed order.
class RandomSequence {
 public:
  RandomSequence(std::uint64_t seed, Purpose purpose, std::uint32_t index = 0)
      : stream_(seed, purpose, index) {}

  double uniform();                          ///< in [0, 1)
  double normal();                           ///< standard normal
  std::uint64_t below(std::uint64_t bound);  ///< uniform integer in [0, bound); bound >= 1

 private:
  RandomStream stream_;
  std::uint64_t next_block_ = 0;
};

}  // namespace synergraph
#pragma GCC visibility pop
