#include "synergraph/heads/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/cross_head.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::random_attention_system;
using testing_support::random_graph_system;
using testing_support::System;

/// Equal, but for the rounding of sums in another order.
void expect_same(double a, double b, const char* what, double tolerance = 1e-13) {
  if (std::isnan(b))
    EXPECT_TRUE(std::isnan(a)) << what << ": " << a;
  else if (std::isinf(b))
    EXPECT_EQ(a, b) << what;
  else
    EXPECT_NEAR(a, b, tolerance * std::abs(b)) << what;
}

void expect_walk(const Metrics& metrics, const Walk& walk, const WalkOptions& options) {
  const WalkSummary expected = summarise_walk(walk, options);
  expect_same(metrics.forward_probability, forward_probability(walk), "p");
  expect_same(metrics.bound.steps, mixing_bound(walk.nodes(), forward_probability(walk)).steps,
              "bound");
  expect_same(metrics.walk.truncated.mean, expected.truncated.mean, "truncated mean");
  expect_same(metrics.walk.truncated.max, expected.truncated.max, "truncated max");
  expect_same(metrics.walk.hitting.mean, expected.hitting.mean, "hitting mean");
  expect_same(metrics.walk.hitting.max, expected.hitting.max, "hitting max");
  EXPECT_EQ(metrics.walk.mixing, expected.mixing);
}

void expect_fidelity(const Metrics& metrics, const Matrix& diffusion,
                     const FidelityOptions& options) {
  const Fidelity expected = fidelity(diffusion, options);
  expect_same(metrics.fidelity.minimax, expected.minimax, "minimax");
  expect_same(metrics.fidelity.minimax_upper, expected.minimax_upper, "upper");
  expect_same(metrics.fidelity.minimax_time, expected.minimax_time, "time");
  EXPECT_EQ(metrics.fidelity.minimax_node, expected.minimax_node);
}

/// min_h T_mix(h) / T_mix(combined) with the per-head normalisation.
double mixing_synergy(const System& system, double eps) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const Head& head : system.heads)
    fastest = std::min(fastest, mixing_time(head_walk(head, Normalization::kPerHead), eps));
  return ratio(
      fastest,
      mixing_time(combine_walk(system.heads, system.weights, Normalization::kPerHead), eps));
}

/// Heads that are made when they are asked for, and gone with the next one.
class OneAtATime : public HeadSource {
 public:
  explicit OneAtATime(const System& system) : system_(system) {}
  int heads() const override { return static_cast<int>(system_.heads.size()); }
  int nodes() const override { return system_.heads.front().diffusion.rows(); }
  const MirroredMatrix& head(int h) override {
    matrix_ = MirroredMatrix(system_.heads[static_cast<std::size_t>(h)].diffusion);
    return matrix_;
  }
  const Walk* own_walk(int h) override {
    const auto& walk = system_.heads[static_cast<std::size_t>(h)].graph_walk;
    return walk ? &*walk : nullptr;
  }

 private:
  const System& system_;
  MirroredMatrix matrix_;
};

// Every number is what its definition gives from the heads one by one and their combination, by any
// set of conventions at once, for attention and for graphs.
TEST(Measure, GivesWhatTheDefinitionsGive) {
  std::vector<MetricsOptions> conventions = {convention_options(Convention::kExact),
                                             convention_options(Convention::kPublished),
                                             convention_options(Convention::kExact)};
  conventions.back().normalization = Normalization::kPerHead;
  for (MetricsOptions& convention : conventions) convention.walk.eps = {0.25, 0.01};
  for (std::uint32_t index = 0; index < 80; ++index) {
    const System system =
        index % 2 == 0 ? random_attention_system(index) : random_graph_system(index);
    const Matrix combined = combine_diffusion(system.heads, system.weights);
    for (const bool per_head : {true, false}) {
      std::vector<MetricsOptions> chosen = conventions;
      if (index % 4 == 1) chosen.erase(chosen.begin() + index % 3);
      for (MetricsOptions& convention : chosen) convention.per_head_walks = per_head;
      OneAtATime heads(system);
      const std::vector<HeadsMetrics> all =
          measure(heads, system.weights, {.conventions = chosen, .execution = {.threads = 2}});
      ASSERT_EQ(all.size(), chosen.size());
      for (std::size_t c = 0; c < chosen.size(); ++c) {
        SCOPED_TRACE(testing::Message() << "system " << index << ", convention " << c);
        const HeadsMetrics& metrics = all[c];
        const Normalization normalization = chosen[c].normalization;
        expect_fidelity(metrics.combined, combined, chosen[c].fidelity);
        expect_walk(metrics.combined, combine_walk(system.heads, system.weights, normalization),
                    chosen[c].walk);
        EXPECT_TRUE(metrics.combined.fidelity.node.empty());
        std::vector<double> forward;
        std::vector<FidelityRange> ranges;
        for (std::size_t h = 0; h < system.heads.size(); ++h) {
          const Metrics& head = metrics.heads[h];
          expect_fidelity(head, system.heads[h].diffusion, chosen[c].fidelity);
          ranges.push_back({head.fidelity.minimax, head.fidelity.minimax_upper});
          if (per_head) {
            const Walk walk = head_walk(system.heads[h], normalization);
            expect_walk(head, walk, chosen[c].walk);
            forward.push_back(forward_probability(walk));
          } else {
            EXPECT_TRUE(std::isnan(head.forward_probability));
          }
        }
        const Synergy synergy = compare_with_best(
            ranges, {metrics.combined.fidelity.minimax, metrics.combined.fidelity.minimax_upper});
        EXPECT_EQ(metrics.synergy.best_head, synergy.best_head);
        expect_same(metrics.synergy.value, synergy.value, "synergy");
        if (per_head) {
          expect_same(metrics.mixing_synergy, mixing_synergy(system, 0.25), "mixing synergy");
          expect_same(metrics.effective_forward_probability,
                      combined_forward_probability(forward, system.weights), "effective p");
          EXPECT_EQ(metrics.adaptive.steps, adaptive_bound(combined.rows(), forward).steps);
        } else {
          EXPECT_TRUE(std::isnan(metrics.mixing_synergy));
        }
        const Fidelity& minimax = metrics.combined.fidelity;
        if (std::isfinite(minimax.minimax_time)) {
          const auto steps = static_cast<std::int64_t>(minimax.minimax_time);
          expect_same(metrics.cross_head_share,
                      testing_support::cross_head(system.heads, system.weights, steps)
                          .share(minimax.minimax_node),
                      "share", 1e-11);
        }
      }
    }
  }
}

TEST(Measure, KeepsTheNodesWhereTheyAreWanted) {
  const System system = random_attention_system(4);
  const HeadsMetrics metrics =
      measure_heads(system.heads, system.weights, convention_options(Convention::kPublished));
  const auto nodes = static_cast<std::size_t>(system.heads.front().diffusion.rows());
  EXPECT_EQ(metrics.combined.fidelity.node.size(), nodes);
  EXPECT_EQ(metrics.combined.fidelity.node, metrics.combined.fidelity.node_upper);
  EXPECT_EQ(metrics.heads.front().walk.hitting.node.size(), nodes);
}

TEST(Measure, TakesHeadsAsTheyWereMeasuredBefore) {
  for (const System& system : {random_attention_system(9), random_graph_system(6)}) {
    HeadList heads(system.heads);
    MeasureOptions options{.conventions = {convention_options(Convention::kExact),
                                           convention_options(Convention::kPublished),
                                           graph_options(Convention::kExact)},
                           .nodes = true};
    for (MetricsOptions& convention : options.conventions) convention.per_head_walks = true;
    const std::vector<double> equal(system.heads.size(), 1.0);
    const std::vector<HeadsMetrics> before = measure(heads, equal, options);
    const std::vector<HeadsMetrics> expected = measure(heads, system.weights, options);
    options.measured = &before;
    const std::vector<HeadsMetrics> metrics = measure(heads, system.weights, options);
    for (std::size_t c = 0; c < metrics.size(); ++c) {
      EXPECT_EQ(metrics[c].combined.walk.mixing, expected[c].combined.walk.mixing);
      EXPECT_EQ(metrics[c].combined.walk.hitting.node, expected[c].combined.walk.hitting.node);
      EXPECT_EQ(metrics[c].combined.fidelity.node, expected[c].combined.fidelity.node);
      EXPECT_EQ(metrics[c].synergy.value, expected[c].synergy.value);
      // Not a number where neither the heads nor all together ever arrive.
      EXPECT_EQ(std::isnan(metrics[c].mixing_synergy), std::isnan(expected[c].mixing_synergy));
      if (!std::isnan(expected[c].mixing_synergy)) {
        EXPECT_EQ(metrics[c].mixing_synergy, expected[c].mixing_synergy);
      }
      EXPECT_EQ(metrics[c].cross_head_share, expected[c].cross_head_share);
      EXPECT_EQ(metrics[c].effective_forward_probability,
                expected[c].effective_forward_probability);
      for (std::size_t h = 0; h < system.heads.size(); ++h)
        EXPECT_EQ(metrics[c].heads[h].walk.mixing, expected[c].heads[h].walk.mixing);
    }
    options.conventions.pop_back();
    EXPECT_THROW(measure(heads, system.weights, options), InputError);
  }
}

TEST(Measure, AHeadOfWeightOneLeavesNothingToOthers) {
  System system = random_attention_system(7);
  system.weights.assign(system.heads.size(), 0.0);
  system.weights.front() = 1.0;
  const HeadsMetrics metrics =
      measure_heads(system.heads, system.weights, convention_options(Convention::kExact));
  EXPECT_EQ(metrics.cross_head_share, 0.0);
  EXPECT_EQ(metrics.combined.fidelity.node, metrics.heads.front().fidelity.node);
}

// Weights need not sum to one; nothing that follows from them may differ but by rounding.
TEST(Measure, NormalisesTheWeights) {
  const System system = random_attention_system(11);
  std::vector<double> raw = system.weights;
  for (double& weight : raw) weight *= 4.0;
  const MetricsOptions options = convention_options(Convention::kExact);
  const HeadsMetrics a = measure_heads(system.heads, system.weights, options);
  const HeadsMetrics b = measure_heads(system.heads, raw, options);
  EXPECT_NEAR(a.effective_forward_probability, b.effective_forward_probability, 1e-14);
  EXPECT_NEAR(a.cross_head_share, b.cross_head_share, 1e-11);
  EXPECT_LE(b.effective_forward_probability, 1.0);
}

TEST(Measure, RefusesWhatCannotBeMeasured) {
  const System system = random_attention_system(11);
  const MetricsOptions options = convention_options(Convention::kExact);
  EXPECT_THROW(measure_heads({}, {}, options), InputError);
  std::vector<double> more = system.weights;
  more.push_back(0.5);
  EXPECT_THROW(measure_heads(system.heads, more, options), InputError);
  std::vector<Head> uneven = system.heads;
  uneven.push_back({"", Matrix(2, 3), {}});
  EXPECT_THROW(measure_heads(uneven, more, options), InputError);
  MetricsOptions other = options;
  other.walk.eps = {0.5};  // the mixing synergy has one eps
  class Heads : public HeadSource {
   public:
    int heads() const override { return 1; }
    int nodes() const override { return 1; }
    const MirroredMatrix& head(int) override { return one_; }

   private:
    MirroredMatrix one_{Matrix(1, 1)};
  } one;
  EXPECT_THROW(measure(one, {1.0}, {.conventions = {options, other}}), InputError);
  for (const double eps : {0.0, -1.0, 2.0}) {
    other.walk.eps = {eps};
    EXPECT_THROW(measure(one, {1.0}, {.conventions = {other}}), InputError) << eps;
  }
  EXPECT_THROW(measure(one, {1.0}, {}), InputError);
  EXPECT_THROW(fidelity(Matrix()), InputError);
  EXPECT_THROW(walk_of_attention(Matrix(2, 3)), InputError);
}

// A worked example in the library is the program's.
TEST(Measure, GraphsWalkByTheirEdges) {
  const auto heads = heads_of_graph(worked_example(1));
  const HeadsMetrics metrics = measure_heads(heads, {1, 1}, graph_options(Convention::kExact));
  EXPECT_EQ(metrics.combined.walk.mixing.front(), 10.0);
}

}  // namespace
}  // namespace synergraph
