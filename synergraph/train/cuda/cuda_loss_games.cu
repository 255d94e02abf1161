#include "synergraph/train/cuda/cuda_loss_games.h"

#include <algorithm>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/device/cuda/current_device.h"
#include "synergraph/device/cuda/stream.h"
#include "synergraph/train/cuda/cuda_devices.h"
#include "synergraph/train/cuda/cuda_fleet.h"
#include "synergraph/train/cuda/game_kernel.cuh"
#include "synergraph/train/cuda/head_sizes.h"
#include "synergraph/train/cuda/launch_game.h"
#include "synergraph/train/cuda/packing.h"

namespace synergraph {
namespace cuda {
namespace {

/// Sums over sequences of what each subset scored.
struct Totals {
  double* loss;
  std::int64_t* correct;
};

/// Adds the sequences of a launch, in their order: whichever launch they are of, the sum is the
/// same.
__global__ void add_scores(const double* losses, const std::int32_t* correct, int sequences,
                           int subsets, std::uint32_t first, Totals totals) {
  const int subset = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (subset >= subsets) return;
  const std::size_t to = first + static_cast<std::size_t>(subset);
  double loss = totals.loss[to];
  std::int64_t right = totals.correct[to];
  for (int s = 0; s < sequences; ++s) {
    loss += losses[s * subsets + subset];
    right += correct[s * subsets + subset];
  }
  totals.loss[to] = loss;
  totals.correct[to] = right;
}

int multiprocessors(int device) {
  int count = 0;
  require(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
          "properties of the device");
  return count;
}

template <class T>
std::vector<T> downloaded(const DeviceMemory<T>& memory, std::size_t count, cudaStream_t stream) {
  std::vector<T> values(count);
  memory.download(values.data(), count, stream);
  require(cudaStreamSynchronize(stream), "games on the loss");
  return values;
}

class CudaLossGames final : public LossGames {
 public:
  /// The device is the current one.
  CudaLossGames(int device, const ModelConfig& config, const std::vector<float>& packed, int passes)
      : device_(device), config_(config), passes_(passes), blocks_(blocks_of(device)) {
    parameters_.reserve(packed.size());
    parameters_.upload(packed.data(), packed.size(), stream_);
    trainee_.reserve(1);
    attention_masks_.reserve(layers() * masks().words());
    mlp_masks_.reserve(layers() * Masks::kMlpBytes);
    fill_with_ones(attention_masks_, layers() * masks().words());
    fill_with_ones(mlp_masks_, layers() * Masks::kMlpBytes);
    saved_.reserve(static_cast<std::size_t>(blocks_) *
                   static_cast<std::size_t>(saved_layout().size()));
    std::vector<std::int32_t> rows(static_cast<std::size_t>(blocks_));
    std::iota(rows.begin(), rows.end(), 0);
    rows_.reserve(rows.size());
    rows_.upload(rows.data(), rows.size(), stream_);
    replacements_.reserve(layers() * kWidth);
    require(cudaStreamSynchronize(stream_), "copies to the device");
  }

  LossGame play(const Sequences& inputs, const Sequences& targets, int layer,
                const LossGameOptions& options) override {
    require_game(config_, inputs, targets, layer);
    const CurrentDevice current(device_);
    load(inputs, targets);
    replace_by(options.ablation, inputs.count, layer, layer + 1, options.execution);
    const int subsets = 1 << config_.heads;
    const int at_once = std::min(subsets, passes_);
    const int group = std::clamp(passes_ / subsets, 1, std::min(inputs.count, blocks_));
    const auto scores = static_cast<std::size_t>(group) * static_cast<std::size_t>(at_once);
    reserve_scores(scores);
    states_.reserve(static_cast<std::size_t>(group) * GameArguments::kState);
    DeviceMemory<double> loss(static_cast<std::size_t>(subsets));
    DeviceMemory<std::int64_t> correct(static_cast<std::size_t>(subsets));
    clear(loss);
    clear(correct);
    for (int first = 0; first < inputs.count; first += group) {
      const int sequences = std::min(group, inputs.count - first);
      run_states(first, sequences, StateArguments::kNoLayer, layer, true, false);
      for (int begin = 0; begin < subsets; begin += at_once) {
        options.execution.check();
        const int some = std::min(at_once, subsets - begin);
        launch_subsets(layer, first, sequences, begin, some);
        constexpr int kAdders = 128;
        add_scores<<<static_cast<unsigned>((some + kAdders - 1) / kAdders), kAdders, 0, stream_>>>(
            losses_.data(), correct_.data(), sequences, some, static_cast<std::uint32_t>(begin),
            {loss.data(), correct.data()});
        require(cudaGetLastError(), "games on the loss");
        require(cudaStreamSynchronize(stream_), "games on the loss");
        if (options.subsets_done)
          options.subsets_done(static_cast<std::uint64_t>(sequences) *
                               static_cast<std::uint64_t>(some));
      }
    }
    LossGame game{config_.heads, downloaded(loss, loss.size(), stream_), {}};
    const auto positions = static_cast<double>(counted(targets.tokens));
    for (double& of_subset : game.loss) of_subset /= positions;
    for (const std::int64_t right : downloaded(correct, correct.size(), stream_))
      game.accuracy.push_back(static_cast<double>(right) / positions);
    return game;
  }

  AttentionControl control(const Sequences& inputs, const Sequences& targets, Ablation ablation,
                           const Execution& execution) override {
    require_pairs(config_, inputs, targets);
    const CurrentDevice current(device_);
    load(inputs, targets);
    replace_by(ablation, inputs.count, 0, config_.layers, execution);
    reserve_scores(static_cast<std::size_t>(blocks_));
    const auto run = [&](int off) {
      std::vector<SequenceScore> scores;
      for_groups(inputs.count, execution, [&](int first, int sequences) {
        run_states(first, sequences, off, StateArguments::kNoLayer, false, false);
        const auto count = static_cast<std::size_t>(sequences);
        const std::vector<double> losses = downloaded(losses_, count, stream_);
        const std::vector<std::int32_t> correct = downloaded(correct_, count, stream_);
        for (std::size_t s = 0; s < count; ++s) scores.push_back({losses[s], correct[s]});
      });
      return mean_score(scores, counted(targets.tokens));
    };
    AttentionControl control{run(StateArguments::kNoLayer), run(StateArguments::kAllLayers), {}};
    for (int layer = 0; layer < config_.layers; ++layer)
      control.without_layer.push_back(run(layer));
    return control;
  }

 private:
  std::size_t layers() const { return static_cast<std::size_t>(config_.layers); }
  Saved saved_layout() const { return {config_.layers, slots_of(config_)}; }
  Masks masks() const { return {slots_of(config_)}; }

  /// Blocks that fill the device; fewer where their memory would take more than half of what is
  /// free.
  int blocks_of(int device) const {
    const std::uint64_t bytes = static_cast<std::uint64_t>(saved_layout().size()) * sizeof(float);
    const std::uint64_t room = cuda_free_bytes(device) / 2 / bytes;
    const int most = kSequencesAtOnce * multiprocessors(device);
    return room < static_cast<std::uint64_t>(most) ? std::max(1, static_cast<int>(room)) : most;
  }

  template <class T>
  void fill_with_ones(const DeviceMemory<T>& memory, std::size_t count) {
    require(cudaMemsetAsync(memory.data(), 0xFF, count * sizeof(T), stream_), "masks");
  }
  template <class T>
  void clear(const DeviceMemory<T>& memory) {
    require(cudaMemsetAsync(memory.data(), 0, memory.size() * sizeof(T), stream_), "sums");
  }
  void reserve_scores(std::size_t count) {
    losses_.reserve(count);
    correct_.reserve(count);
  }

  void load(const Sequences& inputs, const Sequences& targets) {
    inputs_.reserve(inputs.tokens.size());
    targets_.reserve(targets.tokens.size());
    inputs_.upload(inputs.tokens.data(), inputs.tokens.size(), stream_);
    targets_.upload(targets.tokens.data(), targets.tokens.size(), stream_);
    require(cudaStreamSynchronize(stream_), "copies to the device");
  }

  /// Calls body(first sequence, how many) for as many sequences as there are blocks at a time.
  template <class Body>
  void for_groups(int count, const Execution& execution, const Body& body) const {
    for (int first = 0; first < count; first += blocks_) {
      execution.check();
      body(first, std::min(blocks_, count - first));
    }
  }

  /// What replaces the outputs of heads in layers begin .. end - 1.
  void replace_by(Ablation ablation, int count, int begin, int end, const Execution& execution) {
    std::vector<float> replacements(layers() * kWidth, 0.0F);
    for (int layer = begin; layer < end && ablation == Ablation::kMean; ++layer) {
      std::vector<double> sums(kWidth, 0.0);
      sums_.reserve(static_cast<std::size_t>(blocks_) * kWidth);
      for_groups(count, execution, [&](int first, int sequences) {
        run_states(first, sequences, StateArguments::kNoLayer, layer, false, true);
        const std::vector<double> some =
            downloaded(sums_, static_cast<std::size_t>(sequences) * kWidth, stream_);
        for (std::size_t k = 0; k < some.size(); ++k) sums[k % kWidth] += some[k];
      });
      const double tokens = static_cast<double>(count) * config_.length;
      for (std::size_t k = 0; k < kWidth; ++k)
        replacements[static_cast<std::size_t>(layer) * kWidth + k] =
            static_cast<float>(sums[k] / tokens);
    }
    replacements_.upload(replacements.data(), replacements.size(), stream_);
    require(cudaStreamSynchronize(stream_), "copies to the device");
  }

  SequenceArguments pass(int sequences) const {
    SequenceArguments arguments{};
    arguments.layout = layout_of(config_);
    arguments.saved_layout = saved_layout();
    arguments.mask_layout = masks();
    arguments.batch = sequences;
    arguments.dropout_scale = 1.0F;
    arguments.trainees = trainee_.data();
    arguments.attention_masks = attention_masks_.data();
    arguments.mlp_masks = mlp_masks_.data();
    arguments.saved = saved_.data();
    arguments.losses = losses_.data();
    arguments.correct = correct_.data();
    return arguments;
  }

  /// Runs sequences from the first on, at most one a block: to their scores, or to the state of the
  /// watched layer.
  void run_states(int first, int sequences, int off, int watched, bool want_states,
                  bool want_sums) {
    const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(first) * config_.length;
    Trainee trainee{};
    trainee.parameters = parameters_.data();
    trainee.rows = rows_.data();
    trainee.inputs = inputs_.data() + start;
    trainee.targets = targets_.data() + start;
    trainee.row_count = sequences;
    trainee.sequence_positions = config_.length;  // scales gradients, which nobody asks for
    trainee_.upload(&trainee, 1, stream_);
    const StateArguments arguments{pass(sequences),
                                   off,
                                   watched,
                                   replacements_.data(),
                                   want_states ? states_.data() : nullptr,
                                   want_sums ? sums_.data() : nullptr};
    with_head_size(slots_of(config_), [&](auto head) {
      launch_states<decltype(head)::value>(arguments, sequences, stream_);
    });
  }

  /// The subsets from `begin` on, on sequences from `first` on.
  void launch_subsets(int layer, int first, int sequences, int begin, int subsets) {
    const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(first) * config_.length;
    const GameArguments arguments{pass(sequences),
                                  layer,
                                  sequences,
                                  subsets,
                                  static_cast<std::uint32_t>(begin),
                                  states_.data(),
                                  replacements_.data() + layer * kWidth,
                                  targets_.data() + start};
    const int blocks = std::min(blocks_, sequences * subsets);
    with_head_size(slots_of(config_), [&](auto head) {
      launch_game<decltype(head)::value>(arguments, blocks, stream_);
    });
  }

  int device_;
  ModelConfig config_;
  int passes_;
  int blocks_;
  Stream stream_;
  DeviceMemory<float> parameters_;
  DeviceMemory<Trainee> trainee_;
  DeviceMemory<std::int32_t> rows_;
  DeviceMemory<std::int32_t> inputs_;
  DeviceMemory<std::int32_t> targets_;
  DeviceMemory<std::uint32_t> attention_masks_;
  DeviceMemory<std::uint8_t> mlp_masks_;
  DeviceMemory<float> saved_;
  DeviceMemory<float> states_;
  DeviceMemory<float> replacements_;
  DeviceMemory<double> sums_;
  DeviceMemory<double> losses_;
  DeviceMemory<std::int32_t> correct_;
};

}  // namespace
}  // namespace cuda

LossGamesFactory cuda_loss_games(const Device& device, const Model& model, int passes) {
  FleetSettings shape;
  shape.model = model.config();
  const std::string why = cuda_shape_refusal(device, shape);
  if (!why.empty()) throw InputError(name_of(device) + ": " + why);
  return [index = device.index, &model, passes] {
    const cuda::CurrentDevice current(index);
    return std::make_unique<cuda::CudaLossGames>(index, model.config(), cuda::packed_values(model),
                                                 passes);
  };
}

}  // namespace synergraph
