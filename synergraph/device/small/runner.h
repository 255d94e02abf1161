#pragma once

#include <span>
#include <vector>

#include "synergraph/device/small/layout.h"

namespace synergraph::small {

/// What measures jobs: a device, or the host.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  /// Measures all jobs of attention that this runner reaches. The result belongs to the runner and
  /// is valid until the next call. Jobs that name a combined job stand behind it.
  virtual std::span<const Result> run(const Attention& attention, std::span<const Task> tasks,
                                      std::span<const Job> jobs,
                                      std::span<const double> weights) = 0;

  /// Measures the weighted means of all subsets of the heads of the sequence of `job`, by one task
  /// without hitting times. Entry S is the subset whose bits are set in S; entry 0 means nothing.
  /// Nothing where the attention is not good. `weights` are convex. The result is valid until the
  /// next call.
  virtual std::span<const SubsetFound> run_subsets(const Attention& attention, const Task& task,
                                                   const Job& job,
                                                   std::span<const double> weights) = 0;
};

/// One job after the other on the calling thread, by the code that devices run.
class HostRunner : public Runner {
 public:
  std::span<const Result> run(const Attention& attention, std::span<const Task> tasks,
                              std::span<const Job> jobs, std::span<const double> weights) override;
  std::span<const SubsetFound> run_subsets(const Attention& attention, const Task& task,
                                           const Job& job,
                                           std::span<const double> weights) override;

 private:
  double* memory();

  std::vector<Result> results_;
  std::vector<SubsetFound> found_;
  std::vector<double> memory_;
  std::vector<double> powers_;
};

}  // namespace synergraph::small
