// Every quantity against an independent reference: tests/data/vectors/graphs.json.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "synergraph/heads/synergy.h"

namespace synergraph {
namespace {

using nlohmann::json;

json load_json(const std::string& name) {
  std::ifstream file(std::string(SYNERGRAPH_TEST_DATA) + "/vectors/" + name);
  EXPECT_TRUE(file.good()) << name;
  return json::parse(file);
}

/// Numbers with null for "never".
double number(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

void expect_close(double actual, double expected, const std::string& what) {
  if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
  } else {
    EXPECT_NEAR(actual, expected, 1e-12 * std::abs(expected)) << what;
  }
}

void expect_close(const std::vector<double>& actual, const json& expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (std::size_t k = 0; k < actual.size(); ++k)
    expect_close(actual[k], number(expected[k]), what + " " + std::to_string(k));
}

void expect_close(const Matrix& actual, const json& expected, const std::string& what) {
  for (int i = 0; i < actual.rows(); ++i)
    expect_close(std::vector<double>(actual.row(i), actual.row(i) + actual.cols()),
                 expected[static_cast<std::size_t>(i)], what);
}

void check(const Walk& walk, const Matrix& diffusion, int horizon, const json& expected,
           const std::string& name) {
  expect_close(walk.step, expected["walk"], name + " walk");
  expect_close(diffusion, expected["diffusion"], name + " diffusion");
  const Matrix curves = signal_curves(diffusion, 10);
  for (int t = 1; t <= 10; ++t)
    expect_close(std::vector<double>(curves.row(t), curves.row(t) + curves.cols()),
                 expected["signal_t1_to_t10"][static_cast<std::size_t>(t - 1)], name + " signal");
  expect_close(hitting_times(walk).node, expected["mean_hitting_time"], name + " hitting");
  expect_close(truncated_hitting_times(walk, 100).node, expected["truncated_hitting_100"],
               name + " truncated");
  for (const auto& [eps, time] : expected["mixing_time"].items())
    EXPECT_EQ(mixing_time(walk, std::stod(eps)), number(time)) << name << " eps " << eps;
  expect_close(forward_probability(walk), expected["forward_probability"].get<double>(),
               name + " forward");

  const Fidelity sources = fidelity(diffusion, {.horizon = horizon});
  const Fidelity all = fidelity(diffusion, {.nodes = FidelityNodes::kAll, .horizon = horizon});
  expect_close(sources.node, expected["node_fidelity"], name + " fidelity");
  expect_close(sources.minimax, expected["minimax_fidelity_sources"].get<double>(),
               name + " minimax");
  expect_close(all.minimax, expected["minimax_fidelity_all_nodes"].get<double>(),
               name + " minimax all");
  // The optimal time is the first maximum. Signals that tie on paper, or creep up to their limit,
  // tie to rounding: then ours is the first that is within rounding of the maximum, never later
  // than theirs.
  const Matrix signal = signal_curves(diffusion, horizon);
  for (std::size_t j = 0; j < sources.node.size(); ++j) {
    const auto time = static_cast<int>(sources.optimal_time[j]);
    EXPECT_LE(time, expected["optimal_time"][j].get<int>()) << name << " node " << j;
    EXPECT_NEAR(signal(time, static_cast<int>(j)), sources.node[j], 2e-14 * sources.node[j])
        << name;
    for (int t = 1; t < time; ++t)
      EXPECT_LT(signal(t, static_cast<int>(j)), sources.node[j]) << name;
  }
}

TEST(Vectors, Graphs) {
  const json graphs = load_json("graphs.json");
  ASSERT_EQ(graphs.size(), 7U);
  for (const json& entry : graphs) {
    const int nodes = entry["n"].get<int>();
    std::vector<GraphHead> parts;
    for (const json& edges : entry["edges"]) {
      std::vector<Edge> list;
      for (const json& edge : edges) list.push_back({edge[0].get<int>(), edge[1].get<int>()});
      parts.push_back({"", 1.0, FeedforwardGraph(nodes, std::move(list))});
    }
    const std::string name = entry["name"].get<std::string>();
    const int horizon = entry["horizon"].get<int>();
    const std::vector<Head> heads = heads_of_graph(multi_head_graph(std::move(parts)));
    const auto weights =
        normalised_weights(entry["weights"].get<std::vector<double>>(), heads.size());
    for (std::size_t h = 0; h < heads.size(); ++h)
      check(head_walk(heads[h], Normalization::kPerHead), heads[h].diffusion, horizon,
            entry["heads"][h], name + " head " + std::to_string(h));
    check(combine_walk(heads, weights, Normalization::kPerHead), combine_diffusion(heads, weights),
          horizon, entry["multi"], name);
  }
}

}  // namespace
}  // namespace synergraph
