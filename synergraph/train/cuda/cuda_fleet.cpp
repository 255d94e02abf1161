#include "synergraph/train/cuda/cuda_fleet.h"

#include <algorithm>
#include <map>

#include "synergraph/train/cuda/cuda_devices.h"
#include "synergraph/train/cuda/engine.h"
#include "synergraph/train/cuda/fleet_memory.h"

namespace synergraph {
namespace {

cuda::Numbers numbers(TrainingState& state) {
  return {state.model.values().data(), state.first_moment.data(), state.second_moment.data()};
}

class CudaFleet : public Fleet {
 public:
  CudaFleet(const Device& device, const FleetSettings& settings)
      : settings_(settings),
        engine_(device.index, {settings.model, settings.adam, settings.dropout, settings.batch,
                               device.precision}) {}

  int add(const TrainingState& state, std::uint64_t seed, const TrainingData& data) override {
    TrainingState copy = state;
    const int member = engine_.add(numbers(copy), state.step, seed, data);
    sequence_positions_[member] = counted_per_sequence(data.targets);
    return member;
  }
  void remove(int member) override {
    engine_.remove(member);
    sequence_positions_.erase(member);
  }
  int preferred_steps() const override { return 100; }

  std::vector<std::vector<StepResult>> run(std::span<const FleetWork> work) override {
    std::vector<cuda::EngineWork> steps;
    steps.reserve(work.size());
    for (const FleetWork& one : work) steps.push_back({one.member, one.rows});
    const std::vector<std::vector<cuda::EngineResult>> sums = engine_.run(steps);
    std::vector<std::vector<StepResult>> results(work.size());
    for (std::size_t k = 0; k < work.size(); ++k) {
      const double positions = sequence_positions_.at(work[k].member);
      std::size_t left = work[k].rows.size();
      for (const cuda::EngineResult& sum : sums[k]) {
        const std::size_t count = std::min(left, static_cast<std::size_t>(settings_.batch));
        results[k].push_back({sum.loss / (static_cast<double>(count) * positions), sum.correct});
        left -= count;
      }
    }
    return results;
  }

  std::vector<Evaluation> judge(std::span<const int> members) override {
    std::vector<Evaluation> evaluations;
    for (const cuda::JudgedResult& result : engine_.judge(members)) {
      Evaluation evaluation;
      const auto all = static_cast<double>(result.positions);
      evaluation.loss = result.sums.loss / all;
      evaluation.accuracy = static_cast<double>(result.sums.correct) / all;
      evaluations.push_back(std::move(evaluation));
    }
    return evaluations;
  }

  void save(int member, TrainingState& state) const override {
    state.step = engine_.save(member, numbers(state));
  }

 private:
  FleetSettings settings_;
  std::map<int, double> sequence_positions_;  ///< counted_per_sequence() of each member
  cuda::Engine engine_;
};

}  // namespace

std::string cuda_shape_refusal(const Device& device, const FleetSettings& settings) {
  std::string why = cuda_trouble(device.index);
  if (why.empty()) why = cuda::refusal(settings.model);
  return why.empty() ? start_cuda(device.index) : why;
}

std::string cuda_refusal(const Device& device, const FleetSettings& settings, int sequences) {
  std::string why = cuda_shape_refusal(device, settings);
  if (!why.empty()) return why;
  return cuda::memory_refusal(cuda_free_bytes(device.index), settings, sequences);
}

int cuda_room(const Device& device, const FleetSettings& settings, int sequences) {
  return cuda::models_in(cuda_free_bytes(device.index), settings, sequences);
}

std::unique_ptr<Fleet> make_cuda_fleet(const Device& device, const FleetSettings& settings) {
  const std::string refusal = cuda_shape_refusal(device, settings);
  if (!refusal.empty()) throw InputError(name_of(device) + ": " + refusal);
  return std::make_unique<CudaFleet>(device, settings);
}

}  // namespace synergraph
