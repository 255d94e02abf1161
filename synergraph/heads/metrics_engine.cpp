#include "synergraph/heads/metrics_engine.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

// Steps of cutoffs and horizons, as on the command line.
constexpr std::int64_t kMostAllowedSteps = 1000000000;

std::vector<std::vector<double>> checked_weights(const AttentionView& view,
                                                 std::span<const double> weights) {
  const auto heads = static_cast<std::size_t>(view.heads);
  if (weights.empty()) return {normalised_weights(std::vector<double>(heads, 1.0), heads)};
  const std::size_t lists = weights.size() == heads ? 1 : static_cast<std::size_t>(view.samples);
  if (weights.size() % heads != 0 || weights.size() / heads != lists)
    throw InputError(
        fmt::format("{} weights for {} heads of {} samples: expected one a head, {}, or one a head "
                    "of every sample",
                    weights.size(), view.heads, view.samples, view.heads));
  std::vector<std::vector<double>> checked;
  for (std::size_t list = 0; list < lists; ++list) {
    const std::span<const double> raw = weights.subspan(list * heads, heads);
    try {
      checked.push_back(normalised_weights({raw.begin(), raw.end()}, heads));
    } catch (const InputError& error) {
      if (lists == 1) throw;
      throw InputError(fmt::format("sample {}: {}", list, error.what()));
    }
  }
  return checked;
}

}  // namespace

void check_convention(const MetricsOptions& convention) {
  for (const double eps : convention.walk.eps)
    if (!(eps > 0.0 && eps <= 1.0)) throw InputError(fmt::format("eps {} is not in (0, 1]", eps));
  const auto within = [](const char* name, std::int64_t value, std::int64_t least,
                         std::int64_t most) {
    if (value < least || value > most)
      throw InputError(fmt::format("{} {} is not in {} to {}", name, value, least, most));
  };
  within("cutoff", convention.walk.cutoff, 1, kMostAllowedSteps);
  within("horizon", convention.fidelity.horizon, 0, kMostAllowedSteps);
  if (convention.fidelity.step_limit < 1)
    throw InputError(fmt::format("step limit {} is not positive", convention.fidelity.step_limit));
}

void check_sequence(const TokenSpan& sequence, const AttentionView& view) {
  if (sequence.sample < 0 || sequence.sample >= view.samples)
    throw InputError(
        fmt::format("sample {} was asked for, there are 0:{}", sequence.sample, view.samples));
  if (sequence.begin < 0 || sequence.begin >= sequence.end || sequence.end > view.tokens)
    throw InputError(fmt::format("sample {}: tokens {}:{} were asked for, it has 0:{}",
                                 sequence.sample, sequence.begin, sequence.end, view.tokens));
}

BatchMetrics MetricsEngine::measure(const AttentionView& attention, std::span<const double> weights,
                                    const BatchOptions& options) const {
  check_view(attention);
  Batch batch{attention, checked_weights(attention, weights), options};
  if (options.conventions.empty()) throw InputError("no convention to measure by");
  for (const MetricsOptions& convention : options.conventions) {
    check_convention(convention);
    if (convention.per_head_walks != options.conventions.front().per_head_walks)
      throw InputError("one convention asks for the walks of every head, another does not");
  }
  if (options.row_tolerance && !(*options.row_tolerance >= 0.0))
    throw InputError(
        fmt::format("row tolerance {} is not a positive number or zero", *options.row_tolerance));
  for (const TokenSpan& sequence : options.sequences) check_sequence(sequence, attention);
  if (options.sequences.empty())
    for (std::int64_t sample = 0; sample < attention.samples; ++sample)
      batch.options.sequences.push_back({sample, 0, attention.tokens});
  return measure_batch(batch);
}

}  // namespace synergraph
