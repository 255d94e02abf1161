#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "synergraph/core/execution.h"
#include "synergraph/heads/head_rows.h"
#include "synergraph/heads/panel_operators.h"

namespace synergraph {

struct StreamOptions {
  std::vector<double> weights = {};  ///< convex
  bool published = false;            ///< published walks are asked for
  Execution execution = {};          ///< the memory bounds what is held
  /// Hears how far a pass over the heads is.
  std::function<void(const std::string& state)> tell = [](const std::string&) {};
};

/// The operators of heads that are not in memory. A pass reads the heads a block of rows at a time,
/// from the last block to the first. As signals only move to earlier nodes, and walks of columns
/// read backwards do, too, a block's nodes are finished for a whole panel of steps once the later
/// blocks have been there: their states then enter the sums of all earlier nodes, by tiles of the
/// block. So every entry that is read serves all steps of a panel and all flows of its head. What
/// is held: some blocks, and for every flow the states of a panel. Flows that do not fit take
/// passes of their own.
class StreamedOperators : public PanelOperators {
 public:
  /// One panel serves the usual cutoff and horizon of 100.
  static constexpr int kSteps = 104;

  /// Reads and checks all heads. InputError for heads that are no attention, and where the memory
  /// is too small for blocks and the states of one flow.
  StreamedOperators(HeadRows& rows, const StreamOptions& options);
  ~StreamedOperators() override;

  int nodes() const override;
  int heads() const override;
  int steps() const override { return kSteps; }
  const OperatorSums& sums(int op) const override;
  void sweep(std::span<const SweepTask> tasks) override;
  SignalPanel signal(int op) const override;
  SurvivalPanel survival(int op) const override;
  SurvivalPanel published(int op) const override;
  const double* followed(int op, mixing_rules::Followed of) const override;
  const double* hitting(int op) const override;
  void restart_signal(int op) override;
  void restart_with_tiny(int op) override;
  bool flushed(int op) const override;
  double signal_at(int op, int j, int k) const override;
  bool keeps_states(int op) const override;
  std::vector<std::vector<double>> passing(std::span<const PassingTask> tasks) override;

  /// Begins all flows again, at time 0.
  void restart();

  /// What was done so far, for docs and tests.
  struct Work {
    double entries_read = 0;   ///< entries of heads
    double multiply_adds = 0;  ///< of panels
    int passes = 0;
  };
  const Work& work() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace synergraph
