#include "synergraph/train/cuda/cuda_evaluator.h"

#include <algorithm>
#include <mutex>

#include "synergraph/device/cuda/current_device.h"
#include "synergraph/device/cuda/pinned_memory.h"
#include "synergraph/device/cuda/stream.h"
#include "synergraph/train/cuda/attention_kernel.cuh"
#include "synergraph/train/cuda/cuda_fleet.h"
#include "synergraph/train/cuda/launch_sequences.h"
#include "synergraph/train/cuda/packing.h"
#include "synergraph/train/cuda/sequence_kernel.cuh"

namespace synergraph {
namespace cuda {
namespace {

int greatest_priority() {
  int least = 0;
  int greatest = 0;
  require(cudaDeviceGetStreamPriorityRange(&least, &greatest), "priorities");
  return greatest;
}

/// Where a sequence is run: a stream, and memory here and there.
struct Workplace {
  explicit Workplace(int index) : device(index), stream(greatest_priority()) {
    loss.reserve(1);
    correct.reserve(1);
  }

  int device;
  Stream stream;  ///< what trains meanwhile has much to do, and somebody waits for this
  DeviceMemory<float> parameters;
  DeviceMemory<Trainee> trainee;
  DeviceMemory<std::int32_t> tokens;  ///< the row, which is 0, then the input and the target
  DeviceMemory<std::uint32_t> attention_masks;
  DeviceMemory<std::uint8_t> mlp_masks;
  DeviceMemory<float> saved;
  DeviceMemory<float> attention;
  PinnedMemory<std::int32_t> own_tokens;
  PinnedMemory<float> own_attention;
  PinnedMemory<double> loss;
  PinnedMemory<std::int32_t> correct;
};

/// Workplaces that nobody uses. They are kept to the program's end: to give memory back one has to
/// wait for all that the GPU has to do.
class Workplaces {
 public:
  /// The device is the current one.
  std::unique_ptr<Workplace> take(int device) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(free_.begin(), free_.end(),
                                    [&](const auto& place) { return place->device == device; });
    if (found == free_.end()) return std::make_unique<Workplace>(device);
    std::unique_ptr<Workplace> place = std::move(*found);
    free_.erase(found);
    return place;
  }
  void give(std::unique_ptr<Workplace> place) noexcept try {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(place));
  } catch (const std::exception&) {  // then it is not kept
  }

  static Workplaces& all() {
    static Workplaces& places = *new Workplaces;  // CUDA may end before static objects do
    return places;
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workplace>> free_;
};

using Packed = std::shared_ptr<const std::vector<float>>;

class CudaEvaluator final : public SequenceEvaluator {
 public:
  /// The device is the current one.
  CudaEvaluator(int device, const ModelConfig& config, const Packed& packed)
      : config_(config), place_(Workplaces::all().take(device)) {
    Workplace& place = *place_;
    const auto length = static_cast<std::size_t>(config.length);
    const auto layers = static_cast<std::size_t>(config.layers);
    place.parameters.reserve(packed->size());
    place.trainee.reserve(1);
    place.tokens.reserve(1 + 2 * length);
    place.own_tokens.reserve(1 + 2 * length);
    place.attention_masks.reserve(layers * masks().words());
    place.mlp_masks.reserve(layers * Masks::kMlpBytes);
    place.saved.reserve(static_cast<std::size_t>(saved_layout().size()));
    place.parameters.upload(packed->data(), packed->size(), place.stream);
    Trainee trainee{};
    trainee.parameters = place.parameters.data();
    trainee.rows = place.tokens.data();
    trainee.inputs = place.tokens.data() + 1;
    trainee.targets = place.tokens.data() + 1 + length;
    trainee.row_count = 1;
    trainee.sequence_positions = config.length;  // scales gradients, which nobody asks for
    place.trainee.upload(&trainee, 1, place.stream);
    require(cudaMemsetAsync(place.attention_masks.data(), 0xFF,
                            layers * masks().words() * sizeof(std::uint32_t), place.stream),
            "masks");
    require(cudaMemsetAsync(place.mlp_masks.data(), 0xFF, layers * Masks::kMlpBytes, place.stream),
            "masks");
    require(cudaStreamSynchronize(place.stream), "copies to the device");
  }
  CudaEvaluator(const CudaEvaluator&) = delete;
  CudaEvaluator& operator=(const CudaEvaluator&) = delete;
  ~CudaEvaluator() override { Workplaces::all().give(std::move(place_)); }

  SequenceScore run(const std::int32_t* input, const std::int32_t* target,
                    const LayerVisitor& visitor) override {
    Workplace& place = *place_;
    launch(input, target, visitor != nullptr);
    if (visitor)
      for (int layer = 0; layer < config_.layers; ++layer)
        visitor(layer, place.own_attention.data() + static_cast<std::size_t>(layer) * layer_size());
    return {*place.loss.data(), *place.correct.data()};
  }

 private:
  /// Runs a sequence and waits for the end.
  void launch(const std::int32_t* input, const std::int32_t* target, bool with_attention) {
    Workplace& place = *place_;
    const CurrentDevice current(place.device);
    const auto length = static_cast<std::size_t>(config_.length);
    std::int32_t* tokens = place.own_tokens.data();
    tokens[0] = 0;
    std::copy_n(input, length, tokens + 1);
    std::copy_n(target, length, tokens + 1 + length);
    place.tokens.upload(tokens, 1 + 2 * length, place.stream);
    launch_forward();
    if (with_attention) launch_attention();
    require(cudaGetLastError(), "forward pass");
    require(cudaStreamSynchronize(place.stream), "forward pass");
  }

  Layout layout() const { return layout_of(config_); }
  Saved saved_layout() const { return {config_.layers, slots_of(config_)}; }
  Masks masks() const { return {slots_of(config_)}; }
  std::size_t layer_size() const {
    const auto length = static_cast<std::size_t>(config_.length);
    return static_cast<std::size_t>(config_.heads) * length * length;
  }

  void launch_forward() {
    SequenceArguments arguments{};
    arguments.layout = layout();
    arguments.saved_layout = saved_layout();
    arguments.mask_layout = masks();
    arguments.batch = 1;
    arguments.dropout_scale = 1.0F;
    arguments.trainees = place_->trainee.data();
    arguments.attention_masks = place_->attention_masks.data();
    arguments.mlp_masks = place_->mlp_masks.data();
    arguments.saved = place_->saved.data();
    arguments.losses = place_->loss.data();
    arguments.correct = place_->correct.data();
    launch_sequences(slots_of(config_), arguments, Precision::kFloat32, 1, place_->stream);
  }

  void launch_attention() {
    const std::size_t size = static_cast<std::size_t>(config_.layers) * layer_size();
    place_->attention.reserve(size);
    place_->own_attention.reserve(size);
    const AttentionShared shared{kWidth / slots_of(config_)};
    const int bytes = shared.size() * static_cast<int>(sizeof(float));
    // The limit is the kernel's, for all threads and shapes alike: that of the widest head.
    constexpr int kMost = AttentionShared{kWidth}.size() * static_cast<int>(sizeof(float));
    require(
        cudaFuncSetAttribute(attention_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMost),
        "shared memory");
    const dim3 grid(static_cast<unsigned>(config_.heads), static_cast<unsigned>(config_.layers));
    attention_kernel<<<grid, kAttentionThreads, static_cast<std::size_t>(bytes), place_->stream>>>(
        {layout(), saved_layout(), place_->parameters.data(), place_->saved.data(),
         place_->attention.data()});
    place_->attention.download(place_->own_attention.data(), size, place_->stream);
  }

  ModelConfig config_;
  std::unique_ptr<Workplace> place_;
};

}  // namespace
}  // namespace cuda

EvaluatorFactory cuda_evaluators(const Device& device, const Model& model) {
  const ModelConfig& config = model.config();
  FleetSettings shape;
  shape.model = config;
  const std::string why = cuda_shape_refusal(device, shape);
  if (!why.empty()) throw InputError(name_of(device) + ": " + why);
  return [index = device.index, config,
          shared = std::make_shared<const std::vector<float>>(cuda::packed_values(model))] {
    const cuda::CurrentDevice current(index);
    return std::make_unique<cuda::CudaEvaluator>(index, config, shared);
  };
}

}  // namespace synergraph
