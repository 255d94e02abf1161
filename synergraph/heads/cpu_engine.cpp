#include <fmt/core.h>

#include <algorithm>
#include <mutex>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/parallel.h"
#include "synergraph/heads/sample_heads.h"

namespace synergraph {
namespace {

class CpuEngine : public MetricsEngine {
 public:
  std::string name() const override { return fmt::format("CPU, {}", instruction_set()); }

 private:
  BatchMetrics measure_batch(const Batch& batch) const override;
};

BatchMetrics CpuEngine::measure_batch(const Batch& batch) const {
  const BatchOptions& options = batch.options;
  const std::vector<TokenSpan>& sequences = options.sequences;
  const auto heads = static_cast<int>(batch.view.heads);
  const auto nodes = [&](const TokenSpan& span) {
    return static_cast<int>(span.end - span.begin) + extra_nodes(options.missing_mass);
  };
  int longest = 0;
  for (const TokenSpan& sequence : sequences) longest = std::max(longest, nodes(sequence));
  const int at_once = static_cast<int>(std::min<std::size_t>(
      sequences.size(),
      static_cast<std::size_t>(systems_at_once(heads, longest, options.execution))));
  Progress progress("heads", sequences.size() * static_cast<std::uint64_t>(heads), 0,
                    options.execution.progress);
  std::mutex progress_mutex;
  std::uint64_t done = 0;
  MeasureOptions each;
  each.nodes = options.nodes;
  each.conventions = options.conventions;
  each.execution = execution_of_each(options.execution, at_once);
  each.head_done = [&] {
    options.execution.check();
    const std::lock_guard lock(progress_mutex);
    progress.update(++done, "");
  };

  BatchMetrics result;
  result.sequences.assign(options.conventions.size(), std::vector<HeadsMetrics>(sequences.size()));
  std::vector<std::optional<SampleHeads>> workspaces(static_cast<std::size_t>(at_once));
  parallel_for(sequences.size(), at_once, [&](std::size_t index, int worker) {
    options.execution.check();
    const TokenSpan& sequence = sequences[index];
    auto& sample = workspaces[static_cast<std::size_t>(worker)];
    if (!sample || sample->nodes() != nodes(sequence)) sample.emplace(heads, nodes(sequence));
    sample->start(head_reader(batch.view, sequence, options.row_tolerance, options.missing_mass));
    std::vector<HeadsMetrics> measured =
        synergraph::measure(*sample, batch.weights_of(sequence.sample), each);
    for (std::size_t c = 0; c < measured.size(); ++c)
      result.sequences[c][index] = std::move(measured[c]);
  });
  return result;
}

}  // namespace

const MetricsEngine& cpu_engine() {
  static const CpuEngine engine;
  return engine;
}

}  // namespace synergraph
