#include "synergraph/train/cuda/engine.h"

#include <algorithm>
#include <map>

#include "synergraph/core/random.h"
#include "synergraph/model/dropout.h"
#include "synergraph/train/cuda/device_memory.h"
#include "synergraph/train/cuda/launch_sequence.h"
#include "synergraph/train/cuda/mask_kernel.cuh"
#include "synergraph/train/cuda/packing.h"
#include "synergraph/train/cuda/sequence_kernel.cuh"
#include "synergraph/train/cuda/update_kernel.cuh"

namespace synergraph::cuda {
namespace {

struct Member {
  DeviceMemory<float> numbers;  ///< parameters, transposed, moments, gradient
  DeviceMemory<std::int32_t> data;
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
};

unsigned blocks(int count, int threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace

struct Engine::Parts {
  Parts(int device_index, const EngineSettings& engine_settings)
      : device(device_index),
        settings(engine_settings),
        dropout(settings.dropout, 0, 0),
        layout(layout_of(settings.model)),
        places(packed_places(settings.model)) {
    require(cudaSetDevice(device), "choice of the device");
    require(cudaStreamCreate(&stream), "stream");
  }
  ~Parts() {
    cudaSetDevice(device);
    cudaStreamDestroy(stream);
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

  void prepare(std::span<const EngineWork> work);
  void launch_turn();
  void launch_masks();
  void launch_sequences();
  void launch_update();
  void launch_step() {
    launch_masks();
    launch_sequences();
    launch_update();
    launch_turn();
  }

  int device;
  EngineSettings settings;
  Dropout dropout;
  Layout layout;
  std::vector<std::int32_t> places;
  cudaStream_t stream = nullptr;
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

void Engine::Parts::prepare(std::span<const EngineWork> work) {
  require(cudaSetDevice(device), "choice of the device");
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
    const std::size_t half = member.data.size() / 2;
    table.push_back({part(member, 0), part(member, 1), part(member, 2), part(member, 3),
                     gradients ? part(member, 4) : nullptr, member.data.data(),
                     member.data.data() + half, rows.data() + first,
                     static_cast<int>(one.rows.size()), -1, member.seed, member.step, Factors{}});
    first += one.rows.size();
  }
  trainees.reserve(table.size());
  trainees.upload(table.data(), table.size(), stream);
  const auto places_count = static_cast<std::size_t>(models) * settings.batch;
  const std::size_t layers = places_count * settings.model.layers;
  const Masks masks{settings.model.heads};
  if (dropout.active()) {
    attention_masks.reserve(layers * masks.words());
    mlp_masks.reserve(layers * Masks::kMlpBytes);
  }
  saved.reserve(places_count * Saved{settings.model.layers, settings.model.heads}.size());
  partial.reserve(places_count * layout.partial_size());
  losses.reserve(places_count);
  correct.reserve(places_count);
  round_losses.reserve(static_cast<std::size_t>(models) * rounds);
  round_correct.reserve(static_cast<std::size_t>(models) * rounds);
  require(cudaStreamSynchronize(stream), "copies to the device");
}

void Engine::Parts::launch_turn() {
  const AdamOptions& adam = settings.adam;
  turn_kernel<<<blocks(models, kUpdateThreads), kUpdateThreads, 0, stream>>>(
      TurnArguments{adam.learning_rate, adam.beta1, adam.beta2, adam.epsilon, settings.batch, models, rounds,
       trainees.data(), losses.data(), correct.data(), round_losses.data(), round_correct.data()});
}

void Engine::Parts::launch_masks() {
  if (!dropout.active()) return;
  const Masks masks{settings.model.heads};
  const dim3 grid(static_cast<unsigned>(models * settings.batch),
                  static_cast<unsigned>(settings.model.layers));
  mask_kernel<<<grid, kMaskThreads, static_cast<std::size_t>(mask_memory(masks.heads)), stream>>>(
      MaskArguments{layout, masks, settings.batch, static_cast<std::uint32_t>(Purpose::kDropout),
       dropout.threshold(), trainees.data(), attention_masks.data(), mlp_masks.data()});
}

void Engine::Parts::launch_sequences() {
  const ModelConfig& config = settings.model;
  const SequenceArguments arguments{
      layout,          {config.layers, config.heads}, {config.heads}, settings.batch,
      dropout.scale(), dropout.active(),              trainees.data(), attention_masks.data(),
      mlp_masks.data(), saved.data(),                 partial.data(), losses.data(),
      correct.data()};
  const int sequences = models * settings.batch;
  const auto launch = [&](auto head) {
    launch_sequence<decltype(head)::value>(arguments, settings.precision, sequences, stream);
  };
  switch (config.head_width()) {
    case 4: launch(std::integral_constant<int, 4>()); break;
    case 8: launch(std::integral_constant<int, 8>()); break;
    case 16: launch(std::integral_constant<int, 16>()); break;
    case 32: launch(std::integral_constant<int, 32>()); break;
    default: launch(std::integral_constant<int, 64>()); break;
  }
}

void Engine::Parts::launch_update() {
  const UpdateArguments update{layout, settings.batch, trainees.data(), partial.data()};
  const auto y = static_cast<unsigned>(models);
  update_kernel<<<dim3(blocks(layout.tokens() / 4, kUpdateThreads), y), kUpdateThreads, 0,
                  stream>>>(update);
  embedding_kernel<<<dim3(blocks(layout.vocabulary + layout.length, kUpdateThreads / 32), y),
                     kUpdateThreads, 0, stream>>>(update);
}

Engine::Engine(int device, const EngineSettings& settings)
    : parts_(std::make_unique<Parts>(device, settings)) {}
Engine::~Engine() = default;

int Engine::add(const Numbers& numbers, std::uint32_t step, std::uint64_t seed,
                const Sequences& inputs, const Sequences& targets) {
  Parts& parts = *parts_;
  require(cudaSetDevice(parts.device), "choice of the device");
  const auto size = static_cast<std::size_t>(parts.layout.size());
  Member member{DeviceMemory<float>(5 * size),
                DeviceMemory<std::int32_t>(inputs.tokens.size() * 2), seed, step};
  std::vector<float> packed(5 * size, 0.0F);
  parts.pack(numbers.parameters, packed.data());
  parts.pack(numbers.first_moment, packed.data() + 2 * size);
  parts.pack(numbers.second_moment, packed.data() + 3 * size);
  member.numbers.upload(packed.data(), packed.size(), parts.stream);
  std::vector<std::int32_t> data = inputs.tokens;
  data.insert(data.end(), targets.tokens.begin(), targets.tokens.end());
  member.data.upload(data.data(), data.size(), parts.stream);
  Trainee trainee{};
  trainee.parameters = member.numbers.data();
  trainee.transposed = member.numbers.data() + size;
  parts.trainees.reserve(1);
  parts.trainees.upload(&trainee, 1, parts.stream);
  transpose_kernel<<<blocks(parts.layout.tokens() / 4, kUpdateThreads), kUpdateThreads, 0,
                     parts.stream>>>(
      UpdateArguments{parts.layout, parts.settings.batch, parts.trainees.data(), nullptr});
  require(cudaGetLastError(), "transposing");
  require(cudaStreamSynchronize(parts.stream), "copies to the device");
  parts.members.emplace(parts.next, std::move(member));
  return parts.next++;
}

void Engine::remove(int member) {
  parts_->members.erase(member);
}

std::vector<std::vector<EngineResult>> Engine::run(std::span<const EngineWork> work) {
  Parts& parts = *parts_;
  parts.prepare(work);
  parts.launch_turn();
  if (parts.rounds > 0) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t step = nullptr;
    require(cudaStreamBeginCapture(parts.stream, cudaStreamCaptureModeThreadLocal), "capture");
    parts.launch_step();
    require(cudaStreamEndCapture(parts.stream, &graph), "capture");
    require(cudaGraphInstantiate(&step, graph, 0), "graph");
    for (int round = 0; round < parts.rounds; ++round)
      require(cudaGraphLaunch(step, parts.stream), "step");
    require(cudaStreamSynchronize(parts.stream), "steps");
    cudaGraphExecDestroy(step);
    cudaGraphDestroy(graph);
  }
  const std::size_t count = static_cast<std::size_t>(parts.models) * parts.rounds;
  std::vector<double> losses(count);
  std::vector<std::int64_t> correct(count);
  parts.round_losses.download(losses.data(), count, parts.stream);
  parts.round_correct.download(correct.data(), count, parts.stream);
  require(cudaStreamSynchronize(parts.stream), "results");
  std::vector<std::vector<EngineResult>> results(work.size());
  for (std::size_t k = 0; k < work.size(); ++k) {
    parts.members.at(work[k].member).step += static_cast<std::uint32_t>(parts.steps[k]);
    for (int round = 0; round < parts.steps[k]; ++round) {
      const std::size_t index = k * parts.rounds + round;
      results[k].push_back({losses[index], correct[index]});
    }
  }
  return results;
}

std::uint32_t Engine::save(int member, const Numbers& numbers) const {
  const Parts& parts = *parts_;
  require(cudaSetDevice(parts.device), "choice of the device");
  const Member& from = parts.members.at(member);
  std::vector<float> packed(from.numbers.size());
  from.numbers.download(packed.data(), packed.size(), parts.stream);
  require(cudaStreamSynchronize(parts.stream), "copies from the device");
  const auto size = static_cast<std::size_t>(parts.layout.size());
  parts.unpack(packed.data(), numbers.parameters);
  parts.unpack(packed.data() + 2 * size, numbers.first_moment);
  parts.unpack(packed.data() + 3 * size, numbers.second_moment);
  return from.step;
}

void Engine::keep_gradients() {
  parts_->gradients = true;
}

std::vector<float> Engine::gradient(int member) const {
  const Parts& parts = *parts_;
  const Member& from = parts.members.at(member);
  std::vector<float> packed(from.numbers.size());
  from.numbers.download(packed.data(), packed.size(), parts.stream);
  require(cudaStreamSynchronize(parts.stream), "copies from the device");
  std::vector<float> gradient(parts.places.size());
  parts.unpack(packed.data() + 4 * static_cast<std::size_t>(parts.layout.size()), gradient.data());
  return gradient;
}

std::vector<std::pair<std::string, double>> Engine::timings(std::span<const EngineWork> work) {
  Parts& parts = *parts_;
  parts.prepare(work);
  parts.launch_turn();
  std::vector<std::pair<std::string, double>> result = {
      {"masks", 0.0}, {"sequences", 0.0}, {"update", 0.0}, {"turn", 0.0}};
  cudaEvent_t events[5];
  for (cudaEvent_t& event : events) require(cudaEventCreate(&event), "event");
  for (int round = 0; round < parts.rounds; ++round) {
    cudaEventRecord(events[0], parts.stream);
    parts.launch_masks();
    cudaEventRecord(events[1], parts.stream);
    parts.launch_sequences();
    cudaEventRecord(events[2], parts.stream);
    parts.launch_update();
    cudaEventRecord(events[3], parts.stream);
    parts.launch_turn();
    cudaEventRecord(events[4], parts.stream);
    require(cudaStreamSynchronize(parts.stream), "timing");
    for (std::size_t k = 0; k < 4; ++k) {
      float milliseconds = 0.0F;
      cudaEventElapsedTime(&milliseconds, events[k], events[k + 1]);
      result[k].second += milliseconds / parts.rounds;
    }
  }
  for (cudaEvent_t& event : events) cudaEventDestroy(event);
  for (std::size_t k = 0; k < work.size(); ++k)
    parts.members.at(work[k].member).step += static_cast<std::uint32_t>(parts.steps[k]);
  return result;
}

}  // namespace synergraph::cuda
