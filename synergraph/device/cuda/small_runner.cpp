#include "synergraph/device/cuda/small_runner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "synergraph/device/small/measure_subset.h"

namespace synergraph::small {
namespace {

/// Jobs that one launch may take: those that need no other job first, then the others; each by the
/// matrices in shared memory and by the warps of a block.
constexpr int kClasses = 2 * 2 * (kMostBlockWarps + 1);

/// Blocks of a multiprocessor that square powers side by side: two matrices of 100 nodes fill less
/// than half of its shared memory.
constexpr int kSquaresAtOnce = 2;

int class_of(const Job& job, const Task& task) {
  const int follows = job.combined >= 0 ? 1 : 0;
  const int two_matrices = task.walk == WalkOf::kHeadWalks ? 1 : 0;
  return (2 * follows + two_matrices) * (kMostBlockWarps + 1) + block_warps(job.nodes);
}

}  // namespace

template <class T>
void DeviceRunner::upload(std::span<const T> from, cuda::PinnedMemory<T>& staged,
                          cuda::DeviceMemory<T>& to) {
  if (from.empty()) return;
  staged.reserve(from.size());
  to.reserve(from.size());
  std::memcpy(staged.data(), from.data(), from.size_bytes());
  to.upload(staged.data(), from.size(), stream_);
}

/// A counting sort of the jobs that `wanted` names, so that jobs of a launch keep their order. The
/// places go to the device.
template <class Wanted>
void DeviceRunner::sort(std::span<const Task> tasks, std::span<const Job> jobs, Wanted wanted) {
  std::array<int, kClasses> count{};
  std::array<int, kClasses> most_nodes{};
  const auto at = [&](std::size_t j) {
    return static_cast<std::size_t>(
        class_of(jobs[j], tasks[static_cast<std::size_t>(jobs[j].task)]));
  };
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (!wanted(j)) continue;
    const std::size_t c = at(j);
    ++count[c];
    most_nodes[c] = std::max(most_nodes[c], jobs[j].nodes);
  }
  std::array<int, kClasses> next{};
  lists_.clear();
  int begin = 0;
  order_.reserve(jobs.size());
  for (int c = 0; c < kClasses; ++c) {
    const auto k = static_cast<std::size_t>(c);
    next[k] = begin;
    if (count[k] > 0)
      lists_.push_back({order_.data() + begin, count[k], c % (kMostBlockWarps + 1), most_nodes[k],
                        c / (kMostBlockWarps + 1) % 2 == 1});
    begin += count[k];
  }
  sorted_.resize(static_cast<std::size_t>(begin));
  for (std::size_t j = 0; j < jobs.size(); ++j)
    if (wanted(j)) sorted_[static_cast<std::size_t>(next[at(j)]++)] = static_cast<int>(j);
  upload(std::span<const int>(sorted_), staged_order_, order_);
}

std::span<const Result> DeviceRunner::run(const Attention& attention, std::span<const Task> tasks,
                                          std::span<const Job> jobs,
                                          std::span<const double> weights) {
  if (jobs.empty()) return {};
  upload(tasks, staged_tasks_, tasks_);
  upload(jobs, staged_jobs_, jobs_);
  upload(weights, staged_weights_, weights_);
  results_.reserve(jobs.size());
  found_.reserve(jobs.size());
  const Work work{attention, tasks_.data(), jobs_.data(), weights_.data(), results_.data()};
  // Larger devices take two matrices of any size.
  const bool all_fit = fits_device(kMostNodes, true);
  const auto fits = [&](std::size_t j, bool two_matrices) {
    return all_fit || fits_device(jobs[j].nodes, two_matrices);
  };
  const auto is_measured = [&](std::size_t j) {
    return fits(j, tasks[static_cast<std::size_t>(jobs[j].task)].walk == WalkOf::kHeadWalks);
  };
  sort(tasks, jobs, is_measured);
  begin_.record(stream_);
  for (const JobList& list : lists_) launch_jobs(work, list, stream_);
  end_.record(stream_);
  download(jobs.size());
  kernel_seconds_ += end_.seconds_since(begin_);
  Result* const found = found_.data();
  for (std::size_t j = 0; j < jobs.size() && !all_fit; ++j) {
    if (!is_measured(j)) found[j].undecided = kTooLarge;
    if (found[j].squares != 0 && !fits(j, true)) found[j].undecided |= kTooLarge;
  }
  const auto is_slow = [&](std::size_t j) {
    return found[j].undecided == 0 && found[j].squares != 0;
  };
  sort(tasks, jobs, is_slow);
  if (lists_.empty()) return {found, jobs.size()};
  begin_.record(stream_);
  for (const JobList& list : lists_) launch_squares(work, list, room_of(list), stream_);
  end_.record(stream_);
  std::vector<Result> first(found, found + (all_fit ? 0 : jobs.size()));
  download(jobs.size());
  for (std::size_t j = 0; j < first.size(); ++j) found[j].undecided |= first[j].undecided;
  kernel_seconds_ += end_.seconds_since(begin_);
  return {found, jobs.size()};
}

void DeviceRunner::download(std::size_t jobs) {
  results_.download(found_.data(), jobs, stream_);
  cuda::require(cudaStreamSynchronize(stream_), "small systems");
}

/// As many blocks as work side by side, in bounded memory.
PowerRoom DeviceRunner::room_of(const JobList& list) {
  int device = 0;
  int processors = 0;
  cuda::require(cudaGetDevice(&device), "choice of the device");
  cuda::require(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
                "properties of the device");
  const int blocks = std::min(list.count, kSquaresAtOnce * processors);
  powers_.reserve(room_for(list.most_nodes) * static_cast<std::size_t>(blocks));
  return {powers_.data(), blocks};
}

std::span<const SubsetFound> DeviceRunner::run_subsets(const Attention& attention, const Task& task,
                                                       const Job& job,
                                                       std::span<const double> weights) {
  const SubsetSplit split(attention.heads);
  const auto entries = static_cast<std::size_t>(triangle_of(job.nodes));
  const std::size_t subsets = split.low_subsets() * split.high_subsets();
  upload(weights, staged_weights_, weights_);
  sums_.reserve((weights.size() + split.low_subsets() + split.high_subsets()) * entries +
                split.low_subsets() + split.high_subsets());
  bad_.reserve(1);
  subsets_.reserve(subsets);
  found_bad_.reserve(1);
  found_subsets_.reserve(subsets);
  SubsetWork work{attention, task, job, weights_.data()};
  work.heads = sums_.data();
  work.low = work.heads + weights.size() * entries;
  work.high = work.low + split.low_subsets() * entries;
  work.low_weight = work.high + split.high_subsets() * entries;
  work.high_weight = work.low_weight + split.low_subsets();
  work.bad = bad_.data();
  work.found = subsets_.data();
  begin_.record(stream_);
  launch_subsets(work, stream_);
  end_.record(stream_);
  bad_.download(found_bad_.data(), 1, stream_);
  subsets_.download(found_subsets_.data(), subsets, stream_);
  cuda::require(cudaStreamSynchronize(stream_), "subsets of heads");
  kernel_seconds_ += end_.seconds_since(begin_);
  if (*found_bad_.data() != 0) return {};
  return {found_subsets_.data(), subsets};
}

}  // namespace synergraph::small
