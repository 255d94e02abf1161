#include "synergraph/study/layer_metrics.h"

#include <algorithm>
#include <optional>

#include "synergraph/core/convex_sum.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/triangular.h"
#include "synergraph/heads/cross_head.h"

namespace synergraph {
namespace {

// The powers of slow walks, of all samples that are measured at the same time.
constexpr double kPowersBytes = 640 << 20;

/// D = sum_h w_h D_h, as combine_diffusion() has it, mirrored.
Matrix combine(SampleHeads& heads, const std::vector<double>& weights) {
  const int n = heads.tokens();
  ConvexSum sum(n, n, ConvexSum::Part::kLower);
  for (int h = 0; h < heads.heads(); ++h)
    sum.add(heads.head(h), weights[static_cast<std::size_t>(h)]);
  Matrix combined = sum.take();
  transpose_lower(combined, combined.view());
  return combined;
}

void set_walk(SampleMetrics& metrics, const Walk& walk, const WalkOptions& options) {
  metrics.forward_probability = forward_probability(walk);
  const WalkSummary summary = summarise_walk(walk, options);
  metrics.truncated_mean = summary.truncated.mean;
  metrics.truncated_max = summary.truncated.max;
  metrics.hitting_mean = summary.hitting.mean;
  metrics.hitting_max = summary.hitting.max;
  metrics.mixing = summary.mixing;
}

void set_fidelity(SampleMetrics& metrics, const Fidelity& result) {
  metrics.fidelity = result.minimax;
  metrics.fidelity_upper = result.minimax_upper;
  metrics.fidelity_time = result.minimax_time;
  metrics.fidelity_node = result.minimax_node;
}

/// Measures one sample; see measure_sample().
class Measurement {
 public:
  Measurement(SampleHeads& heads, const std::vector<double>& weights,
              const LayerMetricsOptions& options)
      : heads_(heads), weights_(weights), options_(options), result_(options.conventions.size()) {
    const int at_once =
        std::min(default_thread_count(), problems_in_memory(heads.heads(), heads.tokens()));
    for (MetricsOptions convention : options.conventions) {
      convention.walk.threads = options.threads;
      convention.walk.memory = kPowersBytes / at_once;
      convention.fidelity.threads = options.threads;
      convention.fidelity.memory = kPowersBytes / at_once;
      convention.fidelity.minimax_alone = true;
      fidelities_.push_back(convention.fidelity);
      conventions_.push_back(std::move(convention));
    }
    for (LayerSample& sample : result_)
      sample.heads.resize(static_cast<std::size_t>(heads.heads()));
  }

  std::vector<LayerSample> run();

 private:
  bool walks() const { return conventions_.front().per_head_walks; }
  /// One head alone is pooled and per head at once.
  bool is_pooled(const MetricsOptions& convention) const {
    return convention.normalization == Normalization::kPooled ||
           (heads_.heads() == 1 && convention.normalization == Normalization::kPerHead);
  }
  bool any(Normalization normalization) const {
    return std::any_of(conventions_.begin(), conventions_.end(),
                       [&](const MetricsOptions& c) { return c.normalization == normalization; });
  }
  void measure_combined();
  void measure_side_by_side(const Matrix& mirrored, bool with_walks,
                            const std::vector<SampleMetrics*>& into);
  void measure_head(int h);
  void measure_head_walk(const Walk& walk, const std::vector<SampleMetrics*>& into);
  double mixing(const Walk& walk) const;
  void measure_per_head_walk();
  void measure_only_head();
  void finish(std::size_t c);

  SampleHeads& heads_;
  const std::vector<double>& weights_;
  const LayerMetricsOptions& options_;
  std::vector<MetricsOptions> conventions_;
  std::vector<FidelityOptions> fidelities_;  // of every convention
  std::vector<LayerSample> result_;
  std::vector<CrossHeadShare> shares_;  // of every convention's combined minimax signal
  std::optional<WalkSum> per_head_;     // of the heads' walks
  double fastest_ = std::numeric_limits<double>::infinity();  // T_mix of the fastest head
};

/// Fidelities and published walks, side by side. Other walks come alone, as a slow one is squared
/// on all threads and in much memory; a published one never is, since it cannot leave node 0.
void Measurement::measure_side_by_side(const Matrix& mirrored, bool with_walks,
                                       const std::vector<SampleMetrics*>& into) {
  parallel_for(1 + conventions_.size(), options_.threads, [&](std::size_t task, int) {
    if (task == 0) {
      const std::vector<Fidelity> results = fidelities(mirrored, fidelities_);
      for (std::size_t c = 0; c < results.size(); ++c) set_fidelity(*into[c], results[c]);
    } else if (with_walks && conventions_[task - 1].normalization == Normalization::kPublished) {
      set_walk(*into[task - 1], published_walk_of_columns(mirrored), conventions_[task - 1].walk);
    }
  });
}

void Measurement::measure_combined() {
  const Matrix mirrored = combine(heads_, weights_);
  std::vector<SampleMetrics*> into;
  for (LayerSample& sample : result_) into.push_back(&sample.combined);
  measure_side_by_side(mirrored, true, into);
  for (const SampleMetrics* combined : into)
    shares_.emplace_back(weights_, combined->fidelity_node, combined->fidelity_time,
                         combined->fidelity);
  const bool pooled = std::any_of(conventions_.begin(), conventions_.end(),
                                  [&](const MetricsOptions& c) { return is_pooled(c); });
  if (!pooled) return;
  const Walk walk = walk_of_columns(mirrored);
  for (std::size_t c = 0; c < conventions_.size(); ++c)
    if (is_pooled(conventions_[c])) set_walk(*into[c], walk, conventions_[c].walk);
}

/// A single head is the combination itself: nothing is measured twice.
void Measurement::measure_only_head() {
  measure_combined();
  const LayerSample* pooled = nullptr;
  for (std::size_t c = 0; c < conventions_.size(); ++c) {
    LayerSample& sample = result_[c];
    SampleMetrics& head = sample.heads.front();
    head = sample.combined;
    if (is_pooled(conventions_[c])) pooled = &sample;
    if (walks()) continue;
    head = SampleMetrics();
    head.fidelity = sample.combined.fidelity;
    head.fidelity_upper = sample.combined.fidelity_upper;
    head.fidelity_time = sample.combined.fidelity_time;
    head.fidelity_node = sample.combined.fidelity_node;
  }
  if (!walks() || conventions_.front().walk.eps.empty()) return;
  const double time =
      pooled != nullptr ? pooled->combined.mixing.front() : mixing(walk_of_columns(heads_.head(0)));
  for (LayerSample& sample : result_) sample.mixing_synergy = ratio(time, time);
}

void Measurement::measure_head(int h) {
  const auto at = static_cast<std::size_t>(h);
  const Matrix& mirrored = heads_.head(h);
  std::vector<SampleMetrics*> into;
  for (LayerSample& sample : result_) into.push_back(&sample.heads[at]);
  measure_side_by_side(mirrored, walks(), into);
  for (CrossHeadShare& share : shares_) share.add(h, mirrored);
  if (!walks() && !any(Normalization::kPerHead)) return;
  const Walk walk = walk_of_columns(mirrored);  // pooled and per head are the same for one head
  if (!per_head_) per_head_.emplace(heads_.tokens());
  per_head_->add(walk, weights_[at]);
  if (walks()) measure_head_walk(walk, into);
}

/// The walk of one head under all conventions but the published one, and its mixing time.
void Measurement::measure_head_walk(const Walk& walk, const std::vector<SampleMetrics*>& into) {
  const SampleMetrics* measured = nullptr;
  for (std::size_t c = 0; c < conventions_.size(); ++c) {
    if (conventions_[c].normalization == Normalization::kPublished) continue;
    set_walk(*into[c], walk, conventions_[c].walk);
    if (measured == nullptr) measured = into[c];
  }
  if (conventions_.front().walk.eps.empty()) return;
  fastest_ = std::min(fastest_, measured != nullptr ? measured->mixing.front() : mixing(walk));
}

/// T_mix for the first eps.
double Measurement::mixing(const Walk& walk) const {
  WalkOptions options = conventions_.front().walk;
  options.eps.resize(1);
  options.cutoff = 0;
  return summarise_walk(walk, options).mixing.front();
}

/// What needs the convex sum of the heads' walks.
void Measurement::measure_per_head_walk() {
  if (!per_head_) return;
  const Walk walk = per_head_->take();
  for (std::size_t c = 0; c < conventions_.size(); ++c)
    if (conventions_[c].normalization == Normalization::kPerHead)
      set_walk(result_[c].combined, walk, conventions_[c].walk);
  if (!walks() || conventions_.front().walk.eps.empty()) return;
  const double synergy = ratio(fastest_, mixing(walk));
  for (LayerSample& sample : result_) sample.mixing_synergy = synergy;
}

void Measurement::finish(std::size_t c) {
  LayerSample& sample = result_[c];
  std::vector<double> forward;
  std::vector<FidelityRange> ranges;
  for (const SampleMetrics& head : sample.heads) {
    forward.push_back(head.forward_probability);
    ranges.push_back({head.fidelity, head.fidelity_upper});
  }
  if (walks())
    sample.effective_forward_probability = combined_forward_probability(forward, weights_);
  const SampleMetrics& combined = sample.combined;
  sample.synergy = compare_with_best(ranges, {combined.fidelity, combined.fidelity_upper});
  sample.cross_head_share =
      shares_[c].share([&](int h) -> const Matrix& { return heads_.head(h); });
}

std::vector<LayerSample> Measurement::run() {
  if (heads_.heads() == 1) {
    measure_only_head();
    options_.head_done();
  } else {
    measure_combined();
    for (int h = 0; h < heads_.heads(); ++h) {
      measure_head(h);
      options_.head_done();
    }
    measure_per_head_walk();
  }
  for (std::size_t c = 0; c < conventions_.size(); ++c) finish(c);
  return std::move(result_);
}

}  // namespace

std::vector<LayerSample> measure_sample(SampleHeads& heads, const std::vector<double>& weights,
                                        const LayerMetricsOptions& options) {
  return Measurement(heads, weights, options).run();
}

}  // namespace synergraph
