#include "synergraph/report/graph_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "synergraph/heads/measure.h"
#include "tests/support/documents.h"

namespace synergraph {
namespace {

GraphReport example(int number) {
  const MultiHeadGraph graph = worked_example(number);
  const std::vector<Head> heads = heads_of_graph(graph);
  GraphReport report;
  report.node_names = graph.node_names;
  for (const Head& head : heads) report.head_names.push_back(head.name);
  report.options.normalization = Normalization::kPerHead;
  report.weights = {0.5, 0.5};
  report.metrics = measure_heads(heads, report.weights, report.options);
  return report;
}

TEST(GraphReport, TextIsTheTableOfTheFirstExample) {
  EXPECT_EQ(format_report(example(1)),
            "          weight     p  bound  hit cut 100  hit mean  hit max  T_mix(0.2"
            "5)  fidelity  node  at step\n"
            "────────────────────────────────────────────────────────────────────────"
            "───────────────────────────\n"
            "Head 1       0.5     0   none        66.67     never    never        nev"
            "er         0     u        1\n"
            "Head 2       0.5     0   none           34     never    never        nev"
            "er         0     u        1\n"
            "combined       1  0.25     16            4         4        8           "
            "10    0.4219     v        3\n"
            "\n"
            "best head         Head 1 (minimax fidelity 0)\n"
            "fidelity synergy  inf (present: together above the best head)\n"
            "mixing synergy    inf (fastest head alone over all together, per-head walk, eps "
            "0.25)\n"
            "cross-head share  0.7407 of the weakest signal changes head on its way\n"
            "paper's bound     none: every head holds some node forever (p = 0)\n"
            "measured with     per-head walk, fidelity as a fraction over sources, horizon "
            "certified, hitting "
            "times cut at 100\n");
}

TEST(GraphReport, JsonHasNoInfinities) {
  const auto json = testing_support::parsed_document(json_report(example(1)));
  EXPECT_TRUE(json["heads"][0]["hitting_time"]["mean"].is_null());
  EXPECT_TRUE(json["effective_bound"]["steps"].is_null());
  EXPECT_EQ(json["combined"]["hitting_time"]["node"], (std::vector<double>{8, 4, 0}));
}

TEST(GraphReport, CsvHasACellForEveryColumn) {
  const Table table = csv_table(example(2));
  ASSERT_EQ(table.rows.size(), 3U);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.header.size());
  EXPECT_EQ(table.rows[2][0], "combined");
}

}  // namespace
}  // namespace synergraph
