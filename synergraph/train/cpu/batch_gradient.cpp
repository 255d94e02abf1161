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
      workers_(static_cast<std::size_t>(threads_)),
      group_of_(workers_.size()) {}

int BatchGradient::claim(int worker) {
  const std::lock_guard lock(claims_mutex_);
  const auto left = [&](int group) {
    return std::min((group + 1) * group_size_, static_cast<int>(losses_.size())) -
           next_[static_cast<std::size_t>(group)];
  };
  int& group = group_of_[static_cast<std::size_t>(worker)];
  if (group < 0 || left(group) == 0) {
    if (started_ < groups_) {
      group = started_++;
    } else {
      group = 0;
      for (int other = 1; other < groups_; ++other)
        if (left(other) > left(group)) group = other;
    }
  }
  return next_[static_cast<std::size_t>(group)]++;
}

void BatchGradient::run_sequence(int place, int worker, const float* parameters,
                                 const Sequences& inputs, const Sequences& targets,
                                 const Dropout& dropout) {
  const auto index = static_cast<std::size_t>(place);
  const bool first = place % group_size_ == 0;
  Turn turn(first ? nullptr : &progress_[index - 1], &progress_[index]);
  auto& backward = workers_[static_cast<std::size_t>(worker)];
  if (!backward) backward = std::make_unique<SequenceBackward>(config_);
  float* gradient = gradients_[static_cast<std::size_t>(place / group_size_)].data();
  if (first) {
    const ParameterInfo& embedding = layout_.find("token_emb.weight");
    std::fill_n(gradient + embedding.offset, embedding.size, 0.0F);
  }
  const float scale = 1.0F / (static_cast<float>(inputs.count) * static_cast<float>(inputs.length));
  losses_[index] = backward->run(tensors_of(config_, layout_, parameters),
                                 tensors_of<const float>(config_, layout_, transposed_.data()),
                                 {inputs.row(place), targets.row(place), place, dropout, scale},
                                 tensors_of(config_, layout_, gradient),
                                 first ? Into::kReplace : Into::kAdd, turn);
}

void BatchGradient::prepare(int count) {
  group_size_ = (count + kGroups - 1) / kGroups;
  groups_ = (count + group_size_ - 1) / group_size_;
  gradients_.resize(std::max(gradients_.size(), static_cast<std::size_t>(groups_)));
  for (AlignedVector<float>& gradient : gradients_) gradient.resize(layout_.size());
  losses_.resize(static_cast<std::size_t>(count));
  if (progress_.size() != losses_.size()) progress_ = std::vector<Turn::Progress>(losses_.size());
  for (Turn::Progress& progress : progress_) progress.store(0, std::memory_order_relaxed);
  next_.resize(static_cast<std::size_t>(groups_));
  for (int group = 0; group < groups_; ++group)
    next_[static_cast<std::size_t>(group)] = group * group_size_;
  started_ = 0;
  std::fill(group_of_.begin(), group_of_.end(), -1);
}

StepResult BatchGradient::compute(const float* parameters, const Sequences& inputs,
                                  const Sequences& targets, const Dropout& dropout) {
  prepare(inputs.count);
  transpose_weights(config_, tensors_of(config_, layout_, parameters),
                    tensors_of(config_, layout_, transposed_.data()));
  parallel_for(losses_.size(), threads_, [&](std::size_t, int worker) {
    run_sequence(claim(worker), worker, parameters, inputs, targets, dropout);
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
