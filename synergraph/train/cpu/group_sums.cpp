#include "synergraph/train/cpu/group_sums.h"

#include "synergraph/core/kernels/kernels.h"

namespace synergraph {

void GroupSums::start(int groups, std::size_t table_size) {
  if (table_size != table_size_) buffers_.clear();
  table_size_ = table_size;
  free_.clear();
  free_.reserve(buffers_.size());
  for (const auto& buffer : buffers_) free_.push_back(buffer.get());
  buffer_of_.assign(static_cast<std::size_t>(groups), nullptr);
  complete_.assign(static_cast<std::size_t>(groups), 0);
  added_ = 0;
  adding_ = false;
}

void GroupSums::open(int group) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    auto buffer = std::make_unique<Buffer>();
    const std::size_t start = (layout_.size() + 15) / 16 * 16;
    buffer->values.resize(start + table_size_);
    float* values = buffer->values.data();
    buffer->sum = {tensors_of(config_, layout_, values),
                   table_size_ > 0 ? values + start : nullptr};
    free_.push_back(buffer.get());
    buffers_.push_back(std::move(buffer));
  }
  buffer_of_[static_cast<std::size_t>(group)] = free_.back();
  free_.pop_back();
}

void GroupSums::complete(int group) {
  std::unique_lock lock(mutex_);
  complete_[static_cast<std::size_t>(group)] = 1;
  if (adding_) return;  // whoever is at it will see this group
  adding_ = true;
  while (added_ < static_cast<int>(complete_.size()) &&
         complete_[static_cast<std::size_t>(added_)] != 0) {
    Buffer* buffer = buffer_of_[static_cast<std::size_t>(added_)];
    if (added_ > 0) {
      lock.unlock();
      kernels().add(buffer->values.data(), buffer->values.size(), buffer_of_[0]->values.data());
      lock.lock();
      free_.push_back(buffer);
    }
    ++added_;
  }
  adding_ = false;
}

}  // namespace synergraph
