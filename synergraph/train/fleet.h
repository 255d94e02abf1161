#pragma once

#include <span>
#include <vector>

#include "synergraph/model/evaluate.h"
#include "synergraph/train/adam.h"
#include "synergraph/train/data.h"
#include "synergraph/train/promotion.h"
#include "synergraph/train/state.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The settings that all models of a fleet share.
struct FleetSettings {
  ModelConfig model;
  AdamOptions adam;
  double dropout = 0.1;  ///< on attention probabilities and after each MLP
  int batch = 50;        ///< sequences a step
  Promotion promotion = {};

  bool operator==(const FleetSettings&) const = default;
};

/// The next steps of one member.
struct FleetWork {
  int member = 0;
  /// Training sequences in the order of training. Every `batch` sequences make a step; the last
  /// step takes the remaining sequences.
  std::span<const std::int32_t> rows;
};

/// Models of one shape that are trained together. Each model has its own state, seed and data, and
/// its bits do not depend on other members. A step is forward, backward, Adam. Each kind of device
/// has its own fleet; all fleets draw the same random numbers.
class Fleet {
 public:
  Fleet() = default;
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;
  virtual ~Fleet() = default;

  /// Adds a model, at any time and after any number of steps, and returns the number of the member.
  /// `seed` is the seed of the member's dropout masks. The data must fit the model. The data must
  /// stay unchanged in place during the membership, so that a device may copy the data once.
  virtual int add(const TrainingState& state, std::uint64_t seed, const TrainingData& data) = 0;
  virtual void remove(int member) = 0;

  /// Does the steps of every listed member, each listed at most once, and returns the results of
  /// each member in order. Members may have different numbers of steps. A loss that is not finite
  /// stops no member.
  virtual std::vector<std::vector<StepResult>> run(std::span<const FleetWork> work) = 0;
  /// The recommended number of steps of each member per call of run(). The number is large on a
  /// device whose results are slow to come back.
  virtual int preferred_steps() const = 0;

  /// Evaluates the members in evaluation mode on their judged sequences.
  virtual std::vector<Evaluation> judge(std::span<const int> members) = 0;
  /// Saves the state of a member after its steps so far.
  virtual void save(int member, TrainingState& state) const = 0;
};

}  // namespace synergraph
#pragma GCC visibility pop
