#pragma once

#include <span>
#include <vector>

#include "synergraph/model/evaluate.h"
#include "synergraph/train/adam.h"
#include "synergraph/train/data.h"
#include "synergraph/train/state.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What the models of a fleet have in common.
struct FleetSettings {
  ModelConfig model;
  AdamOptions adam;
  double dropout = 0.1;  ///< on attention probabilities and after each MLP
  int batch = 50;        ///< sequences a step

  bool operator==(const FleetSettings&) const = default;
};

/// The next steps of one member.
struct FleetWork {
  int member = 0;
  /// Training sequences in the order in which they are taken: every `batch` of them make a step,
  /// the last step has what is left.
  std::span<const std::int32_t> rows;
};

/// Models of one shape that are trained together: each has its own state, seed and data, and is
/// trained to the same bits whatever other members there are. A step is forward, backward, Adam.
/// Each kind of device has its own fleet; all draw the same random numbers.
class Fleet {
 public:
  Fleet() = default;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  virtual ~Fleet() = default;

  /// Takes a model in, at any time and after any number of steps, and returns the member's number.
  /// `seed` is that of its dropout masks. The data fit the model; they stay where they are and as
  /// they are for as long as it is a member, so that a device may copy them once.
  virtual int add(const TrainingState& state, std::uint64_t seed, const TrainingData& data) = 0;
  virtual void remove(int member) = 0;

  /// Does the steps of every member listed, each at most once, and returns each one's results in
  /// order. They may have different numbers of steps; a loss that is not finite stops nobody.
  virtual std::vector<std::vector<StepResult>> run(std::span<const FleetWork> work) = 0;
  /// How many steps of each member a call of run() should have where nothing else matters: many on
  /// a device whose results are slow to come back.
  virtual int preferred_steps() const = 0;

  /// The members in evaluation mode on their judged sequences.
  virtual std::vector<Evaluation> judge(std::span<const int> members) = 0;
  /// A member's state after its steps so far.
  virtual void save(int member, TrainingState& state) const = 0;
};

}  // namespace synergraph
#pragma GCC visibility pop
