#include "synergraph/heads/view_batch.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/core/error.h"

namespace synergraph {
std::vector<double> batch_weights(const AttentionView& view, std::span<const double> weights) {
  const auto heads = static_cast<std::size_t>(view.heads);
  if (weights.empty()) return convex_weights(std::vector<double>(heads, 1.0), heads);
  const std::size_t lists = weights.size() == heads ? 1 : static_cast<std::size_t>(view.samples);
  if (weights.size() % heads != 0 || weights.size() / heads != lists)
    throw InputError(
        fmt::format("{} weights for {} heads of {} samples: expected one a head, {}, or one a head "
                    "of every sample",
                    weights.size(), view.heads, view.samples, view.heads));
  std::vector<double> checked;
  for (std::size_t list = 0; list < lists; ++list) {
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(list * heads);
    try {
      const std::vector<double> convex =
          convex_weights({begin, begin + static_cast<std::ptrdiff_t>(heads)}, heads);
      checked.insert(checked.end(), convex.begin(), convex.end());
    } catch (const InputError& error) {
      if (lists == 1) throw;
      throw InputError(fmt::format("sample {}: {}", list, error.what()));
    }
  }
  return checked;
}

ViewBatch::ViewBatch(const AttentionView& attention, std::span<const double> weights,
                     const BatchOptions& options, FetchHead fetch)
    : options_(options),
      source_(options.row_tolerance, options.missing_mass),
      heads_(static_cast<std::size_t>(attention.heads)) {
  source_.add("0", attention, std::move(fetch));
  source_.choose(options.sequences);
  weights_ = batch_weights(attention, weights);
  check_conventions(options.conventions);
}

void ViewBatch::append_weights(int sequence, std::vector<double>& into) const {
  const std::size_t list =
      weights_.size() == heads_ ? 0 : static_cast<std::size_t>(span(sequence).sample);
  const auto begin = weights_.begin() + static_cast<std::ptrdiff_t>(list * heads_);
  into.insert(into.end(), begin, begin + static_cast<std::ptrdiff_t>(heads_));
}

std::vector<double> ViewBatch::weights(int sequence) const {
  std::vector<double> own;
  append_weights(sequence, own);
  return own;
}

BatchMetrics ViewBatch::result() const {
  BatchMetrics result;
  result.sequences.assign(options_.conventions.size(),
                          std::vector<HeadsMetrics>(static_cast<std::size_t>(sequences())));
  return result;
}

void ViewBatch::measure_on_cpu(const std::vector<SampleRange>& sequences, BatchMetrics& result) {
  measure_systems(
      source_, sequences, [&](int /*layer*/, int sequence) { return weights(sequence); },
      {options_.conventions, options_.nodes, options_.execution},
      [&](int /*layer*/, int sequence, std::vector<HeadsMetrics> measured) {
        for (std::size_t c = 0; c < measured.size(); ++c)
          result.sequences[c][static_cast<std::size_t>(sequence)] = std::move(measured[c]);
      });
}

BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                     const BatchOptions& options) {
  ViewBatch batch(attention, weights, options);
  BatchMetrics result = batch.result();
  batch.measure_on_cpu({{0, batch.sequences()}}, result);
  return result;
}

}  // namespace synergraph
