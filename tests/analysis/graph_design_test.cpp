#include "synergraph/analysis/graph_design.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "synergraph/analysis/design_chain.h"
#include "synergraph/analysis/design_score.h"
#include "synergraph/analysis/design_start.h"
#include "synergraph/analysis/design_state.h"
#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/graph/layered_design.h"
#include "synergraph/heads/measure.h"
#include "synergraph/heads/synergy.h"
#include "synergraph/io/atomic_file.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

/// Random heads; every node has an edge to the next one in some head.
DesignEdges random_heads(int nodes, int heads, std::uint64_t seed) {
  RandomSequence random(seed, Purpose::kTest);
  const auto more = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(3 * nodes)));
  return random_edges(nodes, heads, std::int64_t{heads} * nodes + nodes - 1 + more, seed);
}

/// The heads as matrices: the numbers of the command graph.
HeadsMetrics measured_densely(const DesignEdges& edges) {
  std::vector<GraphHead> heads;
  for (int h = 0; h < edges.heads(); ++h)
    heads.push_back({std::to_string(h), 1.0, edges.graph(h).dense()});
  return measure_heads(heads_of_graph(multi_head_graph(std::move(heads))),
                       std::vector<double>(static_cast<std::size_t>(edges.heads()), 1.0),
                       graph_options(Convention::kExact));
}

DesignSettings small_search(int size, int heads) {
  DesignSettings settings;
  settings.size = size;
  settings.heads = heads;
  settings.indegree = "3";
  settings.averaged_mixing = 3 * size;
  settings.starts = {"layers", "power", "random"};
  settings.steps = 700;
  return settings;
}

TEST(DesignScore, AgreesWithMatrices) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const DesignEdges edges =
        random_heads(3 + static_cast<int>(seed % 20), 1 + static_cast<int>(seed % 4), seed);
    DesignLimits limits;
    limits.averaged_mixing = 500;
    limits.mixing = 500;
    DesignScore score(edges, limits, 2048);
    score.start();
    const HeadsMetrics dense = measured_densely(edges);
    EXPECT_NEAR(score.minimax(), dense.combined.fidelity.minimax, 1e-12) << seed;
    const Fidelity& fidelity = dense.combined.fidelity;  // of other nodes than the weakest, bounds
    for (std::size_t j = 0; j + 1 < fidelity.node.size(); ++j) {
      EXPECT_GE(score.fidelity(static_cast<int>(j)), fidelity.node[j] - 1e-12);
      EXPECT_LE(score.fidelity(static_cast<int>(j)), fidelity.node_upper[j] + 1e-12);
    }
    const FamilyGraph numbers = measure_design(edges, 0.25);
    EXPECT_NEAR(numbers.minimax_fidelity, dense.combined.fidelity.minimax, 1e-12);
    EXPECT_EQ(numbers.averaged_mixing_time, static_cast<double>(score.averaged_mixing_time()));
    EXPECT_EQ(numbers.mixing_time, dense.combined.walk.mixing.front());
    EXPECT_NEAR(numbers.hitting_mean, dense.combined.walk.hitting.mean, 1e-9);
  }
}

// What a change leaves alone is not computed again; that must not show in a single bit.
TEST(DesignScore, ChangesGiveTheBitsOfAFreshStart) {
  for (const int heads : {1, 3}) {
    DesignEdges edges = random_heads(24, heads, 5);
    DesignLimits limits;
    limits.averaged_mixing = 60;
    DesignScore score(edges, limits, 256);
    score.start(128);
    RandomSequence random(7, Purpose::kTest);
    for (int move = 0; move < 400; ++move) {
      const auto h = static_cast<int>(random.below(static_cast<std::uint64_t>(heads)));
      const auto to = 1 + static_cast<int>(random.below(23));
      const auto from = static_cast<int>(random.below(static_cast<std::uint64_t>(to)));
      const bool had = edges.has(h, from, to);
      const auto change = [&](bool add) {
        add ? edges.add(h, from, to) : edges.remove(h, from, to);
      };
      const double before = score.badness();
      change(!had);
      score.touch(h, from, to);
      const double most = move % 3 == 0 ? before * 1.5 : std::numeric_limits<double>::infinity();
      if (score.update(most) && move % 2 == 0) {
        score.accept();
      } else {
        change(had);
        score.reject();
        EXPECT_EQ(score.badness(), before);
      }
      DesignScore fresh(edges, limits, 256);
      fresh.start(128);
      ASSERT_EQ(score.badness(), fresh.badness()) << move;
      ASSERT_EQ(score.minimax(), fresh.minimax()) << move;
      ASSERT_EQ(score.weakest(), fresh.weakest()) << move;
      ASSERT_EQ(score.averaged_mixing_time(), fresh.averaged_mixing_time()) << move;
    }
  }
}

/// The best of all designs within the limits, each measured on its own.
double best_of_all(int nodes, int heads, std::int64_t most_edges, std::int64_t averaged) {
  std::vector<std::array<int, 3>> places;
  for (int h = 0; h < heads; ++h)
    for (int i = 1; i < nodes; ++i)
      for (int j = 0; j < i; ++j) places.push_back({h, j, i});
  double best = -1.0;
  for (std::uint64_t set = 0; set < std::uint64_t{1} << places.size(); ++set) {
    DesignEdges edges(nodes, heads);
    for (std::size_t k = 0; k < places.size(); ++k)
      if ((set >> k & 1U) != 0) edges.add(places[k][0], places[k][1], places[k][2]);
    if (edges.count() > most_edges) continue;
    const FamilyGraph numbers = measure_design(edges, 0.25);
    if (numbers.averaged_mixing_time <= static_cast<double>(averaged))
      best = std::max(best, numbers.minimax_fidelity);
  }
  return best;
}

TEST(SearchDesigns, FindsTheBestOfAllSmallDesigns) {
  struct Case {
    int nodes, heads;
    std::int64_t edges, averaged;
  };
  for (const Case& c : {Case{2, 1, 3, 5}, Case{3, 1, 6, 6}, Case{4, 1, 10, 20}, Case{4, 1, 7, 4},
                        Case{5, 1, 15, 20}, Case{5, 1, 11, 5}, Case{6, 1, 14, 9}, Case{3, 2, 10, 8},
                        Case{4, 2, 14, 8}}) {
    DesignSettings settings;
    settings.size = c.nodes;
    settings.heads = c.heads;
    settings.edges = c.edges;
    settings.averaged_mixing = c.averaged;
    settings.steps = 6000;
    settings.starts = {"layers", "random", "random"};
    const DesignOutcome outcome = search_designs(settings);
    EXPECT_NEAR(outcome.designs.front().numbers.minimax_fidelity,
                best_of_all(c.nodes, c.heads, c.edges, c.averaged), 1e-12)
        << c.nodes << " nodes, " << c.heads << " heads, " << c.edges << " edges";
  }
}

TEST(SearchDesigns, KeepsLimitsAndCertifiesByMatrices) {
  for (const int heads : {1, 2, 5}) {
    DesignSettings settings = small_search(20, heads);
    settings.edges = 20 * heads + 60;
    settings.averaged_mixing = 12;
    settings.mixing = 40;
    settings.levels = 2;
    const DesignOutcome outcome = search_designs(settings);
    EXPECT_EQ(outcome.searches, 12);
    EXPECT_TRUE(outcome.finished);
    bool any_front = false;
    for (const FoundDesign& design : outcome.designs) {
      EXPECT_TRUE(design.certified) << design.start;
      EXPECT_LE(design.edges.count(), design.edge_limit);
      EXPECT_EQ(design.numbers.edges, design.edges.count());
      EXPECT_LE(design.numbers.averaged_mixing_time, static_cast<double>(design.averaged_limit));
      EXPECT_LE(design.numbers.mixing_time, 40.0);
      EXPECT_NEAR(design.numbers.minimax_fidelity,
                  measured_densely(design.edges).combined.fidelity.minimax, 1e-12);
      EXPECT_LE(design.numbers.minimax_fidelity, design.numbers.fidelity_bound * (1 + 1e-12));
      any_front = any_front || design.in_front;
      for (const FoundDesign& other : outcome.designs)
        EXPECT_FALSE(design.in_front && other.numbers.edges <= design.numbers.edges &&
                     other.numbers.averaged_mixing_time <= design.numbers.averaged_mixing_time &&
                     other.numbers.minimax_fidelity > design.numbers.minimax_fidelity);
    }
    EXPECT_TRUE(any_front);
  }
}

TEST(SearchDesigns, ResultsDoNotDependOnThreads) {
  const DesignSettings settings = small_search(40, 2);
  Execution one;
  one.threads = 1;
  Execution three;
  three.threads = 3;
  const DesignOutcome a = search_designs(settings, one);
  const DesignOutcome b = search_designs(settings, three);
  ASSERT_EQ(a.designs.size(), b.designs.size());
  for (std::size_t k = 0; k < a.designs.size(); ++k)
    EXPECT_EQ(a.designs[k].edges, b.designs[k].edges);
}

class DesignState : public InTemporaryDirectory {};

TEST_F(DesignState, InterruptedSearchesGoOnBitForBit) {
  DesignSettings whole = small_search(40, 2);
  whole.steps = 3000;
  whole.state = path("whole");
  search_designs(whole);
  DesignSettings parts = whole;
  parts.state = path("parts");
  for (const std::int64_t steps : {1, 137, 1024, 1300}) {
    parts.steps = steps;
    EXPECT_EQ(search_designs(parts).steps, steps);
  }
  parts.steps = 3000;
  Execution stopping;  // a stop request in the middle, too
  std::atomic<int> asked = 0;
  stopping.stop = [&] { return ++asked > 2; };
  const DesignOutcome stopped = search_designs(parts, stopping);
  EXPECT_LT(stopped.steps, 3000);
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(search_designs(parts).steps, 3000);
  EXPECT_EQ(read_file(path("parts")), read_file(path("whole")));
}

TEST_F(DesignState, RefusesOtherAndDamagedFiles) {
  DesignSettings settings = small_search(12, 1);
  settings.steps = 50;
  settings.state = path("state");
  search_designs(settings);
  const auto refusal = [&] {
    try {
      search_designs(settings);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(refusal(), "none");
  settings.seed = 2;
  EXPECT_THAT(refusal(), HasSubstr("with other settings"));
  settings.seed = 1;
  std::string bytes = read_file(settings.state);
  for (const std::size_t place : {std::size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
    std::string wrong = bytes;
    wrong[place] = static_cast<char>(wrong[place] ^ 1);
    write_file(settings.state, wrong);
    EXPECT_THAT(refusal(), HasSubstr("damaged; remove it"));
  }
  write_file(settings.state, bytes.substr(0, bytes.size() - 3));
  EXPECT_THAT(refusal(), HasSubstr("damaged; remove it"));
}

TEST(DesignStateBytes, AreReadBackOrRefused) {
  std::vector<ChainState> chains;
  for (const std::uint64_t seed : {1U, 2U}) chains.emplace_back(random_edges(5, 2, 20, seed));
  const std::string bytes = design_state_bytes(chains);
  EXPECT_EQ(design_state_bytes(parse_design_state(bytes, 2, 5, 2, 20)), bytes);
  EXPECT_THROW(parse_design_state(bytes, 2, 5, 2, 19), InputError);
  EXPECT_THROW(parse_design_state(bytes, 3, 5, 2, 20), InputError);
  RandomSequence random(3, Purpose::kTest);
  int refused = 0;
  for (int k = 0; k < 3000; ++k) {
    std::string wrong = bytes;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes)
      wrong[random.below(wrong.size())] = static_cast<char>(random.below(256));
    if (random.below(4) == 0) wrong.resize(random.below(wrong.size()));
    try {
      EXPECT_EQ(design_state_bytes(parse_design_state(wrong, 2, 5, 2, 20)), wrong);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(SearchDesigns, RefusesWhatNoDesignCanMeet) {
  const auto refusal = [](const auto& change) {
    DesignSettings settings = small_search(12, 2);
    change(settings);
    try {
      search_designs(settings);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_THAT(refusal([](DesignSettings& s) { s.edges = 34; }), HasSubstr("needs at least 35"));
  EXPECT_THAT(refusal([](DesignSettings& s) { s.edges = 157; }),
              HasSubstr("have at most 156 in 2 heads"));
  EXPECT_THAT(refusal([](DesignSettings& s) { s.indegree = "12"; }),
              HasSubstr("12 nodes have at most 11"));
  EXPECT_THAT(refusal([](DesignSettings& s) { s.indegree = "many"; }),
              HasSubstr("is not a whole number"));
  EXPECT_THAT(refusal([](DesignSettings& s) { s.starts = {"ring"}; }), HasSubstr("neither layers"));
  EXPECT_THAT(refusal([](DesignSettings& s) { s.starts = {}; }), HasSubstr("at least one"));
  EXPECT_THAT(refusal([](DesignSettings& s) { s.averaged_mixing = 1; }),
              HasSubstr("no design within"));
}

TEST(SearchDesigns, HasTheSmallestGraphs) {
  for (const int size : {1, 2, 3}) {
    DesignSettings settings;
    settings.size = size;
    settings.steps = 100;
    const DesignOutcome outcome = search_designs(settings);
    EXPECT_TRUE(outcome.designs.front().certified) << size;
  }
}

// A layer of m nodes that the sink hears with c collectors has fidelity 1 / (m + c + 1).
TEST(LayeredEdges, HasTheClosedFormOfTwoLayers) {
  LayeredShape shape;
  shape.sizes = {6, 5};
  shape.movers = {1, 1};
  shape.indegree = 6;
  shape.collectors = 2;
  shape.links = 2;
  shape.linked_layers = 1;
  shape.linked_heads = 1;
  const DesignEdges edges = layered_edges(shape, 1);
  EXPECT_EQ(edges.nodes(), 14);
  EXPECT_EQ(edges.count(), count_edges(shape, 1));
  EXPECT_EQ(edges.count(), 14 + 6 * 5 + 5 + 6 * 2 + 2);
  const FamilyGraph numbers = measure_design(edges, 0.25);
  // All mass ends in the first layer, by symmetry evenly; the others are heard by the sink alone.
  EXPECT_NEAR(numbers.minimax_fidelity, 1.0 / 8.0, 1e-15);
}

TEST(BestLayers, BeatFsGraphsAtTheirLimits) {
  double best = 0.0;
  std::int64_t edges = std::numeric_limits<std::int64_t>::max();
  double time = 1e9;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const FamilyGraph fs = measure_family_graph(family_graph("fs:4log", 64, seed), {});
    best = std::max(best, fs.minimax_fidelity);
    edges = std::min(edges, fs.edges);
    time = std::min(time, fs.averaged_mixing_time);
  }
  const FamilyGraph original = measure_family_graph(family_graph("fs-original", 64, 1), {});
  DesignLimits limits;
  limits.edges = std::min(edges, original.edges);
  limits.averaged_mixing = static_cast<std::int64_t>(std::min(time, original.averaged_mixing_time));
  const FamilyGraph found = measure_design(best_layers(64, 1, limits, {}), 0.25);
  EXPECT_LE(found.edges, limits.edges);
  EXPECT_LE(found.averaged_mixing_time, static_cast<double>(limits.averaged_mixing));
  EXPECT_GT(found.minimax_fidelity, std::max(best, original.minimax_fidelity));
}

}  // namespace
}  // namespace synergraph
