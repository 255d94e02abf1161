#pragma once

#include "synergraph/train/cuda/sequence_kernel.cuh"

// Forward passes with heads switched off, in float32 by three products of halves. The layers are
// those of the training kernel, one block of threads a sequence. A game's blocks stay: each takes
// one subset of heads after another. The state before the layer and the heads' outputs of a
// sequence were computed once and come from the L2 cache, where the residual stream goes, too. A
// subset is chosen where the heads' outputs enter shared memory; the projection then sums what
// the heads add, always in the same order. Instructions limit it: splitting operands and, with
// many heads, the softmax.

namespace synergraph::cuda {

/// What a game's blocks read and write: subsets `first` .. `first + subsets - 1` of the heads of a
/// layer on each of the sequences. Of `pass` they need layouts, the first trainee's parameters,
/// the masks of one sequence, all ones, and memory for each block.
struct GameArguments {
  static constexpr int kState = 2 * kUnit;  ///< fragments of x, then the unit of the heads' outputs

  SequenceArguments pass;  ///< losses and correct: (sequences x subsets)
  int layer;
  int sequences;
  int subsets;
  std::uint32_t first;
  const float* states;          ///< (sequences x kState)
  const float* replacement;     ///< (kWidth) outputs of heads that are off
  const std::int32_t* targets;  ///< (sequences x length)
};

/// Sequences from their embedding on, one a block, with all heads of some layers off.
struct StateArguments {
  static constexpr int kNoLayer = -1;
  static constexpr int kAllLayers = -2;

  SequenceArguments pass;
  int off;                    ///< layer, kNoLayer or kAllLayers
  int watched;                ///< layer whose state is left, where the pass ends; or kNoLayer
  const float* replacements;  ///< (layers x kWidth)
  float* states;              ///< (sequences x GameArguments::kState), or null
  double* sums;  ///< (sequences x kWidth) outputs of the heads, summed over positions; or null
};

/// The feature of entry `index` of a unit, see at().
__device__ __forceinline__ int feature_at(int index) {
  const int inside = index % kPanel;
  return index / kPanel * kPanelWidth +
         ((inside % kPanelWidth) ^ ((inside / kPanelWidth & 7) << 2));
}

template <int kHead>
struct GamePass : SequencePass<kHead, Precision::kFloat32> {
  using Base = SequencePass<kHead, Precision::kFloat32>;
  using Heads = typename Base::Heads;

  /// What every sequence of the block has in common. One thread calls it.
  static __device__ __forceinline__ void share(const SequenceArguments& args) {
    Context& to = Base::context();
    to.layout = args.layout;
    to.saved_layout = args.saved_layout;
    to.parameters = args.trainees->parameters;
    to.transposed = nullptr;
    to.saved = args.saved + static_cast<std::size_t>(blockIdx.x) * args.saved_layout.size();
    to.partial = nullptr;
    to.attention_masks = reinterpret_cast<const uint2*>(args.attention_masks);
    to.mlp_masks = args.mlp_masks;
    to.dropout_scale = 1.0F;
    to.gradient_scale = 1.0F;
    to.inverse_width = 1.0F / static_cast<float>(args.layout.width);
    to.inverse_root = 1.0F / sqrtf(static_cast<float>(args.layout.head_width()));
    to.dropout = false;
    to.training = false;
    to.prefetching = false;
  }

  /// The outputs of a layer's heads, into unit 3: those of `attended` where the head is in the
  /// subset, the replacement of their features where it is not.
  static __device__ __forceinline__ void switch_heads(const float* attended,
                                                      const float* replacement,
                                                      std::uint32_t subset) {
    const auto* outputs = reinterpret_cast<const float4*>(attended);
    const auto* others = reinterpret_cast<const float4*>(replacement);
    auto* to = reinterpret_cast<float4*>(unit(3));
#pragma unroll 4
    for (int k = thread_again(); k < kUnit / 4; k += kThreads) {
      const int feature = feature_at(4 * k);
      to[k] = (subset >> (feature / kHead) & 1U) != 0 ? __ldg(outputs + k)
                                                      : __ldg(others + feature / 4);
    }
  }

  static __device__ __forceinline__ void run_heads(int layer) {
    Base().prepare_attention(layer);
    Heads::template forward<false>(Base::attention_settings(layer), nullptr);
  }

  /// From the state before `layer` and the heads' outputs in unit 3 on.
  static __device__ __forceinline__ void finish(int layer) {
    Base().finish_layer(layer);
#pragma unroll 1
    for (int next = layer + 1; next < Base::context().layout.layers; ++next) {
      run_heads(next);
      Base().finish_layer(next);
    }
    Base().compare();
  }

  /// Takes the state of another sequence.
  __device__ __forceinline__ void open(const GameArguments& args, int sequence,
                                       const float* state) const {
    Fragments x;
    fetch(this->place, x, state);
    keep(this->place, x, Base::kept(args.layer) + Saved::kX);
    const int length = args.pass.layout.length;
    const std::int32_t* targets = args.targets + sequence * length;
    for (int p = thread_again(); p < kPositions; p += kThreads)
      Base::targets()[p] = p < length ? targets[p] : -1;
  }

  static __device__ __forceinline__ void play(const GameArguments& args) {
    if (thread_again() == 0) share(args.pass);
    __syncthreads();
    int before = -1;
#pragma unroll 1
    for (int item = static_cast<int>(blockIdx.x); item < args.sequences * args.subsets;
         item += static_cast<int>(gridDim.x)) {
      const int sequence = item / args.subsets;
      const float* state = args.states + static_cast<std::size_t>(sequence) * GameArguments::kState;
      if (sequence != before) GamePass().open(args, sequence, state);
      before = sequence;
      if (thread_again() == 0) {  // which wrote the last item's numbers
        Base::context().loss = args.pass.losses + item;
        Base::context().correct = args.pass.correct + item;
      }
      switch_heads(state + kUnit, args.replacement,
                   args.first + static_cast<std::uint32_t>(item % args.subsets));
      finish(args.layer);
    }
  }

  /// Leaves the state before a layer, the outputs of its heads, and these summed over positions.
  static __device__ __forceinline__ void leave_state(const StateArguments& args) {
    __syncthreads();
    const auto sequence = static_cast<std::size_t>(blockIdx.x);
    if (args.states != nullptr) {
      float* state = args.states + sequence * GameArguments::kState;
      const Place place;
      Fragments x;
      fetch(place, x, Base::kept(args.watched) + Saved::kX);
      keep(place, x, state);
      copy(unit(3), state + kUnit, kUnit);
    }
    const int feature = thread_again();
    if (args.sums == nullptr || feature >= kWidth) return;
    double sum = 0.0;
    for (int p = 0; p < args.pass.layout.length; ++p) sum += unit(3)[at(p, feature)];
    args.sums[sequence * kWidth + static_cast<std::size_t>(feature)] = sum;
  }

  static __device__ __forceinline__ void run(const StateArguments& args) {
    Base().embed(args.pass, *args.pass.trainees);
    if (thread_again() == 0) share(args.pass);
    __syncthreads();
#pragma unroll 1
    for (int layer = 0; layer < args.pass.layout.layers; ++layer) {
      if (args.off == layer || args.off == StateArguments::kAllLayers) {
        __syncthreads();  // all have read what the last layer put aside in unit 3
        switch_heads(nullptr, args.replacements + layer * kWidth, 0);
      } else {
        run_heads(layer);
      }
      if (layer == args.watched) return leave_state(args);
      Base().finish_layer(layer);
    }
    Base().compare();
  }
};

template <int kHead>
__global__ void __launch_bounds__(kThreads, kSequencesAtOnce)
    game_kernel(const __grid_constant__ GameArguments arguments) {
  GamePass<kHead>::play(arguments);
}

template <int kHead>
__global__ void __launch_bounds__(kThreads, kSequencesAtOnce)
    state_kernel(const __grid_constant__ StateArguments arguments) {
  GamePass<kHead>::run(arguments);
}

}  // namespace synergraph::cuda
