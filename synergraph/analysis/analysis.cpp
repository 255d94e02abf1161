#include "synergraph/analysis/analysis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

// The powers of slow walks, of all samples that are measured at the same time.
constexpr double kPowersBytes = 640 << 20;

/// The summary of one number of every sample.
template <class Value>
Summary over(const std::vector<HeadsMetrics>& samples, const Value& value) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const HeadsMetrics& sample : samples) values.push_back(value(sample));
  return summarise(std::move(values));
}

}  // namespace

Analysis analyse(AttentionSource& source, LayerWeights weights, const AnalysisOptions& options) {
  Analysis analysis{source.layers(), std::move(weights), options.conventions, {}};
  std::uint64_t heads = 0;
  for (const AttentionLayer& layer : analysis.layers)
    heads += static_cast<std::uint64_t>(layer.samples) * static_cast<std::uint64_t>(layer.heads);
  for (std::size_t c = 0; c < options.conventions.size(); ++c) {
    auto& layers = analysis.samples.emplace_back();
    for (const AttentionLayer& layer : analysis.layers)
      layers.emplace_back(static_cast<std::size_t>(layer.samples));
  }

  Progress progress("heads", heads, 0, options.execution.progress);
  std::mutex progress_mutex;
  std::uint64_t done = 0;
  const int threads = options.execution.thread_count();
  const int at_once = source.samples_at_once(threads);
  MeasureOptions sample_options;
  sample_options.threads = std::max(1, threads / at_once);
  for (MetricsOptions convention : options.conventions) {
    convention.walk.threads = convention.fidelity.threads = sample_options.threads;
    convention.walk.memory = convention.fidelity.memory = kPowersBytes / at_once;
    sample_options.conventions.push_back(std::move(convention));
  }
  sample_options.head_done = [&] {
    const std::lock_guard lock(progress_mutex);
    progress.update(++done, "");
  };
  source.for_each(threads, [&](int layer, int sample, int /*worker*/, SampleHeads& sample_heads) {
    options.execution.check();
    const auto l = static_cast<std::size_t>(layer);
    std::vector<HeadsMetrics> measured = measure(sample_heads, analysis.weights[l], sample_options);
    for (std::size_t c = 0; c < measured.size(); ++c)
      analysis.samples[c][l][static_cast<std::size_t>(sample)] = std::move(measured[c]);
  });
  return analysis;
}

std::vector<SampleColumn> sample_columns(const MetricsOptions& options) {
  using M = Metrics;
  const auto of_walk = [](auto value) {
    return [value](const M& m) {
      return std::isnan(m.forward_probability) ? m.forward_probability : value(m.walk);
    };
  };
  using W = WalkSummary;
  std::vector<SampleColumn> columns = {
      {"forward_probability", [](const M& m) { return m.forward_probability; }},
      {"truncated_hitting_mean", of_walk([](const W& w) { return w.truncated.mean; })},
      {"truncated_hitting_max", of_walk([](const W& w) { return w.truncated.max; })},
      {"hitting_mean", of_walk([](const W& w) { return w.hitting.mean; })},
      {"hitting_max", of_walk([](const W& w) { return w.hitting.max; })},
  };
  for (std::size_t k = 0; k < options.walk.eps.size(); ++k)
    columns.push_back({fmt::format("mixing_time_{}", options.walk.eps[k]),
                       of_walk([k](const W& w) { return w.mixing[k]; })});
  columns.push_back({"minimax_fidelity", [](const M& m) { return m.fidelity.minimax; }});
  columns.push_back(
      {"minimax_fidelity_upper", [](const M& m) { return m.fidelity.minimax_upper; }});
  columns.push_back({"minimax_time", [](const M& m) { return m.fidelity.minimax_time; }});
  return columns;
}

LayerSummary summarise_layer(const std::vector<HeadsMetrics>& samples,
                             const MetricsOptions& options) {
  LayerSummary summary;
  const std::size_t heads = samples.front().heads.size();
  summary.heads.resize(heads);
  for (const SampleColumn& column : sample_columns(options)) {
    summary.combined.push_back(
        over(samples, [&](const HeadsMetrics& s) { return column.value(s.combined); }));
    for (std::size_t h = 0; h < heads; ++h)
      summary.heads[h].push_back(
          over(samples, [&](const HeadsMetrics& s) { return column.value(s.heads[h]); }));
  }
  summary.best_head_fidelity =
      over(samples, [](const HeadsMetrics& s) { return s.synergy.best_head_fidelity; });
  summary.synergy = over(samples, [](const HeadsMetrics& s) { return s.synergy.value; });
  summary.mixing_synergy = over(samples, [](const HeadsMetrics& s) { return s.mixing_synergy; });
  summary.cross_head_share =
      over(samples, [](const HeadsMetrics& s) { return s.cross_head_share; });
  summary.effective_forward_probability =
      over(samples, [](const HeadsMetrics& s) { return s.effective_forward_probability; });

  const auto count = static_cast<double>(samples.size());
  std::vector<int> wins(heads, 0);
  int synergies = 0;
  for (const HeadsMetrics& sample : samples) {
    ++wins[static_cast<std::size_t>(sample.synergy.best_head)];
    if (!sample.synergy.best_head_decided) ++summary.best_head_undecided;
    const std::optional<bool> present = sample.synergy.present();
    if (!present) ++summary.synergy_undecided;
    if (present.value_or(false)) ++synergies;
  }
  summary.synergy_share = synergies / count;
  for (const int won : wins) summary.best_share.push_back(won / count);
  summary.best_head = static_cast<int>(std::max_element(wins.begin(), wins.end()) - wins.begin());
  return summary;
}

}  // namespace synergraph
