#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/progress.h"
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
  const Execution& execution = options.execution;
  const std::vector<TokenSpan>& sequences = options.sequences;
  std::uint64_t heads = 0;
  auto at_once = static_cast<int>(
      std::min<std::size_t>(sequences.size(), static_cast<std::size_t>(execution.thread_count())));
  for (const TokenSpan& sequence : sequences) {
    const auto of_layer = static_cast<int>(batch.layer_of(sequence).view.heads);
    heads += static_cast<std::uint64_t>(of_layer);
    at_once = std::min(at_once, systems_at_once(of_layer, nodes_of(sequence, options), execution));
  }
  Progress progress("heads", heads, 0, execution.progress);
  MeasureOptions each;
  each.nodes = options.nodes;
  each.conventions = options.conventions;
  each.execution = execution_of_each(execution, at_once);
  each.head_done = [&] {
    execution.check();
    progress.add(1);
  };

  BatchMetrics result;
  result.sequences.assign(options.conventions.size(), std::vector<HeadsMetrics>(sequences.size()));
  std::vector<std::optional<SequenceReader>> readers(static_cast<std::size_t>(at_once));
  parallel_for(sequences.size(), at_once, [&](std::size_t index, int worker) {
    execution.check();
    const TokenSpan& sequence = sequences[index];
    auto& reader = readers[static_cast<std::size_t>(worker)];
    if (!reader) reader.emplace(batch, execution.memory);
    std::vector<HeadsMetrics> measured = synergraph::measure(
        reader->read(sequence), batch.layer_of(sequence).weights_of(sequence.sample), each);
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
