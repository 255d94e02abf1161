// Every quantity against an independent reference: graphs.json and softmax.json in
// tests/data/vectors.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "synergraph/heads/measure.h"
#include "synergraph/io/tensor_file.h"

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

/// The heads of a [H, n, n] attention file, as they are: the reference does not renormalise the
/// rows.
std::vector<Head> load_attention(const std::string& name) {
  const TensorFile file = TensorFile::open(std::string(SYNERGRAPH_TEST_DATA) + "/vectors/" + name);
  const Tensor& tensor = file.tensors().front();
  const auto nodes = static_cast<int>(tensor.shape()[1]);
  const std::vector<double> values = tensor.values<double>();
  std::vector<Head> heads;
  for (std::int64_t h = 0; h < tensor.shape()[0]; ++h) {
    Matrix attention(nodes, nodes);
    for (int i = 0; i < nodes; ++i)
      for (int j = 0; j < nodes; ++j)
        attention(i, j) = values[static_cast<std::size_t>((h * nodes + i) * nodes + j)];
    heads.push_back(head_of_attention("", std::move(attention)));
  }
  return heads;
}

TEST(Vectors, Softmax) {
  const json stacks = load_json("softmax.json");
  ASSERT_EQ(stacks.size(), 4U);
  for (const json& entry : stacks) {
    const std::string name = entry["file"].get<std::string>();
    const std::vector<Head> heads = load_attention(name);
    const auto weights =
        normalised_weights(entry["weights"].get<std::vector<double>>(), heads.size());
    const json& expected = entry["metrics"];
    const auto compare = [&](double actual, const char* key) {
      expect_close(actual, expected[key].get<double>(), name + " " + key);
    };
    const auto truncated = [&](Normalization normalization) {
      return truncated_hitting_times(combine_walk(heads, weights, normalization), 100);
    };
    compare(truncated(Normalization::kPublished).mean, "mixing_published_mean");
    compare(truncated(Normalization::kPublished).max, "mixing_published_max");
    compare(truncated(Normalization::kPooled).mean, "mixing_pooled_mean");
    compare(truncated(Normalization::kPooled).max, "mixing_pooled_max");
    compare(truncated(Normalization::kPerHead).mean, "mixing_per-head_mean");
    compare(truncated(Normalization::kPerHead).max, "mixing_per-head_max");
    const Walk pooled = combine_walk(heads, weights, Normalization::kPooled);
    compare(hitting_times(pooled).mean, "hitting_pooled_mean");
    for (const auto& [eps, time] : entry["mixing_time_pooled"].items())
      EXPECT_EQ(mixing_time(pooled, std::stod(eps)), number(time)) << name;
    const Walk per_head = combine_walk(heads, weights, Normalization::kPerHead);
    for (const auto& [eps, time] : entry["mixing_time_per_head"].items())
      EXPECT_EQ(mixing_time(per_head, std::stod(eps)), number(time)) << name;

    // The reference looks 100 steps ahead for all fidelities.
    MetricsOptions published = convention_options(Convention::kPublished);
    MetricsOptions sources = published;
    sources.fidelity.nodes = FidelityNodes::kSources;
    const HeadsMetrics as_published = measure_heads(heads, weights, published);
    const HeadsMetrics over_sources = measure_heads(heads, weights, sources);
    compare(as_published.combined.fidelity.minimax, "fidelity_published");
    compare(over_sources.combined.fidelity.minimax, "fidelity_sources");
    compare(as_published.synergy.best_head_fidelity, "best_head_published");
    compare(over_sources.synergy.best_head_fidelity, "best_head_sources");
    expect_close(over_sources.combined.fidelity.node, entry["node_fidelity"],
                 name + " node fidelity");
    std::vector<double> alone;
    for (const Metrics& head : over_sources.heads) alone.push_back(head.fidelity.minimax);
    expect_close(alone, entry["heads_minimax_sources"], name + " heads");
    for (std::size_t j = 1; j < static_cast<std::size_t>(heads.front().diffusion.rows()) - 1; ++j)
      EXPECT_EQ(over_sources.combined.fidelity.optimal_time[j],
                entry["optimal_time"][j].get<double>())
          << name << j;
  }
}

}  // namespace
}  // namespace synergraph
