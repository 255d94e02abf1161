#include "synergraph/heads/measure_systems.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/heads/view_source.h"
#include "synergraph/heads/visit_systems.h"

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

void measure_systems(AttentionSource& source, const std::vector<SampleRange>& samples,
                     const SystemWeights& weights, const MeasureOptions& options,
                     const std::function<void(int layer, int sample,
                                              std::vector<HeadsMetrics> by_convention)>& keep) {
  SystemVisit visit{samples, {}, options.execution};
  visit.unit = "heads";
  visit.work = [](const AttentionLayer& layer) { return static_cast<std::uint64_t>(layer.heads); };
  visit_systems(source, visit, [&](const VisitedSystem& system) {
    MeasureOptions each = options;
    each.execution = system.execution;
    each.head_done = [&] {
      system.execution.check();
      system.done(1);
    };
    keep(system.layer, system.sample,
         measure(system.heads, weights(system.layer, system.sample), each));
  });
}

BatchMetrics measure(const AttentionView& attention, std::span<const double> weights,
                     const BatchOptions& options) {
  ViewSource source(options.row_tolerance, options.missing_mass);
  source.add("0", attention);
  source.choose(options.sequences);
  const std::vector<double> checked = batch_weights(attention, weights);
  check_conventions(options.conventions);

  const auto heads = static_cast<std::ptrdiff_t>(attention.heads);
  const auto weights_of = [&](int layer, int sample) {
    const bool shared = checked.size() == static_cast<std::size_t>(heads);
    const auto begin =
        checked.begin() +
        (shared ? 0 : static_cast<std::ptrdiff_t>(source.span(layer, sample).sample) * heads);
    return std::vector<double>(begin, begin + heads);
  };
  const int count = source.most_samples();
  BatchMetrics result;
  result.sequences.assign(options.conventions.size(),
                          std::vector<HeadsMetrics>(static_cast<std::size_t>(count)));
  measure_systems(
      source, {{0, count}}, weights_of, {options.conventions, options.nodes, options.execution},
      [&](int /*layer*/, int sample, std::vector<HeadsMetrics> measured) {
        for (std::size_t c = 0; c < measured.size(); ++c)
          result.sequences[c][static_cast<std::size_t>(sample)] = std::move(measured[c]);
      });
  return result;
}

}  // namespace synergraph
