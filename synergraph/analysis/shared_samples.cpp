#include "synergraph/analysis/shared_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>

#include "synergraph/cluster/shared_work.h"
#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

constexpr int kMostRanges = 512;      ///< whatever the number of workers
constexpr int kSamplesPerThread = 4;  ///< at least, in what is measured at once
constexpr const char* kFormat = "synergraph part 1";

std::string fingerprint_of(std::string_view text) {
  Fingerprint fingerprint;
  for (const char c : text) fingerprint.add(static_cast<unsigned char>(c));
  return fingerprint.text();
}

/// Of many bytes, four at a time.
std::string checksum(std::string_view bytes) {
  Fingerprint fingerprint;
  for (; bytes.size() >= sizeof(std::uint32_t); bytes.remove_prefix(sizeof(std::uint32_t))) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    fingerprint.add(word);
  }
  for (const char c : bytes) fingerprint.add(static_cast<unsigned char>(c));
  return fingerprint.text();
}

std::string part_of(const std::string& bytes) {
  return fmt::format("{} {}\n", kFormat, checksum(bytes)) + bytes;
}

/// The bytes of a part; InputError where they are not those that were written.
std::string_view bytes_of(std::string_view part) {
  const std::size_t end = std::min(part.find('\n'), part.size());
  const std::string_view bytes = part.substr(std::min(end + 1, part.size()));
  if (part.substr(0, end) != fmt::format("{} {}", kFormat, checksum(bytes)))
    throw InputError("its checksum is that of other numbers");
  return bytes;
}

/// The same for all workers, however many they are.
std::vector<SampleRange> ranges_of(int samples, double cost, double least_cost) {
  const double count = std::clamp(samples * cost / least_cost, 1.0, 1.0 * kMostRanges);
  const int size = std::max(1, static_cast<int>(std::ceil(samples / count)));
  std::vector<SampleRange> ranges;
  for (int begin = 0; begin < samples; begin += size)
    ranges.push_back({begin, std::min(begin + size, samples)});
  return ranges;
}

WorkPlan plan_of(const SharedSamples& how, const std::vector<SampleRange>& ranges) {
  WorkPlan plan{how.title, "ranges of samples", {}};
  const std::string key = fingerprint_of(how.settings);
  for (const SampleRange& range : ranges)
    plan.pieces.push_back({fmt::format("samples-{}-{}-{}", range.begin, range.end, key), "part",
                           fmt::format("samples {} to {}", range.begin, range.end - 1),
                           static_cast<double>(range.end - range.begin)});
  return plan;
}

/// A worker at its ranges.
class RangeWork {
 public:
  RangeWork(const SharedSamples& how, int samples, const Execution& execution,
            const SampleWork& work)
      : how_(how),
        execution_(execution),
        work_(work),
        ranges_(ranges_of(samples, work.cost, how.least_cost)),
        progress_("samples", static_cast<std::uint64_t>(samples), 0, execution.progress),
        shared_(how.directory, plan_of(how, ranges_),
                {.place = how.place,
                 .blocks = true,
                 .wait = how.wait,
                 .timeout = how.timeout,
                 .stop = execution.stop,
                 .note = [this](const std::string& line) { progress_.note(line); }}) {}

  void run() {
    const int size = std::max(1, ranges_.front().end);
    const int wanted = kSamplesPerThread * execution_.thread_count();
    const auto most = static_cast<std::size_t>(std::max(1, wanted / size));
    for (auto taken = shared_.take(most); !taken.empty(); taken = shared_.take(most)) {
      std::sort(taken.begin(), taken.end());
      do_together(taken);
      report();
    }
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
        const std::string part = part_of(work_.take(ranges_[k]));
        shared_.persist([&] { write_file(path(k), part); });
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

  void restore(std::size_t k) {
    std::string part;
    shared_.persist([&] { part = read_regular_file(path(k), std::size_t{1} << 40U); });
    try {
      work_.restore(ranges_[k], bytes_of(part));
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: not a part of this work ({}); remove it to measure again",
                                   path(k), error.what()));
    }
  }

  void report() {
    std::uint64_t done = 0;
    for (std::size_t k = 0; k < ranges_.size(); ++k)
      if (shared_.is_done(k)) done += static_cast<std::uint64_t>(ranges_[k].end - ranges_[k].begin);
    progress_.update(done, "");
  }
  std::string path(std::size_t k) const {
    return result_path(shared_.board(), shared_.plan().pieces[k]);
  }

  const SharedSamples& how_;
  const Execution& execution_;
  const SampleWork& work_;
  std::vector<SampleRange> ranges_;
  Progress progress_;
  SharedWork shared_;
};

}  // namespace

SharedEnd share_samples(const SharedSamples& how, int samples, const Execution& execution,
                        const SampleWork& work) {
  if (samples < 1) throw InputError("there are no samples to measure");
  RangeWork shared(how, samples, execution, work);
  shared.run();
  return shared.end();
}

}  // namespace synergraph
