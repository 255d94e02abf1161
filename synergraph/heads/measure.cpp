#include "synergraph/heads/measure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/special_values.h"
#include "synergraph/diffusion/minimax_nodes.h"
#include "synergraph/heads/cross_head_share.h"
#include "synergraph/heads/measure_streamed.h"

namespace synergraph {
namespace {

FidelityRange range_of(const Metrics& metrics) {
  return {metrics.fidelity.minimax, metrics.fidelity.minimax_upper};
}

/// Numbers of a system but for those of its walks.
void copy_without_walks(const Metrics& from, Metrics& into) {
  into = from;
  into.forward_probability = kNan;
  into.bound = {};
  into.walk = {};
  into.backward_mixing.clear();
}

/// Measures one system; see measure().
class Measurement {
 public:
  Measurement(HeadSource& heads, const std::vector<double>& weights, const MeasureOptions& options)
      : heads_(heads),
        weights_(weights),
        by_row_(weights_by_row(heads.row_shares(), weights)),
        options_(options),
        result_(options.conventions.size()) {
    for (const MetricsOptions& convention : options.conventions) {
      fidelities_.push_back(convention.fidelity);
      if (!options.nodes) fidelities_.back().minimax_alone = true;
    }
    for (HeadsMetrics& system : result_)
      system.heads.resize(static_cast<std::size_t>(heads.heads()));
  }

  std::vector<HeadsMetrics> run();

 private:
  const std::vector<MetricsOptions>& conventions() const { return options_.conventions; }
  bool walks() const { return conventions().front().per_head_walks; }
  bool any(Normalization normalization) const {
    return std::any_of(conventions().begin(), conventions().end(),
                       [&](const MetricsOptions& c) { return c.normalization == normalization; });
  }
  void set_walk(Metrics& metrics, const Walk& walk, WalkOptions options) const;
  void set_walks(const std::vector<Metrics*>& into, Normalization normalization,
                 const Walk& walk) const;
  void measure_side_by_side(const MirroredMatrix& diffusion, bool with_walks,
                            const std::vector<Metrics*>& into);
  void measure_backward(const MirroredMatrix& diffusion, bool with_walks,
                        const std::vector<Metrics*>& into) const;
  void measure_combined();
  void measure_head(int h);
  void measure_only_head();
  void measure_per_head_walk();
  double mixing(const Walk& walk, const std::vector<Metrics*>& measured,
                Normalization normalization) const;
  void set_mixing_synergy(double fastest, double combined);
  double effective_forward_probability(const std::vector<double>& forward) const;
  void finish(std::size_t c);

  HeadSource& heads_;
  const std::vector<double>& weights_;
  const Matrix by_row_;  // the weights where they depend on the row, otherwise empty
  const MeasureOptions& options_;
  std::vector<FidelityOptions> fidelities_;  // of every convention
  std::vector<HeadsMetrics> result_;
  std::vector<CrossHeadShare> shares_;  // of every convention's combined minimax signal
  std::optional<WalkSum> per_head_;     // of the heads' walks
  double fastest_ = std::numeric_limits<double>::infinity();  // T_mix of the fastest head
};

void Measurement::set_walk(Metrics& metrics, const Walk& walk, WalkOptions options) const {
  options.averaged = conventions().front().backward;
  metrics.forward_probability = forward_probability(walk);
  metrics.bound = mixing_bound(walk.nodes(), metrics.forward_probability);
  metrics.walk = summarise_walk(walk, options, options_.execution);
  if (options_.nodes) return;
  metrics.walk.hitting.node = {};
  metrics.walk.truncated.node = {};
}

/// The walk under every convention of this normalisation.
void Measurement::set_walks(const std::vector<Metrics*>& into, Normalization normalization,
                            const Walk& walk) const {
  for (std::size_t c = 0; c < conventions().size(); ++c)
    if (conventions()[c].normalization == normalization)
      set_walk(*into[c], walk, conventions()[c].walk);
}

/// Fidelities and published walks, side by side. Other walks come alone, as a slow one is squared
/// on all threads and in much memory; a published one is squared for T_avg at most, since it cannot
/// leave node 0.
void Measurement::measure_side_by_side(const MirroredMatrix& diffusion, bool with_walks,
                                       const std::vector<Metrics*>& into) {
  const int together = conventions().front().backward ? 1 : options_.execution.threads;
  parallel_for(1 + conventions().size(), together, [&](std::size_t task, int) {
    if (task == 0) {
      std::vector<Fidelity> results = fidelities(diffusion, fidelities_, options_.execution);
      for (std::size_t c = 0; c < results.size(); ++c) {
        if (!options_.nodes) results[c].node = results[c].node_upper = results[c].optimal_time = {};
        into[c]->fidelity = std::move(results[c]);
      }
    } else if (with_walks && conventions()[task - 1].normalization == Normalization::kPublished) {
      set_walk(*into[task - 1], published_walk_of_columns(diffusion), conventions()[task - 1].walk);
    }
  });
  if (conventions().front().backward) measure_backward(diffusion, with_walks, into);
}

/// The way back, and how close the fidelity comes to its bound. T_bwd goes with the walks.
void Measurement::measure_backward(const MirroredMatrix& diffusion, bool with_walks,
                                   const std::vector<Metrics*>& into) const {
  const Walk back = backward_walk(diffusion.view());
  const double from_sink = hitting_times(back).node.front();
  for (std::size_t c = 0; c < into.size(); ++c) {
    Metrics& metrics = *into[c];
    metrics.backward_hitting_time = from_sink;
    const std::vector<int> counted = minimax_nodes(fidelities_[c], heads_.nodes());
    compare_with_bound(metrics, heads_.nodes(), static_cast<int>(counted.size()));
    const std::vector<double>& eps = conventions()[c].walk.eps;
    if (!with_walks) continue;
    metrics.backward_mixing = c > 0 && eps == conventions().front().walk.eps
                                  ? into.front()->backward_mixing
                                  : mixing_times(back, eps, options_.execution);
  }
}

void Measurement::measure_combined() {
  const MirroredMatrix diffusion(combine_diffusion(heads_, weights_));
  std::vector<Metrics*> into;
  for (HeadsMetrics& system : result_) into.push_back(&system.combined);
  measure_side_by_side(diffusion, true, into);
  for (const Metrics* combined : into)
    shares_.emplace_back(weights_, by_row_, combined->fidelity.minimax_node,
                         combined->fidelity.minimax_time, combined->fidelity.minimax,
                         options_.execution);
  if (any(Normalization::kPooled))
    set_walks(into, Normalization::kPooled, walk_of_columns(diffusion));
}

void Measurement::measure_head(int h) {
  const auto at = static_cast<std::size_t>(h);
  const MirroredMatrix& diffusion = heads_.head(h);
  std::vector<Metrics*> into;
  for (HeadsMetrics& system : result_) into.push_back(&system.heads[at]);
  const bool known = options_.measured != nullptr;
  for (std::size_t c = 0; known && c < into.size(); ++c)
    *into[c] = (*options_.measured)[c].heads[at];
  if (!known) measure_side_by_side(diffusion, walks(), into);
  for (CrossHeadShare& share : shares_) share.add(h, diffusion);
  if (!walks() && !any(Normalization::kPerHead)) return;

  const Walk* own = heads_.own_walk(h);
  std::optional<Walk> columns;  // pooled; per head, too, unless the head has a walk of its own
  if (own == nullptr || (walks() && any(Normalization::kPooled)))
    columns = walk_of_columns(diffusion);
  const Walk& walk = own != nullptr ? *own : *columns;
  if (!per_head_) per_head_.emplace(heads_.nodes());
  if (by_row_.rows() > 0)
    per_head_->add_by_node(walk, by_row_.row(h));
  else
    per_head_->add(walk, weights_[at]);
  if (!walks()) return;
  if (columns && !known) set_walks(into, Normalization::kPooled, *columns);
  if (!known) set_walks(into, Normalization::kPerHead, walk);
  const bool same = own == nullptr && !any(Normalization::kPerHead);
  fastest_ = std::min(fastest_,
                      mixing(walk, into, same ? Normalization::kPooled : Normalization::kPerHead));
}

/// A single head is the combination itself: nothing is measured twice.
void Measurement::measure_only_head() {
  std::vector<Metrics*> into;
  for (HeadsMetrics& system : result_) into.push_back(&system.combined);
  const Walk* own = heads_.own_walk(0);
  std::optional<Walk> columns;
  const auto walk = [&]() -> const Walk& {
    if (own != nullptr) return *own;
    if (!columns) columns = walk_of_columns(heads_.head(0));
    return *columns;
  };
  if (any(Normalization::kPerHead)) set_walks(into, Normalization::kPerHead, walk());
  for (HeadsMetrics& system : result_) {
    if (walks())
      system.heads.front() = system.combined;
    else
      copy_without_walks(system.combined, system.heads.front());
  }
  if (!walks()) return;
  const bool pooled = own == nullptr && any(Normalization::kPooled);
  const double time = pooled ? mixing({}, into, Normalization::kPooled)
                             : mixing(walk(), into, Normalization::kPerHead);
  set_mixing_synergy(time, time);
}

/// T_mix for the first eps of a walk that was measured under the conventions of a normalisation, if
/// there are any.
double Measurement::mixing(const Walk& walk, const std::vector<Metrics*>& measured,
                           Normalization normalization) const {
  for (std::size_t c = 0; c < conventions().size(); ++c)
    if (conventions()[c].normalization == normalization) return measured[c]->walk.mixing.front();
  WalkOptions options = conventions().front().walk;
  options.eps.resize(1);
  options.cutoff = 0;
  return summarise_walk(walk, options, options_.execution).mixing.front();
}

/// What needs the convex sum of the heads' walks.
void Measurement::measure_per_head_walk() {
  if (!per_head_) return;
  const Walk walk = per_head_->take();
  std::vector<Metrics*> into;
  for (HeadsMetrics& system : result_) into.push_back(&system.combined);
  set_walks(into, Normalization::kPerHead, walk);
  if (walks()) set_mixing_synergy(fastest_, mixing(walk, into, Normalization::kPerHead));
}

void Measurement::set_mixing_synergy(double fastest, double combined) {
  for (HeadsMetrics& system : result_) system.mixing_synergy = ratio(fastest, combined);
}

/// Weights that depend on the node: of the node where they give the least.
double Measurement::effective_forward_probability(const std::vector<double>& forward) const {
  if (by_row_.rows() == 0) return combined_forward_probability(forward, weights_);
  double least = std::numeric_limits<double>::infinity();
  std::vector<double> weights(forward.size());
  for (int node = 0; node < std::max(1, heads_.nodes() - 1); ++node) {
    for (int h = 0; h < heads_.heads(); ++h)
      weights[static_cast<std::size_t>(h)] = by_row_(h, node);
    least = std::min(least, combined_forward_probability(forward, weights));
  }
  return least;
}

void Measurement::finish(std::size_t c) {
  HeadsMetrics& system = result_[c];
  std::vector<FidelityRange> ranges;
  for (const Metrics& head : system.heads) ranges.push_back(range_of(head));
  system.synergy = compare_with_best(ranges, range_of(system.combined));
  system.cross_head_share =
      shares_[c].share([&](int h) -> const MirroredMatrix& { return heads_.head(h); });
  system.moved_shares = mean_over_rows(by_row_);
  if (!walks()) return;
  std::vector<double> forward;
  for (const Metrics& head : system.heads) forward.push_back(head.forward_probability);
  system.effective_forward_probability = effective_forward_probability(forward);
  system.effective_bound = mixing_bound(heads_.nodes(), system.effective_forward_probability);
  system.adaptive = adaptive_bound(heads_.nodes(), forward);
}

std::vector<HeadsMetrics> Measurement::run() {
  measure_combined();
  if (heads_.heads() == 1) {
    measure_only_head();
    options_.head_done();
  } else {
    for (int h = 0; h < heads_.heads(); ++h) {
      measure_head(h);
      options_.head_done();
    }
    measure_per_head_walk();
  }
  for (std::size_t c = 0; c < conventions().size(); ++c) finish(c);
  return std::move(result_);
}

}  // namespace

AllowedKeys HeadSource::allowed_keys() {
  AllowedKeys keys(nodes());
  for (int h = 0; h < heads() && !keys.all(); ++h) keys.add(head(h).view());
  return keys;
}

Matrix combine_diffusion(HeadSource& heads, std::span<const double> weights) {
  return convex_sum_of_lower(
      heads.nodes(), weights, [&](int h) { return heads.head(h).view(); },
      weights_by_row(heads.row_shares(), weights));
}

std::vector<HeadsMetrics> measure(HeadSource& heads, const std::vector<double>& weights,
                                  const MeasureOptions& options) {
  check_conventions(options.conventions);
  if (heads.heads() < 1 || heads.nodes() < 1)
    throw InputError(
        fmt::format("{} heads of {} nodes: nothing to measure", heads.heads(), heads.nodes()));
  if (options.measured != nullptr &&
      (options.measured->size() != options.conventions.size() ||
       options.measured->front().heads.size() != static_cast<std::size_t>(heads.heads())))
    throw InputError("what was measured before is of other heads or conventions");
  const std::vector<double> convex =
      convex_weights(weights, static_cast<std::size_t>(heads.heads()));
#if !defined(__wasm__)  // a page has all its heads in memory
  if (HeadRows* rows = heads.rows()) return measure_streamed(*rows, convex, options);
#endif
  return Measurement(heads, convex, options).run();
}

HeadList::HeadList(const std::vector<Head>& heads) : list_(heads) {
  if (heads.empty()) throw InputError("no heads to measure");
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const Matrix& diffusion = heads[h].diffusion;
    const int nodes = heads.front().diffusion.rows();
    if (diffusion.rows() != nodes || diffusion.cols() != nodes)
      throw InputError(fmt::format("head {} is a {} x {} matrix, expected {} x {}", h,
                                   diffusion.rows(), diffusion.cols(), nodes, nodes));
  }
}

const MirroredMatrix& HeadList::head(int h) {
  if (held_ != h) mirrored_ = MirroredMatrix(list_[static_cast<std::size_t>(h)].diffusion);
  held_ = h;
  return mirrored_;
}

const Walk* HeadList::own_walk(int h) {
  const auto& walk = list_[static_cast<std::size_t>(h)].graph_walk;
  return walk ? &*walk : nullptr;
}

HeadsMetrics measure_heads(const std::vector<Head>& heads, const std::vector<double>& weights,
                           const MetricsOptions& options, const Execution& execution) {
  HeadList source(heads);
  return std::move(
      measure(source, weights, {.conventions = {options}, .nodes = true, .execution = execution})
          .front());
}

}  // namespace synergraph
