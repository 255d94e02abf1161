#include "synergraph/train/cuda/engine.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "synergraph/core/random.h"
#include "synergraph/device/cuda/current_device.h"
#include "synergraph/device/cuda/stream.h"
#include "synergraph/model/dropout.h"
#include "synergraph/train/cuda/fleet_memory.h"
#include "synergraph/train/cuda/launch_sequences.h"
#include "synergraph/train/cuda/mask_kernel.cuh"
#include "synergraph/train/cuda/packing.h"
#include "synergraph/train/cuda/sequence_kernel.cuh"
#include "synergraph/train/cuda/update_kernel.cuh"

namespace synergraph::cuda {
namespace {

struct Member {
  DeviceMemory<float> numbers;        ///< parameters, operands, transposed, moments, gradient
  DeviceMemory<std::int32_t> broken;  ///< see Trainee
  DeviceMemory<std::int32_t> data;    ///< inputs, targets, and the same of the judged sequences
  int sequences = 0;
  int judged = 0;
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  double sequence_positions = 0.0;    ///< of the training targets; see Trainee
  std::int64_t judged_positions = 0;  ///< targets of the judged sequences that count
};

/// Models that take their steps together. Those of another share fill the multiprocessors that have
/// nothing left to do at the end of a step.
struct Share {
  int first, count;
  cudaStream_t stream;
};
constexpr int kShares = 4;
constexpr int kLeast = 4;  ///< models of a share

unsigned blocks(int count, int threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

/// What a function launches in a stream, to be launched again and again.
class StepGraph {
 public:
  template <class Function>
  StepGraph(cudaStream_t stream, const Function& function) : stream_(stream) {
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    cudaGraph_t graph = nullptr;
    try {
      function();
    } catch (...) {  // a stream that is left in a capture would never run anything again
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    require(cudaStreamEndCapture(stream, &graph), "capture");
    const cudaError_t result = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    require(result, "graph");
  }
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;
  ~StepGraph() { cudaGraphExecDestroy(graph_); }

  void launch() const { require(cudaGraphLaunch(graph_, stream_), "step"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace

struct Engine::Parts {
  /// The device is the current one, here and in what follows.
  Parts(int device_index, const EngineSettings& engine_settings)
      : device(device_index),
        settings(engine_settings),
        dropout(settings.dropout, 0, 0),
        layout(layout_of(settings.model)),
        places(packed_places(settings.model)) {
    require(cudaDeviceGetAttribute(&resident, cudaDevAttrMultiProcessorCount, device),
            "multiprocessors");
    resident *= kSequencesAtOnce;
  }

  float* part(const Member& member, int index) const {
    return member.numbers.data() + static_cast<std::size_t>(index) * layout.size();
  }
  void pack(const float* from, float* to) const {
    for (std::size_t k = 0; k < places.size(); ++k) to[places[k]] = from[k];
  }
  void unpack(const float* from, float* to) const {
    for (std::size_t k = 0; k < places.size(); ++k) to[k] = from[places[k]];
  }

  void prepare(std::span<const EngineWork> work, bool judging = false);
  std::vector<std::vector<EngineResult>> results();
  std::vector<Share> shares() const;
  Share all() const { return {0, models, stream}; }
  void launch_turn(const Share& share);
  void launch_masks(const Share& share);
  void launch_sequences(const Share& share, bool judging = false);
  void launch_update(const Share& share);
  void launch_step(const Share& share) {
    launch_masks(share);
    launch_sequences(share);
    launch_update(share);
    launch_turn(share);
  }

  int device;
  int resident = 0;  ///< sequences that run at once
  EngineSettings settings;
  Dropout dropout;
  Layout layout;
  std::vector<std::int32_t> places;
  Stream stream;
  std::array<Stream, kShares> share_streams;
  bool gradients = false;
  std::map<int, Member> members;
  int next = 0;

  // Of a call of run().
  int models = 0;
  int rounds = 0;
  std::vector<int> steps;  ///< of each model
  DeviceMemory<Trainee> trainees;
  DeviceMemory<std::int32_t> rows;
  DeviceMemory<std::uint32_t> attention_masks;
  DeviceMemory<std::uint8_t> mlp_masks;
  DeviceMemory<float> saved;
  DeviceMemory<float> partial;
  DeviceMemory<double> losses;
  DeviceMemory<std::int32_t> correct;
  DeviceMemory<double> round_losses;
  DeviceMemory<std::int64_t> round_correct;
};

void Engine::Parts::prepare(std::span<const EngineWork> work, bool judging) {
  models = static_cast<int>(work.size());
  rounds = 0;
  steps.clear();
  std::vector<std::int32_t> all_rows;
  for (const EngineWork& one : work) {
    const auto count = static_cast<int>(one.rows.size());
    steps.push_back((count + settings.batch - 1) / settings.batch);
    rounds = std::max(rounds, steps.back());
    all_rows.insert(all_rows.end(), one.rows.begin(), one.rows.end());
  }
  rows.reserve(all_rows.size());
  rows.upload(all_rows.data(), all_rows.size(), stream);
  std::vector<Trainee> table;
  std::size_t first = 0;
  for (const EngineWork& one : work) {
    const Member& member = members.at(one.member);
    const std::ptrdiff_t length = settings.model.length;
    const std::ptrdiff_t size = (judging ? member.judged : member.sequences) * length;
    const std::int32_t* inputs = member.data.data() + (judging ? 2 * member.sequences * length : 0);
    table.push_back({part(member, 0), part(member, 1), part(member, 2), part(member, 3),
                     part(member, 4), gradients ? part(member, 5) : nullptr, inputs, inputs + size,
                     rows.data() + first, static_cast<int>(one.rows.size()), -1, member.seed,
                     member.step, Factors{}, judging ? nullptr : member.broken.data(), 0,
                     member.sequence_positions});
    first += one.rows.size();
  }
  trainees.reserve(table.size());
  trainees.upload(table.data(), table.size(), stream);
  const auto places_count = static_cast<std::size_t>(models) * settings.batch;
  const PlaceSizes sizes(settings.model);
  attention_masks.reserve(places_count * sizes.attention_masks);
  mlp_masks.reserve(places_count * sizes.mlp_masks);
  if (judging || !dropout.active())
    require(cudaMemsetAsync(attention_masks.data(), 0xFF,
                            places_count * sizes.attention_masks * sizeof(std::uint32_t), stream),
            "masks");
  saved.reserve(places_count * sizes.saved);
  partial.reserve(places_count * sizes.partial);
  losses.reserve(places_count);
  correct.reserve(places_count);
  round_losses.reserve(static_cast<std::size_t>(models) * rounds);
  round_correct.reserve(static_cast<std::size_t>(models) * rounds);
  require(cudaStreamSynchronize(stream), "copies to the device");
}

std::vector<Share> Engine::Parts::shares() const {
  const int count = std::clamp(models / kLeast, 1, kShares);
  std::vector<Share> all;
  for (int k = 0; k < count; ++k) {
    const int first = models * k / count;
    all.push_back(
        {first, models * (k + 1) / count - first, share_streams[static_cast<std::size_t>(k)]});
  }
  return all;
}

void Engine::Parts::launch_turn(const Share& share) {
  const AdamOptions& adam = settings.adam;
  const int first = share.first * settings.batch;
  turn_kernel<<<blocks(share.count, kUpdateThreads), kUpdateThreads, 0, share.stream>>>(
      TurnArguments{adam.learning_rate, adam.beta1, adam.beta2, adam.epsilon, settings.batch,
                    share.count, rounds, trainees.data() + share.first, losses.data() + first,
                    correct.data() + first, round_losses.data() + share.first * rounds,
                    round_correct.data() + share.first * rounds});
  require(cudaGetLastError(), "turn");
}

void Engine::Parts::launch_masks(const Share& share) {
  if (!dropout.active()) return;
  const Masks masks{slots_of(settings.model)};
  const dim3 grid(static_cast<unsigned>(share.count * settings.batch),
                  static_cast<unsigned>(settings.model.layers));
  const std::size_t first =
      static_cast<std::size_t>(share.first) * settings.batch * settings.model.layers;
  mask_kernel<<<grid, kMaskThreads, static_cast<std::size_t>(mask_memory(settings.model.heads)),
                share.stream>>>(MaskArguments{
      layout, masks, settings.batch, static_cast<std::uint32_t>(Purpose::kDropout),
      dropout.threshold(), trainees.data() + share.first,
      attention_masks.data() + first * masks.words(), mlp_masks.data() + first * Masks::kMlpBytes});
  require(cudaGetLastError(), "masks");
}

void Engine::Parts::launch_sequences(const Share& share, bool judging) {
  const ModelConfig& config = settings.model;
  const int slots = slots_of(config);
  const Saved saved_layout{config.layers, slots};
  const Masks masks{slots};
  const std::size_t first = static_cast<std::size_t>(share.first) * settings.batch;
  const SequenceArguments arguments{layout,
                                    saved_layout,
                                    masks,
                                    settings.batch,
                                    dropout.scale(),
                                    dropout.active() && !judging,
                                    !judging,
                                    models * settings.batch <= resident,
                                    trainees.data() + share.first,
                                    attention_masks.data() + first * config.layers * masks.words(),
                                    mlp_masks.data() + first * config.layers * Masks::kMlpBytes,
                                    saved.data() + first * saved_layout.size(),
                                    partial.data() + first * layout.partial_size(),
                                    losses.data() + first,
                                    correct.data() + first};
  const int sequences = share.count * settings.batch;
  cuda::launch_sequences(slots, arguments, judging ? Precision::kFloat32 : settings.precision,
                         sequences, share.stream);
}

void Engine::Parts::launch_update(const Share& share) {
  const UpdateArguments update{layout, settings.batch, settings.precision,
                               trainees.data() + share.first,
                               partial.data() + static_cast<std::size_t>(share.first) *
                                                    settings.batch * layout.partial_size()};
  const auto y = static_cast<unsigned>(share.count);
  update_kernel<<<dim3(blocks(layout.tokens() / 4, kUpdateThreads), y), kUpdateThreads, 0,
                  share.stream>>>(update);
  embedding_kernel<<<dim3(blocks(layout.vocabulary + layout.length, kUpdateThreads / 32), y),
                     kUpdateThreads, 0, share.stream>>>(update);
  require(cudaGetLastError(), "update");
}

std::string kernel_trouble() {
  cudaFuncAttributes attributes{};
  const cudaError_t result = cudaFuncGetAttributes(&attributes, turn_kernel);
  if (result == cudaSuccess) return {};
  if (result == cudaErrorNoKernelImageForDevice || result == cudaErrorInvalidDeviceFunction) {
    cudaGetLastError();
    return "this program was built for other GPUs (CMAKE_CUDA_ARCHITECTURES)";
  }
  return error_text(result, "kernels");
}

Engine::Engine(int device, const EngineSettings& settings) {
  const CurrentDevice current(device);
  parts_ = std::make_unique<Parts>(device, settings);
}
Engine::~Engine() = default;  // what it frees knows its device

int Engine::add(const Numbers& numbers, std::uint32_t step, std::uint64_t seed,
                const TrainingData& data) {
  Parts& parts = *parts_;
  const CurrentDevice current(parts.device);
  const auto size = static_cast<std::size_t>(parts.layout.size());
  std::vector<std::int32_t> tokens;
  for (const Sequences* part :
       {&data.inputs, &data.targets, &data.judged_inputs, &data.judged_targets})
    tokens.insert(tokens.end(), part->tokens.begin(), part->tokens.end());
  Member member{DeviceMemory<float>(kCopies * size),
                DeviceMemory<std::int32_t>(1),
                DeviceMemory<std::int32_t>(tokens.size()),
                data.inputs.count,
                data.judged_inputs.count,
                seed,
                step,
                counted_per_sequence(data.targets),
                counted(data.judged_targets.tokens)};
  std::vector<float> packed(kCopies * size, 0.0F);
  parts.pack(numbers.parameters, packed.data());
  parts.pack(numbers.first_moment, packed.data() + 3 * size);
  parts.pack(numbers.second_moment, packed.data() + 4 * size);
  member.numbers.upload(packed.data(), packed.size(), parts.stream);
  member.data.upload(tokens.data(), tokens.size(), parts.stream);
  require(cudaMemsetAsync(member.broken.data(), 0, sizeof(std::int32_t), parts.stream), "state");
  Trainee trainee{};
  trainee.parameters = member.numbers.data();
  trainee.operands = member.numbers.data() + size;
  trainee.transposed = member.numbers.data() + 2 * size;
  trainee.broken = member.broken.data();
  parts.trainees.reserve(1);
  parts.trainees.upload(&trainee, 1, parts.stream);
  operands_kernel<<<blocks(parts.layout.tokens() / 4, kUpdateThreads), kUpdateThreads, 0,
                    parts.stream>>>(UpdateArguments{parts.layout, parts.settings.batch,
                                                    parts.settings.precision, parts.trainees.data(),
                                                    nullptr});
  require(cudaGetLastError(), "operands");
  require(cudaStreamSynchronize(parts.stream), "copies to the device");
  parts.members.emplace(parts.next, std::move(member));
  return parts.next++;
}

void Engine::remove(int member) {
  parts_->members.erase(member);
}

std::vector<std::vector<EngineResult>> Engine::run(std::span<const EngineWork> work) {
  Parts& parts = *parts_;
  const CurrentDevice current(parts.device);
  parts.prepare(work);
  const std::vector<Share> shares = parts.shares();
  std::vector<std::unique_ptr<StepGraph>> graphs;
  try {
    for (const Share& share : shares) {
      parts.launch_turn(share);
      graphs.push_back(
          std::make_unique<StepGraph>(share.stream, [&] { parts.launch_step(share); }));
    }
    for (int round = 0; round < parts.rounds; ++round)
      for (const auto& graph : graphs) graph->launch();
    for (const Share& share : shares) require(cudaStreamSynchronize(share.stream), "steps");
  } catch (...) {  // nothing that was begun may still use what the next call writes
    for (const Share& share : shares) cudaStreamSynchronize(share.stream);
    cudaGetLastError();
    throw;
  }
  for (std::size_t k = 0; k < work.size(); ++k)
    parts.members.at(work[k].member).step += static_cast<std::uint32_t>(parts.steps[k]);
  return parts.results();
}

std::vector<std::vector<EngineResult>> Engine::Parts::results() {
  const std::size_t count = static_cast<std::size_t>(models) * rounds;
  std::vector<double> loss(count);
  std::vector<std::int64_t> right(count);
  round_losses.download(loss.data(), count, stream);
  round_correct.download(right.data(), count, stream);
  require(cudaStreamSynchronize(stream), "results");
  std::vector<std::vector<EngineResult>> all(steps.size());
  for (std::size_t k = 0; k < steps.size(); ++k)
    for (int round = 0; round < steps[k]; ++round) {
      const std::size_t index = k * rounds + round;
      all[k].push_back({loss[index], right[index]});
    }
  return all;
}

std::vector<JudgedResult> Engine::judge(std::span<const int> members) {
  Parts& parts = *parts_;
  const CurrentDevice current(parts.device);
  std::vector<std::vector<std::int32_t>> rows;
  std::vector<EngineWork> work;
  for (const int number : members) {
    rows.emplace_back(static_cast<std::size_t>(parts.members.at(number).judged));
    std::iota(rows.back().begin(), rows.back().end(), 0);
  }
  for (std::size_t k = 0; k < members.size(); ++k) work.push_back({members[k], rows[k]});
  parts.prepare(work, true);
  parts.launch_turn(parts.all());
  for (int round = 0; round < parts.rounds; ++round) {
    parts.launch_sequences(parts.all(), true);
    parts.launch_turn(parts.all());
  }
  std::vector<JudgedResult> judged;
  for (const std::vector<EngineResult>& results : parts.results()) {
    JudgedResult sum{{}, parts.members.at(members[judged.size()]).judged_positions};
    for (const EngineResult& result : results) {
      sum.sums.loss += result.loss;
      sum.sums.correct += result.correct;
    }
    judged.push_back(sum);
  }
  return judged;
}

std::uint32_t Engine::save(int member, const Numbers& numbers) const {
  const Parts& parts = *parts_;
  const CurrentDevice current(parts.device);
  const Member& from = parts.members.at(member);
  std::vector<float> packed(from.numbers.size());
  from.numbers.download(packed.data(), packed.size(), parts.stream);
  require(cudaStreamSynchronize(parts.stream), "copies from the device");
  const auto size = static_cast<std::size_t>(parts.layout.size());
  parts.unpack(packed.data(), numbers.parameters);
  parts.unpack(packed.data() + 3 * size, numbers.first_moment);
  parts.unpack(packed.data() + 4 * size, numbers.second_moment);
  return from.step;
}

void Engine::keep_gradients() {
  parts_->gradients = true;
}

std::vector<float> Engine::gradient(int member) const {
  const Parts& parts = *parts_;
  const CurrentDevice current(parts.device);
  const Member& from = parts.members.at(member);
  std::vector<float> packed(from.numbers.size());
  from.numbers.download(packed.data(), packed.size(), parts.stream);
  require(cudaStreamSynchronize(parts.stream), "copies from the device");
  std::vector<float> gradient(parts.places.size());
  parts.unpack(packed.data() + 5 * static_cast<std::size_t>(parts.layout.size()), gradient.data());
  return gradient;
}

}  // namespace synergraph::cuda
