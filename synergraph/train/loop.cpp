#include "synergraph/train/loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

/// A run while it is a member of the fleet.
class Member {
 public:
  Member(Fleet& fleet, const LoopRun& loop_run, LoopResult& result)
      : fleet_(fleet),
        run_(loop_run.run),
        hooks_(loop_run.hooks),
        result_(result),
        sequence_positions_(counted_per_sequence(loop_run.data.targets)),
        number_(fleet.add(run_.state, run_.settings.seed, loop_run.data)) {}
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() { fleet_.remove(number_); }

  int number() const { return number_; }
  bool finished() const { return run_.finished(); }
  bool failed() const { return result_.error != nullptr; }
  bool at_epoch_end() const { return run_.position.step % per_epoch() == 0; }
  bool judged() const { return judged_; }

  std::uint64_t steps_to_epoch_end() const {
    return per_epoch() - run_.position.step % per_epoch();
  }
  /// The next steps, all of one epoch.
  FleetWork work(std::uint64_t steps) {
    const auto epoch = static_cast<std::uint32_t>(run_.position.step / per_epoch());
    if (order_.empty() || epoch != epoch_) order_ = epoch_order(seed(), epoch, sequences());
    epoch_ = epoch;
    const auto batch = static_cast<std::uint64_t>(run_.settings.batch);
    const std::uint64_t first = run_.position.step % per_epoch() * batch;
    return {number_,
            std::span(order_).subspan(first, std::min(steps * batch, order_.size() - first))};
  }

  // What follows calls the hooks, unless the run has failed; it fails with what they throw.

  void take(const std::vector<StepResult>& results) {
    guard([&] {
      for (const StepResult& result : results) take(result);
      if (at_epoch_end()) end_epoch();
    });
  }
  void take(const Evaluation& judged) {
    result_.judged = judged;
    judged_ = true;
  }
  void epoch_done() {
    guard([&] { hooks_.epoch_done(result_.judged, fetch_); });
  }
  void pause() {
    guard([&] { hooks_.pause(fetch_); });
  }
  void end() {
    guard([&] {
      fetch_();
      hooks_.ended();
    });
  }

 private:
  std::uint64_t per_epoch() const {
    return static_cast<std::uint64_t>(run_.settings.steps_per_epoch());
  }
  std::uint64_t seed() const { return run_.settings.seed; }
  int sequences() const { return run_.settings.sequences; }

  template <class Action>
  void guard(const Action& action) {
    if (failed()) return;
    try {
      action();
    } catch (...) {
      result_ = {{}, std::current_exception()};
    }
  }

  void take(const StepResult& result) {
    RunPosition& position = run_.position;
    if (!(result.loss < 1e30))
      throw InputError(
          fmt::format("step {}: the loss is {}: training has diverged, try a smaller "
                      "learning rate",
                      position.step + 1, result.loss));
    const auto first = static_cast<int>(position.step % per_epoch()) * run_.settings.batch;
    const int count = std::min(run_.settings.batch, sequences() - first);
    ++position.step;
    position.loss_sum += result.loss * count;
    position.correct += result.correct;
    position.sequences += count;
    position.promoted.add(result.promoted);
    judged_ = false;
    hooks_.step_done();
  }
  void end_epoch() {
    RunPosition& position = run_.position;
    position.last_loss = run_.epoch_loss();
    position.last_accuracy = run_.epoch_accuracy(sequence_positions_);
    position.last_promoted = position.promoted;
    position.promoted = {};
    position.loss_sum = 0.0;
    position.correct = 0;
    position.sequences = 0;
  }

  Fleet& fleet_;
  TrainingRun& run_;
  LoopHooks& hooks_;
  LoopResult& result_;
  double sequence_positions_;
  int number_;
  bool judged_ = false;              ///< the result's evaluation is that of the model as it is
  std::vector<std::int32_t> order_;  ///< of the sequences of epoch_
  std::uint32_t epoch_ = 0;
  LoopHooks::Fetch fetch_ = [this] { fleet_.save(number_, run_.state); };
};

using Members = std::vector<std::unique_ptr<Member>>;

/// Lets the fleet judge those of the members that are chosen.
template <class Choose>
void judge(Fleet& fleet, const Members& members, const Choose& choose) {
  std::vector<Member*> chosen;
  std::vector<int> numbers;
  for (const auto& member : members)
    if (!member->failed() && choose(*member)) {
      chosen.push_back(member.get());
      numbers.push_back(member->number());
    }
  if (chosen.empty()) return;
  const std::vector<Evaluation> evaluations = fleet.judge(numbers);
  for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k]->take(evaluations[k]);
}

/// Some steps of all members, none beyond the end of an epoch.
void run_steps(Fleet& fleet, const Members& members) {
  auto steps = static_cast<std::uint64_t>(fleet.preferred_steps());
  for (const auto& member : members) steps = std::min(steps, member->steps_to_epoch_end());
  std::vector<FleetWork> work;
  work.reserve(members.size());
  for (const auto& member : members) work.push_back(member->work(steps));
  const std::vector<std::vector<StepResult>> results = fleet.run(work);
  for (std::size_t k = 0; k < members.size(); ++k) members[k]->take(results[k]);
  judge(fleet, members, [](const Member& member) { return member.at_epoch_end(); });
  for (const auto& member : members) {
    if (member->at_epoch_end()) member->epoch_done();
    member->pause();
  }
}

}  // namespace

std::vector<LoopResult> run_loop(Fleet& fleet, std::span<const LoopRun> runs,
                                 const std::function<bool()>& stop) {
  std::vector<LoopResult> results(runs.size());
  Members members;
  for (std::size_t k = 0; k < runs.size(); ++k)
    members.push_back(std::make_unique<Member>(fleet, runs[k], results[k]));
  while (!members.empty()) {
    const bool stopped = stop && stop();
    const auto ends = [&](const Member& member) { return stopped || member.finished(); };
    judge(fleet, members, [&](const Member& member) { return ends(member) && !member.judged(); });
    for (const auto& member : members)
      if (ends(*member)) member->end();
    std::erase_if(members, [&](const auto& member) { return member->failed() || ends(*member); });
    if (!members.empty()) run_steps(fleet, members);
  }
  return results;
}

}  // namespace synergraph
