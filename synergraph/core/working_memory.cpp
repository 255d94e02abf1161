#include "synergraph/core/working_memory.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace synergraph {

struct WorkingMemory::Pool {
  std::mutex mutex;
  std::condition_variable released;
  std::size_t free;
};

WorkingMemory WorkingMemory::shared() const {
  WorkingMemory result(bytes_);
  result.pool_ = std::make_shared<Pool>();
  result.pool_->free = bytes_;
  return result;
}

WorkingMemory::Lease WorkingMemory::lease(std::size_t bytes) const {
  if (!pool_) return {};
  bytes = std::min(bytes, bytes_);
  std::unique_lock lock(pool_->mutex);
  pool_->released.wait(lock, [&] { return pool_->free >= bytes; });
  pool_->free -= bytes;
  return Lease(std::shared_ptr<void>(nullptr, [pool = pool_, bytes](void*) {
    {
      const std::lock_guard guard(pool->mutex);
      pool->free += bytes;
    }
    pool->released.notify_all();
  }));
}

}  // namespace synergraph
