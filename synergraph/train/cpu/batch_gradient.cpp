#include "synergraph/train/cpu/batch_gradient.h"

#include <algorithm>
#include <cstdint>

#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

/// More groups feed more threads, fewer cost less memory traffic. Ten suits 1, 2, 5 and 10 threads.
constexpr int kGroups = 10;

}  // namespace

BatchGradient::BatchGradient(const ModelConfig& config, int threads, const Promotion& promotion)
    : config_(config),
      layout_(config),
      threads_(threads > 0 ? threads : default_thread_count()),
      promotion_(promotion),
      transposed_(layout_.size()),
      sums_(config, layout_),
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
      sums_.open(group);
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
  if (table && !table_)
    table_.emplace(config_);
  else if (!table)
    table_.reset();
  sums_.start(groups_, table ? table_->size() : 0);
  losses_.resize(static_cast<std::size_t>(count));
  promoted_.resize(losses_.size());
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
                                  const Sequences& targets, const Dropout& dropout,
                                  double positions) {
  prepare(inputs.count);
  const ModelTensors<const float> model = tensors_of(config_, layout_, parameters);
  transpose_weights(config_, model, tensors_of(config_, layout_, transposed_.data()));
  const StepParameters step{model, tensors_of<const float>(config_, layout_, transposed_.data()),
                            table_ ? &*table_ : nullptr};
  if (table_) table_->prepare(step.model, step.transposed, threads_);
  if (positions == 0.0) positions = static_cast<double>(counted(targets.tokens));
  const auto scale = static_cast<float>(1.0 / positions);
  const double promotion_scale = 1.0 / (static_cast<double>(inputs.count) * config_.layers);

  parallel_for(losses_.size(), threads_, [&](std::size_t, int worker) {
    const int place = claim(worker);
    const auto index = static_cast<std::size_t>(place);
    const bool first = place % group_size_ == 0;
    Turn turn(first ? nullptr : &progress_[index - 1], &progress_[index]);
    auto& backward = workers_[static_cast<std::size_t>(worker)];
    if (!backward) backward = std::make_unique<SequenceBackward>(config_, promotion_);
    const int group = place / group_size_;
    const GradientSum& gradient = sums_[group];
    if (first) clear(gradient);
    losses_[index] = backward->run(
        step, {inputs.row(place), targets.row(place), place, dropout, scale, promotion_scale},
        gradient, first ? Into::kReplace : Into::kAdd, turn);
    promoted_[index] = backward->promoted();
    // Every part of the gradient has been left in order: the last sequence is through after all.
    const bool last = place + 1 == std::min((group + 1) * group_size_, inputs.count);
    if (last) sums_.complete(group);
  });

  if (table_) table_->finish(model, sums_.total().table, threads_, sums_.total().tensors);
  StepResult result;
  for (const SequenceLoss& loss : losses_) {
    result.loss += loss.loss;
    result.correct += loss.correct;
  }
  result.loss /= positions;
  for (const PromotedSums& sums : promoted_) result.promoted.add(sums);
  return result;
}

}  // namespace synergraph
