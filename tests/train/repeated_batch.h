#pragma once

#include <numeric>

#include "synergraph/train/make_fleet.h"

namespace synergraph {

/// A fleet of one on the CPU whose every step takes the same batch: all its sequences.
class RepeatedBatch {
 public:
  RepeatedBatch(FleetSettings settings, const TrainingState& state, std::uint64_t seed,
                const Sequences& inputs, const Sequences& targets, int threads = 1)
      : data_{inputs, targets, inputs, targets}, rows_(static_cast<std::size_t>(inputs.count)) {
    std::iota(rows_.begin(), rows_.end(), 0);
    settings.batch = inputs.count;
    fleet_ = make_fleet({}, settings, {.threads = threads});
    member_ = fleet_->add(state, seed, data_);
  }

  StepResult step() {
    const FleetWork work{member_, rows_};
    return fleet_->run({&work, 1}).at(0).at(0);
  }
  void save(TrainingState& state) const { fleet_->save(member_, state); }

 private:
  TrainingData data_;
  std::vector<std::int32_t> rows_;
  std::unique_ptr<Fleet> fleet_;
  int member_ = 0;
};

}  // namespace synergraph
