#include "synergraph/analysis/shared_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>

#include "synergraph/cluster/sealed_result.h"
#include "synergraph/cluster/shared_work.h"
#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/file_stamp.h"
#include "synergraph/io/own_file.h"

namespace synergraph {
namespace {

constexpr int kMostRanges = 512;      ///< whatever the number of workers
constexpr int kSamplesPerThread = 4;  ///< at least, in what is measured at once

/// Bytes of a part at most: a tebibyte, or all that can be addressed.
constexpr auto kLargestPart = static_cast<std::size_t>(
    std::min<std::uint64_t>(std::uint64_t{1} << 40U, std::numeric_limits<std::size_t>::max()));
static_assert(kLargestPart >= std::size_t{1} << 31U);

/// The same for all workers, however many they are.
std::vector<SampleRange> ranges_of(int samples, double cost, double least_cost) {
  const double count = std::clamp(samples * cost / least_cost, 1.0, 1.0 * kMostRanges);
  const int size = std::max(1, static_cast<int>(std::ceil(samples / count)));
  std::vector<SampleRange> ranges;
  for (int begin = 0; begin < samples; begin += size)
    ranges.push_back({begin, std::min(begin + size, samples)});
  return ranges;
}

WorkPlan plan_of(const SharedSamples& how, const std::vector<SampleRange>& ranges, int samples,
                 const SampleWork& work) {
  WorkPlan plan{how.title, work.searches > 0 ? "parts" : "ranges of samples", {}};
  const std::string key = fingerprint_of(how.settings);
  for (const SampleRange& range : ranges) {
    const int search = range.begin - samples;
    if (search < 0)
      plan.pieces.push_back({fmt::format("samples-{}-{}-{}", range.begin, range.end, key), "part",
                             fmt::format("samples {} to {}", range.begin, range.end - 1),
                             static_cast<double>(range.end - range.begin)});
    else
      plan.pieces.push_back({fmt::format("search-{}-{}", search, key), "part",
                             fmt::format("{} {}", work.search_name, search),
                             work.search_cost / work.cost});
  }
  return plan;
}

/// The ranges, after parts of them are removed that are no younger than what they were measured on:
/// it was changed since then, whatever time it claims.
std::vector<SampleRange> current_ranges(const SharedSamples& how, int samples,
                                        const SampleWork& work) {
  std::vector<SampleRange> ranges = ranges_of(samples, work.cost, how.least_cost);
  for (int k = samples; k < samples + work.searches; ++k) ranges.push_back({k, k + 1});
  const WorkBoard board(how.directory);
  for (const WorkPiece& piece : plan_of(how, ranges, samples, work).pieces) {
    const std::string path = result_path(board, piece);
    const std::optional<std::int64_t> written = written_at(path);
    if (!written || *written > how.changed) continue;
    remove_own(path);
    forget_merge(board);
  }
  return ranges;
}

/// A worker at its ranges.
class RangeWork {
 public:
  RangeWork(const SharedSamples& how, int samples, const Execution& execution,
            const SampleWork& work)
      : how_(how),
        execution_(execution),
        work_(work),
        ranges_(current_ranges(how, samples, work)),
        progress_("samples", static_cast<std::uint64_t>(samples + work.searches), 0,
                  execution.progress),
        shared_(how.directory, plan_of(how, ranges_, samples, work),
                {.place = how.place,
                 .blocks = true,
                 .wait = how.wait,
                 .timeout = how.timeout,
                 .with = counted(execution.thread_count(), "thread"),
                 .prints = how.prints,
                 .stop = execution.stop,
                 .looked = [this](std::size_t others) { report(others); },
                 .note = [this](const std::string& line) { progress_.note(line); }}) {}

  void run() {
    const int size = std::max(1, ranges_.front().end);
    const int wanted = kSamplesPerThread * execution_.thread_count();
    const auto most = static_cast<std::size_t>(std::max(1, wanted / size));
    for (auto taken = shared_.take(most); !taken.empty(); taken = shared_.take(most)) {
      std::sort(taken.begin(), taken.end());
      do_together(taken);
      shared_.refresh();
      report(0);
    }
    progress_.finish();
    execution_.check();
  }

  SharedEnd end() {
    if (const auto failures = shared_.failures(); !failures.empty())
      throw InputError(failures.front().line);
    if (!shared_.complete()) return SharedEnd::kOthers;
    const std::string key = fingerprint_of(how_.settings + '\n' + how_.outputs);
    const bool merged = shared_.merge(key, how_.stamp, [this] {
      for (std::size_t k = 0; k < ranges_.size(); ++k) restore(k);
      work_.finish();
    });
    return merged ? SharedEnd::kMerged : SharedEnd::kFinished;
  }

 private:
  void do_together(const std::vector<std::size_t>& taken) {
    std::vector<SampleRange> ranges;
    ranges.reserve(taken.size());
    for (const std::size_t k : taken) ranges.push_back(ranges_[k]);
    try {
      work_.measure(ranges);
      for (const std::size_t k : taken) {
        const std::string bytes = work_.take(ranges_[k]);
        if (how_.input_stamp() != input_stamp_)
          throw InputError("the input was changed while it was measured");
        write(k, bytes);
        (void)shared_.finish(k);
      }
    } catch (const Stopped&) {
      throw;
    } catch (const std::exception&) {
      if (taken.size() == 1) return shared_.fail(taken.front(), std::current_exception());
      for (const std::size_t k : taken)  // which of them is it?
        if (!shared_.is_done(k)) do_together({k});
    }
  }

  std::string write(std::size_t k, const std::string& bytes) {
    std::string part = seal_part(name(k), bytes);
    shared_.persist([&] { write_file(path(k), part, NamedBy::kProgram); });
    return part;
  }

  /// A part that is not there, or is not what it should be, is measured again.
  void restore(std::size_t k) {
    std::string part;
    try {
      shared_.persist([&] {
        (void)shared_.board().folders();  // FileError where all has gone
        if (!written_at(path(k))) throw InputError("it has gone");
        part = read_regular_file(path(k), kLargestPart);
      });
      (void)open_part(name(k), part);
    } catch (const InputError& error) {
      progress_.note(
          fmt::format("{}: not a part of this work ({}); measured again", path(k), error.what()));
      set_aside(path(k));
      work_.measure({ranges_[k]});
      part = write(k, work_.take(ranges_[k]));
    }
    work_.restore(ranges_[k], open_part(name(k), part));
  }

  /// Called by one thread. `others`: ranges of others that this worker waits for.
  void report(std::size_t others) {
    std::uint64_t done = 0;
    for (std::size_t k = 0; k < ranges_.size(); ++k)
      if (shared_.is_done(k)) done += static_cast<std::uint64_t>(ranges_[k].end - ranges_[k].begin);
    progress_.update(done, others == 0 ? "" : waiting_for(others, "range"));
  }
  const std::string& name(std::size_t k) const { return shared_.plan().pieces[k].name; }
  std::string path(std::size_t k) const {
    return result_path(shared_.board(), shared_.plan().pieces[k]);
  }

  const SharedSamples& how_;
  const Execution& execution_;
  const SampleWork& work_;
  std::string input_stamp_ = how_.input_stamp();
  std::vector<SampleRange> ranges_;
  Progress progress_;
  SharedWork shared_;
};

}  // namespace

SharedEnd share_samples(const SharedSamples& how, int samples, const Execution& execution,
                        const SampleWork& work) {
  if (samples < 1) throw InputError("there are no samples to measure");
  SharedSamples there = how;
  there.directory = user_directory(how.directory);
  RangeWork shared(there, samples, execution, work);
  shared.run();
  return shared.end();
}

}  // namespace synergraph
