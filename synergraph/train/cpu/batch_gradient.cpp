#include "synergraph/train/cpu/batch_gradient.h"

#include <algorithm>
#include <cstdint>

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

void BatchGradient::prepare(int count) {
  group_size_ = (count + kGroups - 1) / kGroups;
  groups_ = (count + group_size_ - 1) / group_size_;
  const bool table = EmbeddingTable::pays(config_, static_cast<double>(count) * config_.length);
  if (table && !table_) {
    table_.emplace(config_);
    gradients_.clear();
    sums_.clear();
  } else if (!table) {
    table_.reset();
  }
  const std::size_t start = (layout_.size() + 15) / 16 * 16;
  while (gradients_.size() < static_cast<std::size_t>(groups_)) {
    float* values = gradients_.emplace_back(start + (table ? table_->size() : 0)).data();
    sums_.push_back({tensors_of(config_, layout_, values), table ? values + start : nullptr});
  }
  losses_.resize(static_cast<std::size_t>(count));
  if (progress_.size() != losses_.size()) progress_ = std::vector<Turn::Progress>(losses_.size());
  for (Turn::Progress& progress : progress_) progress.store(0, std::memory_order_relaxed);
  next_.resize(static_cast<std::size_t>(groups_));
  for (int group = 0; group < groups_; ++group)
    next_[static_cast<std::size_t>(group)] = group * group_size_;
  started_ = 0;
  std::fill(group_of_.begin(), group_of_.end(), -1);
}

void BatchGradient::clear(const GradientSum& sum) const {
  const auto zero = [&](float* first, std::int64_t count) {
    std::fill_n(first, static_cast<std::size_t>(count), 0.0F);
  };
  const std::int64_t e = config_.width;
  zero(sum.tensors.token_embedding, config_.vocabulary * e);
  if (!table_) return;
  zero(sum.table, static_cast<std::int64_t>(table_->size()));
  zero(sum.tensors.layers[0].qkv_weight, 3 * e * e);
  zero(sum.tensors.layers[0].norm1, e);
}

StepResult BatchGradient::compute(const float* parameters, const Sequences& inputs,
                                  const Sequences& targets, const Dropout& dropout) {
  prepare(inputs.count);
  const ModelTensors<const float> model = tensors_of(config_, layout_, parameters);
  transpose_weights(config_, model, tensors_of(config_, layout_, transposed_.data()));
  const StepParameters step{model, tensors_of<const float>(config_, layout_, transposed_.data()),
                            table_ ? &*table_ : nullptr};
  if (table_) table_->prepare(step.model, step.transposed, threads_);
  const double positions = static_cast<double>(inputs.count) * inputs.length;
  const auto scale = static_cast<float>(1.0 / positions);

  parallel_for(losses_.size(), threads_, [&](std::size_t, int worker) {
    const int place = claim(worker);
    const auto index = static_cast<std::size_t>(place);
    const bool first = place % group_size_ == 0;
    Turn turn(first ? nullptr : &progress_[index - 1], &progress_[index]);
    auto& backward = workers_[static_cast<std::size_t>(worker)];
    if (!backward) backward = std::make_unique<SequenceBackward>(config_);
    const GradientSum& gradient = sums_[static_cast<std::size_t>(place / group_size_)];
    if (first) clear(gradient);
    losses_[index] =
        backward->run(step, {inputs.row(place), targets.row(place), place, dropout, scale},
                      gradient, first ? Into::kReplace : Into::kAdd, turn);
  });

  if (table_) {
    std::vector<float*> tables;
    tables.reserve(static_cast<std::size_t>(groups_));
    for (int group = 0; group < groups_; ++group)
      tables.push_back(sums_[static_cast<std::size_t>(group)].table);
    table_->finish(model, tables, threads_, sums_[0].tensors);
  }
  StepResult result;
  for (const SequenceLoss& loss : losses_) {
    result.loss += loss.loss;
    result.correct += loss.correct;
  }
  result.loss /= positions;
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
