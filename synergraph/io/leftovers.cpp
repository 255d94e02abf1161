#include "synergraph/io/leftovers.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>

namespace synergraph {

/// Slots are used again and never freed: a handler may look at one at any time.
struct LeftoverSlot {
  enum class State { kFree, kTaken, kSet };
  std::atomic<State> state = State::kTaken;
  int directory = -1;
  pid_t child = 0;
  std::array<char, NAME_MAX + 1> name{};
  LeftoverSlot* next = nullptr;  ///< does not change once the slot is in the list
};

namespace {

using State = LeftoverSlot::State;

std::atomic<LeftoverSlot*> first_slot = nullptr;
std::atomic<bool> ending = false;
static_assert(std::atomic<LeftoverSlot*>::is_always_lock_free &&
              std::atomic<State>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

LeftoverSlot* take_slot() {
  for (LeftoverSlot* slot = first_slot; slot != nullptr; slot = slot->next) {
    State free = State::kFree;
    if (slot->state.compare_exchange_strong(free, State::kTaken)) return slot;
  }
  auto* slot = new LeftoverSlot;
  slot->next = first_slot;
  while (!first_slot.compare_exchange_weak(slot->next, slot)) {
  }
  return slot;
}

void remove(const LeftoverSlot& slot) {
  if (slot.child > 0)
    (void)kill(slot.child, SIGKILL);
  else
    (void)unlinkat(slot.directory, slot.name.data(), 0);
}

}  // namespace

Leftover::Leftover(int directory, const std::string& name) : slot_(take_slot()) {
  slot_->directory = directory;
  slot_->child = 0;
  slot_->name[name.copy(slot_->name.data(), slot_->name.size() - 1)] = '\0';
  slot_->state = State::kSet;
}

Leftover::Leftover(pid_t child) : slot_(take_slot()) {
  slot_->child = child;
  slot_->state = State::kSet;
  made();
}

Leftover::~Leftover() {
  slot_->state = State::kFree;
}

void Leftover::made() const {
  if (!ending) return;
  remove(*slot_);
  for (;;) (void)pause();
}

void remove_leftovers() noexcept {
  ending = true;
  for (const LeftoverSlot* slot = first_slot; slot != nullptr; slot = slot->next)
    if (slot->state == State::kSet) remove(*slot);
}

}  // namespace synergraph
