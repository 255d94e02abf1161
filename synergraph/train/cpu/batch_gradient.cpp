#include "synergraph/train/cpu/batch_gradient.h"

#include <algorithm>

#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

/// More groups feed more threads, fewer cost less memory traffic. Ten suits 1, 2, 5 and 10 threads.
constexpr int kGroups = 10;

}  // namespace

BatchGradient::BatchGradient(const ModelConfig& config, int threads)
    : config_(config),
      layout_(config),
      threads_(threads > 0 ? threads : default_thread_count()),
      transposed_(layout_.size()),
      workers_(static_cast<std::size_t>(threads_)) {}

void BatchGradient::run_group(int group, int worker, const float* parameters,
                              const Sequences& inputs, const Sequences& targets,
                              const Dropout& dropout) {
  auto& backward = workers_[static_cast<std::size_t>(worker)];
  if (!backward) backward = std::make_unique<SequenceBackward>(config_);
  AlignedVector<float>& gradient = gradients_[static_cast<std::size_t>(group)];
  gradient.resize(layout_.size());
  const ParameterInfo& embedding = layout_.find("token_emb.weight");
  std::fill_n(gradient.data() + embedding.offset, embedding.size, 0.0F);
  const auto model = tensors_of(config_, layout_, parameters);
  const auto transposed = tensors_of<const float>(config_, layout_, transposed_.data());
  const auto tensors = tensors_of(config_, layout_, gradient.data());

  const float scale = 1.0F / (static_cast<float>(inputs.count) * static_cast<float>(inputs.length));
  const int first = group * group_size_;
  const int last = std::min(first + group_size_, inputs.count);
  for (int s = first; s < last; ++s)
    losses_[static_cast<std::size_t>(s)] =
        backward->run(model, transposed, {inputs.row(s), targets.row(s), s, dropout, scale},
                      tensors, s == first ? Into::kReplace : Into::kAdd);
}

StepResult BatchGradient::compute(const float* parameters, const Sequences& inputs,
                                  const Sequences& targets, const Dropout& dropout) {
  group_size_ = (inputs.count + kGroups - 1) / kGroups;
  groups_ = (inputs.count + group_size_ - 1) / group_size_;
  gradients_.resize(std::max(gradients_.size(), static_cast<std::size_t>(groups_)));
  losses_.resize(static_cast<std::size_t>(inputs.count));
  transpose_weights(config_, tensors_of(config_, layout_, parameters),
                    tensors_of(config_, layout_, transposed_.data()));
  parallel_for(static_cast<std::size_t>(groups_), threads_, [&](std::size_t group, int worker) {
    run_group(static_cast<int>(group), worker, parameters, inputs, targets, dropout);
  });
  StepResult result;
  for (const SequenceLoss& loss : losses_) {
    result.loss += loss.loss;
    result.correct += loss.correct;
  }
  result.loss /= static_cast<double>(inputs.count) * inputs.length;
  return result;
}

void BatchGradient::sum_groups(std::size_t first, std::size_t count, float* gradient) const {
  std::copy_n(gradients_[0].data() + first, count, gradient);
  for (std::size_t group = 1; group < static_cast<std::size_t>(groups_); ++group) {
    const float* part = gradients_[group].data() + first;
#pragma omp simd
    for (std::size_t k = 0; k < count; ++k) gradient[k] += part[k];
  }
}

}  // namespace synergraph
