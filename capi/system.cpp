#include "capi/system.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/chain/hitting.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/diffusion/minimax_nodes.h"

namespace synergraph::capi {
namespace {

std::vector<std::string> numbered(std::vector<std::string> names, int count, const char* key) {
  if (names.empty())
    for (int k = 0; k < count; ++k) names.push_back(fmt::format("{}", k));
  if (names.size() != static_cast<std::size_t>(count))
    throw UsageError(fmt::format("options: {}: {} names, expected {}", key, names.size(), count));
  return names;
}

/// A head, or all together.
struct Series {
  const MirroredMatrix& diffusion;
  const Walk& walk;  ///< by the request's normalisation
};

/// Visits every head, and then all together.
void visit_series(HeadSource& heads, const SystemRequest& request,
                  const std::function<void(const Series& series)>& visitor) {
  const int n = heads.nodes();
  const Matrix by_row = weights_by_row(heads.row_shares(), request.weights);
  const Normalization normalization = request.convention.normalization;
  ConvexSum diffusions(n, n, ConvexSum::Part::kLower);
  WalkSum walks(n);
  for (int h = 0; h < heads.heads(); ++h) {
    const double weight = request.weights[static_cast<std::size_t>(h)];
    const MirroredMatrix& diffusion = heads.head(h);
    const Walk walk = head_walk(diffusion, normalization, heads.own_walk(h));
    visitor({diffusion, walk});
    const double* weights = by_row.rows() == 0 ? nullptr : by_row.row(h);
    if (weights != nullptr)
      diffusions.add_by_row(diffusion.view(), weights);
    else
      diffusions.add(diffusion.view(), weight);
    if (normalization != Normalization::kPerHead) continue;
    if (weights != nullptr)
      walks.add_by_node(walk, weights);
    else
      walks.add(walk, weight);
  }
  const MirroredMatrix diffusion(diffusions.take());
  visitor({diffusion, normalization == Normalization::kPerHead
                          ? walks.take()
                          : head_walk(diffusion, normalization)});
}

/// The lower or the upper triangle, zero beyond it.
void append_triangle(std::vector<double>& to, ConstMatrixView matrix, bool lower) {
  for (int i = 0; i < matrix.rows; ++i)
    for (int j = 0; j < matrix.cols; ++j)
      to.push_back((lower ? j <= i : j >= i) ? matrix.row(i)[j] : 0.0);
}

/// The minimax fidelity within the first t steps, over the nodes that count, up to the horizon.
/// What a node has of itself in the beginning is no signal.
void append_minimax(std::vector<double>& to, const Matrix& signal, const FidelityOptions& options) {
  const bool all = options.nodes == FidelityNodes::kAll;
  const std::vector<int> nodes = minimax_nodes(options, signal.cols());
  std::vector<double> best(static_cast<std::size_t>(signal.cols()), 0.0);
  double smallest = all ? 0.0 : 1.0;
  for (int t = 0; t < signal.rows(); ++t) {
    if ((t > 0 || !all) && (options.horizon == 0 || t <= options.horizon)) {
      smallest = 1.0;
      for (const int j : nodes) {
        double& so_far = best[static_cast<std::size_t>(j)];
        so_far = std::max(so_far, signal(t, j));
        smallest = std::min(smallest, so_far);
      }
    }
    to.push_back(smallest);
  }
}

/// The worst node's survival, and the mean over the nodes.
void append_survival(std::vector<double>& worst, std::vector<double>& mean,
                     const Matrix& survivals) {
  for (int t = 0; t < survivals.rows(); ++t) {
    const double* row = survivals.row(t);
    double sum = 0.0;
    for (int j = 0; j < survivals.cols(); ++j) sum += row[j];
    worst.push_back(*std::max_element(row, row + survivals.cols()));
    mean.push_back(sum / survivals.cols());
  }
}

/// The powers 0 to `steps` of the n x n matrix that ends `of`.
void append_powers(std::vector<double>& to, const std::vector<double>& of, int n, int steps,
                   const Execution& execution) {
  const auto size = static_cast<std::size_t>(n);
  const std::size_t square = size * size;
  const double* step = of.data() + of.size() - square;
  for (std::size_t i = 0; i < square; ++i) to.push_back(i / size == i % size ? 1.0 : 0.0);
  for (int t = 0; t < steps; ++t) {
    execution.check();
    const std::size_t before = to.size() - square;
    for (std::size_t i = 0; i < square; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < size; ++k)
        sum += to[before + i / size * size + k] * step[k * size + i % size];
      to.push_back(sum);
    }
  }
}

/// Arrays of a system, whose first axis is the heads and all together.
SystemArrays named(HeadSource& heads, const SystemRequest& request) {
  return {request.head_names, request.names_of_nodes(heads.nodes()), {}};
}
NamedArray array_of(HeadSource& heads, const char* name, const char* axes,
                    std::vector<std::int64_t> shape) {
  shape.insert(shape.begin(), heads.heads() + 1);
  return {name, std::string("head ") + axes, std::move(shape), {}, {}};
}

SystemArrays steps_of(HeadSource& heads, const SystemRequest& request, int steps, bool powers,
                      const Execution& execution) {
  const int n = heads.nodes();
  NamedArray walk = array_of(heads, "walk", "from to", {n, n});
  NamedArray diffusion = array_of(heads, "diffusion", "to from", {n, n});
  NamedArray walkers = array_of(heads, "walkers", "step from to", {steps + 1, n, n});
  NamedArray reached = array_of(heads, "reached", "step to from", {steps + 1, n, n});
  visit_series(heads, request, [&](const Series& series) {
    append_triangle(walk.numbers, series.walk.step, false);
    append_triangle(diffusion.numbers, series.diffusion.view(), true);
    if (!powers) return;
    append_powers(walkers.numbers, walk.numbers, n, steps, execution);
    append_powers(reached.numbers, diffusion.numbers, n, steps, execution);
  });
  SystemArrays result = named(heads, request);
  result.arrays = {std::move(walk), std::move(diffusion)};
  if (!powers) return result;
  result.arrays.push_back(std::move(walkers));
  result.arrays.push_back(std::move(reached));
  return result;
}

/// The settings of calls that have none but those of a request.
struct NoSettings {};
template <class Visit>
void visit_settings(NoSettings& /*settings*/, const Visit& /*visit*/) {}

/// The body of a function that computes something of one layer on one sample. `work` has the
/// further settings of the call.
template <class Settings, class Work>
int of_system(sg_attention* attention, int64_t layer, int64_t sample, const char* options,
              const sg_call* call, sg_result** result, const Work& work) {
  return making(result, [&] {
    require(attention, "attention");
    Options given(options);
    const SystemRequest request(*attention, layer, given);
    const auto settings = take_settings<Settings>(given);
    std::optional<sg_result::Report> made;
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      visit_heads(
          *attention, layer, sample,
          [&](HeadSource& heads) { made = work(heads, request, settings, execution); },
          request.edges);
    });
    return new sg_result(std::move(made.value()));
  });
}

}  // namespace

SystemRequest::SystemRequest(const sg_attention& attention, std::int64_t layer, Options& options) {
  SystemSettings settings;
  visit_settings(settings, TakeSettings(options));
  // A graph's heads walk along their own edges.
  const bool graph = !attention.head_names.empty();
  convention = settings.metrics.resolve(settings.metrics.convention.names.front(),
                                        graph ? graph_options : convention_options);
  convention.fidelity.every_node = true;
  convention.backward = settings.backward;
  edges = settings.edges;
  AttentionLayer of = layer_of(attention, layer);
  if (edges.moved()) of.missing_mass = MissingMass::kError;  // its node moves nothing
  place_sources(convention.fidelity, {of});
  const auto or_else = [](const std::vector<std::string>& given,
                          const std::vector<std::string>& own) {
    return given.empty() ? own : given;
  };
  head_names = numbered(or_else(settings.head_names, attention.head_names), of.heads, "head_names");
  node_names = or_else(settings.node_names, attention.token_names);
  weights = settings.weights.empty()
                ? attention.layer_weights(edges)[static_cast<std::size_t>(layer)]
                : normalised_weights(settings.weights, head_names.size());
}

std::vector<std::string> SystemRequest::names_of_nodes(int nodes) const {
  return numbered(node_names, nodes, "node_names");
}

GraphReport SystemRequest::measure(HeadSource& heads, const Execution& execution,
                                   const std::vector<HeadsMetrics>* measured) const {
  GraphReport report{head_names, names_of_nodes(heads.nodes()), convention, weights, HeadsMetrics(),
                     {}};
  report.metrics = std::move(synergraph::measure(heads, weights,
                                                 {.conventions = {convention},
                                                  .nodes = true,
                                                  .execution = execution,
                                                  .measured = measured})
                                 .front());
  return report;
}

SystemArrays curves_of(HeadSource& heads, const SystemRequest& request,
                       const CurveSettings& settings, const Execution& execution) {
  const int n = heads.nodes();
  const int times = settings.steps + 1;
  NamedArray worst = array_of(heads, "survival", "step", {times});
  NamedArray mean = array_of(heads, "mean_survival", "step", {times});
  NamedArray minimax = array_of(heads, "minimax_fidelity", "step", {times});
  NamedArray signals = array_of(heads, "signal", "step node", {times, n});
  visit_series(heads, request, [&](const Series& series) {
    execution.check();
    append_survival(worst.numbers, mean.numbers, survival(series.walk, settings.steps));
    const Matrix signal = signal_curves(series.diffusion.view(), settings.steps, execution);
    append_minimax(minimax.numbers, signal, request.convention.fidelity);
    for (int t = 0; settings.signal && t < times; ++t)
      signals.numbers.insert(signals.numbers.end(), signal.row(t), signal.row(t) + n);
  });
  SystemArrays result = named(heads, request);
  result.arrays = {std::move(worst), std::move(mean), std::move(minimax)};
  if (settings.signal) result.arrays.push_back(std::move(signals));
  return result;
}

}  // namespace synergraph::capi

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT

int sg_system_measure(sg_attention* attention, int64_t layer, int64_t sample, const char* options,
                      const sg_call* call, sg_result** result) {
  return of_system<NoSettings>(
      attention, layer, sample, options, call, result,
      [](HeadSource& heads, const SystemRequest& request, NoSettings, const Execution& execution) {
        return request.measure(heads, execution);
      });
}

int sg_system_curves(sg_attention* attention, int64_t layer, int64_t sample, const char* options,
                     const sg_call* call, sg_result** result) {
  return of_system<CurveSettings>(attention, layer, sample, options, call, result, curves_of);
}

int sg_system_steps(sg_attention* attention, int64_t layer, int64_t sample, const char* options,
                    const sg_call* call, sg_result** result) {
  return of_system<StepSettings>(attention, layer, sample, options, call, result,
                                 [](HeadSource& heads, const SystemRequest& request,
                                    const StepSettings& settings, const Execution& execution) {
                                   return steps_of(heads, request, settings.steps, settings.powers,
                                                   execution);
                                 });
}

int sg_system_matrix(sg_attention* attention, int64_t layer, int64_t sample, int64_t head,
                     const char* options, const sg_call* call, sg_result** result) {
  return of_system<NoSettings>(
      attention, layer, sample, options, call, result,
      [head](HeadSource& heads, const SystemRequest& request, NoSettings, const Execution&) {
        if (head < -1 || head >= heads.heads())
          throw UsageError(
              fmt::format("head {} was asked for, there are 0:{}", head, heads.heads()));
        const int n = heads.nodes();
        SystemArrays arrays = named(heads, request);
        NamedArray matrix{"diffusion", "to from", {n, n}, {}, {}};
        if (head >= 0)
          append_triangle(matrix.numbers, heads.head(static_cast<int>(head)).view(), true);
        else
          append_triangle(matrix.numbers, combine_diffusion(heads, request.weights), true);
        arrays.arrays.push_back(std::move(matrix));
        return arrays;
      });
}
