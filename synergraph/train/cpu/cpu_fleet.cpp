#include "synergraph/train/cpu/cpu_fleet.h"

#include <algorithm>
#include <map>

#include "synergraph/core/parallel.h"
#include "synergraph/train/cpu/batch_gradient.h"

namespace synergraph {
namespace {

/// Parameters that one task of the optimiser updates.
constexpr std::size_t kChunk = 16384;

struct FleetMember {
  TrainingState state;
  std::uint64_t seed;
  const TrainingData* data;
  double sequence_positions = counted_per_sequence(data->targets);
};

/// What is needed to train one member at a time, on threads of its own.
struct Lane {
  Lane(const FleetSettings& settings, int threads)
      : gradient(settings.model, threads, settings.promotion) {}

  BatchGradient gradient;
  Sequences inputs;
  Sequences targets;
};

class CpuFleet : public Fleet {
 public:
  CpuFleet(const FleetSettings& settings, int threads) : settings_(settings), threads_(threads) {}

  int add(const TrainingState& state, std::uint64_t seed, const TrainingData& data) override {
    members_.emplace(next_, FleetMember{state, seed, &data});
    return next_++;
  }
  void remove(int member) override { members_.erase(member); }
  int preferred_steps() const override { return 1; }

  std::vector<std::vector<StepResult>> run(std::span<const FleetWork> work) override {
    provide_lanes(std::min(static_cast<int>(work.size()), threads_));
    std::vector<std::vector<StepResult>> results(work.size());
    parallel_for(work.size(), static_cast<int>(lanes_.size()), [&](std::size_t k, int worker) {
      results[k] =
          run(members_.at(work[k].member), work[k].rows, *lanes_[static_cast<std::size_t>(worker)]);
    });
    return results;
  }

  std::vector<Evaluation> judge(std::span<const int> members) override {
    std::vector<Evaluation> evaluations;
    EvaluateOptions options;
    options.execution.threads = threads_;
    for (const int number : members) {
      const FleetMember& member = members_.at(number);
      evaluations.push_back(evaluate(member.state.model, member.data->judged_inputs,
                                     member.data->judged_targets, options));
    }
    return evaluations;
  }

  void save(int member, TrainingState& state) const override { state = members_.at(member).state; }

 private:
  /// `count` lanes that share the threads.
  void provide_lanes(int count) {
    if (static_cast<int>(lanes_.size()) == count) return;
    lanes_.clear();
    for (int k = 0; k < count; ++k) {
      const int threads = threads_ / count + (k < threads_ % count ? 1 : 0);
      lanes_.push_back(std::make_unique<Lane>(settings_, threads));
    }
  }

  std::vector<StepResult> run(FleetMember& member, std::span<const std::int32_t> rows, Lane& lane) {
    std::vector<StepResult> results;
    while (!rows.empty()) {
      const auto batch =
          rows.first(std::min(rows.size(), static_cast<std::size_t>(settings_.batch)));
      gather(member.data->inputs, batch, lane.inputs);
      gather(member.data->targets, batch, lane.targets);
      results.push_back(step(member, lane));
      rows = rows.subspan(batch.size());
    }
    return results;
  }

  StepResult step(FleetMember& member, Lane& lane) {
    TrainingState& state = member.state;
    const Dropout dropout(settings_.dropout, member.seed, state.step);
    BatchGradient& gradient = lane.gradient;
    const StepResult result =
        gradient.compute(state.model.values().data(), lane.inputs, lane.targets, dropout,
                         lane.inputs.count * member.sequence_positions);
    ++state.step;
    const std::size_t size = gradient.layout().size();
    parallel_for((size + kChunk - 1) / kChunk, gradient.threads(), [&](std::size_t chunk, int) {
      const std::size_t first = chunk * kChunk;
      adam_update(settings_.adam, state.step,
                  {state.model.values().data() + first, state.first_moment.data() + first,
                   state.second_moment.data() + first, gradient.gradient() + first},
                  std::min(kChunk, size - first));
    });
    return result;
  }

  FleetSettings settings_;
  int threads_;
  int next_ = 0;  ///< number of the next member
  std::map<int, FleetMember> members_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace

std::unique_ptr<Fleet> make_cpu_fleet(const FleetSettings& settings, const Execution& execution) {
  return std::make_unique<CpuFleet>(settings, execution.thread_count());
}

}  // namespace synergraph
