#include <gtest/gtest.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/graph/multi_head_graph.h"

namespace synergraph {
namespace {

constexpr const char* kExample = R"(# two heads
nodes u v w tau
head "Head 1" weight 0.5
  u -> v
  v -> w : 2.5   # stronger
  w -> tau
head attention weight 1.5 matrix
  1 0 0 0
  0.5 0.5 0 0
  0.25 0.25 0.5 0
  0 0 0.125 0.875
)";

TEST(GraphText, ReadsHeadsOfBothKinds) {
  const MultiHeadGraph graph = parse_graph_text(kExample, "example");
  EXPECT_EQ(graph.nodes, 4);
  EXPECT_EQ(graph.node_names, (std::vector<std::string>{"u", "v", "w", "tau"}));
  ASSERT_EQ(graph.heads.size(), 2U);
  EXPECT_EQ(graph.heads[0].name, "Head 1");
  EXPECT_EQ(graph.heads[0].weight, 0.5);
  EXPECT_EQ(std::get<FeedforwardGraph>(graph.heads[0].content).edges(),
            (std::vector<Edge>{{0, 0}, {0, 1}, {1, 1}, {1, 2, 2.5}, {2, 2}, {2, 3}, {3, 3}}));
  EXPECT_EQ(std::get<Matrix>(graph.heads[1].content)(3, 2), 0.125);
}

TEST(GraphText, WritesWhatItReads) {
  const std::string once = format_graph_text(parse_graph_text(kExample, "example"));
  EXPECT_EQ(format_graph_text(parse_graph_text(once, "again")), once);
  const std::string numbered =
      format_graph_text(parse_graph_text("nodes 3\nself-loops off\nhead\n0 -> 2\n", "x"));
  EXPECT_EQ(numbered, "nodes 3\nself-loops off\n\nhead \"head 1\" weight 1\n  0 -> 2\n");
  EXPECT_EQ(format_graph_text(parse_graph_text(numbered, "again")), numbered);
}

TEST(GraphText, AByteOrderMarkIsNoWord) {
  std::string marked = "\xEF\xBB\xBF";
  marked += kExample;
  EXPECT_EQ(format_graph_text(parse_graph_text(marked, "x")),
            format_graph_text(parse_graph_text(kExample, "x")));
  EXPECT_THROW(parse_graph_text("\xEF\xBB\xBF\n", "x"), InputError);
}

TEST(GraphText, AQuotedWordIsANameAndNeverAKeyword) {
  const MultiHeadGraph graph = parse_graph_text(R"(nodes "head" "nodes" "a \"b\" \\ \x1b\n" "->" ":"
head "matrix"
  "head" -> "nodes"
  "nodes" -> "->" : 2
head "weight" weight 3
  "->" -> ":"
)",
                                                "x");
  EXPECT_EQ(graph.node_names,
            (std::vector<std::string>{"head", "nodes", "a \"b\" \\ \x1b\n", "->", ":"}));
  ASSERT_EQ(graph.heads.size(), 2U);
  EXPECT_EQ(graph.heads[0].name, "matrix");
  EXPECT_EQ(graph.heads[1].name, "weight");
  EXPECT_EQ(graph.heads[1].weight, 3.0);
  EXPECT_EQ(parse_graph_text("nodes \"3\"\nhead a\n", "x").node_names,
            (std::vector<std::string>{"3"}));
  EXPECT_EQ(parse_graph_text("nodes 3#4\nhead a#b\n", "x").heads[0].name, "a");
  EXPECT_EQ(parse_graph_text("nodes a\"b\nhead c\\n\n", "x").heads[0].name, "c\\n");
}

/// Names made of what the format gives a meaning to, and of bytes that it does not.
std::string hostile_name(RandomSequence& draws) {
  static const std::vector<std::string> kPieces = {"head",
                                                   "nodes",
                                                   "matrix",
                                                   "weight",
                                                   "self-loops",
                                                   "->",
                                                   ":",
                                                   "#",
                                                   "\"",
                                                   "\\",
                                                   "n",
                                                   "x41",
                                                   " ",
                                                   "\t",
                                                   "\n",
                                                   "\r",
                                                   "\v",
                                                   "\f",
                                                   "\x7f",
                                                   "\x1b",
                                                   "on",
                                                   "off",
                                                   "3",
                                                   "0.5",
                                                   "inf",
                                                   "\xc3\xa9",
                                                   "\xff",
                                                   "\xEF\xBB\xBF",
                                                   std::string(1, '\0')};
  std::string name;
  for (std::uint64_t k = 1 + draws.below(3); k > 0; --k)
    name += kPieces[draws.below(kPieces.size())];
  return name;
}

TEST(GraphText, AnyNamesSurvive) {
  for (std::uint32_t round = 0; round < 2000; ++round) {
    RandomSequence draws(11, Purpose::kTest, round);
    MultiHeadGraph graph;
    for (std::uint64_t k = 1 + draws.below(5); k > 0; --k) {
      const std::string name = hostile_name(draws);
      const auto& names = graph.node_names;
      if (std::find(names.begin(), names.end(), name) == names.end())
        graph.node_names.push_back(name);
    }
    const auto n = static_cast<int>(graph.node_names.size());
    graph.nodes = n;
    Matrix identity(n, n);
    for (int i = 0; i < n; ++i) identity(i, i) = 1.0;
    std::vector<Edge> edges = {{0, n - 1, 2.0}};
    graph.heads.push_back({hostile_name(draws), 0.25, FeedforwardGraph(n, edges, false)});
    graph.heads.push_back({round == 0 ? "" : hostile_name(draws), 2.0, identity});

    const std::string text = format_graph_text(graph);
    for (const char c : text) EXPECT_TRUE(c == '\n' || (c != '\x7f' && (c < 0 || c >= ' ')));
    const MultiHeadGraph back = parse_graph_text(text, "text");
    EXPECT_EQ(back.node_names, graph.node_names) << text;
    ASSERT_EQ(back.heads.size(), 2U) << text;
    for (std::size_t h = 0; h < 2; ++h) {
      EXPECT_EQ(back.heads[h].name, graph.heads[h].name) << text;
      EXPECT_EQ(back.heads[h].weight, graph.heads[h].weight) << text;
      EXPECT_EQ(back.heads[h].content.index(), h) << text;
    }
    EXPECT_EQ(std::get<FeedforwardGraph>(back.heads[0].content).edges(), edges) << text;
  }
}

TEST(GraphText, ErrorsNameTheLine) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "f: the file is empty"},
      {" \n\n", "f: the file is empty"},
      {"# only a comment\n", "f:1: there is no 'nodes' line"},
      {"nodes 3\n", "f:1: there is no 'head'"},
      {"head a\n", "f:1: 'nodes' must stand before the first head"},
      {"nodes 0\n", "f:1: a graph has between 1 and 16384 nodes, not 0"},
      {"nodes 1000000000\n", "f:1: a graph has between 1 and 16384 nodes, not 1000000000"},
      {"nodes 99999999999999999999\n", "1 and 16384 nodes, not 99999999999999999999"},
      {"nodes 3\nnodes 3\n", "f:2: 'nodes' is given twice"},
      {"nodes a b a\n", "f:1: two nodes are named 'a'"},
      {"nodes 3\nedge\n", "f:2: expected 'nodes', 'self-loops' or 'head', got 'edge'"},
      {"nodes 3\nself-loops maybe\n", "f:2: expected 'self-loops on' or 'self-loops off'"},
      {"nodes 3\nhead a weight -1\n", "f:2: head weight -1 is not finite and non-negative"},
      {"nodes 3\nhead a weight nan\n", "f:2: head weight nan is not finite"},
      {"nodes 3\nhead a weight x\n", "f:2: weight 'x' is not a number"},
      {"nodes 3\nhead a size 3\n", "f:2: expected 'weight W' or 'matrix', got 'size'"},
      {"nodes 3\nhead \"a\n", "f:2: a quoted name does not end"},
      {"nodes 3\nhead \"a\\\"\n", "f:2: a quoted name does not end"},
      {"nodes 3\nhead \"a\\\n", "f:2: a quoted name has a backslash before none of"},
      {"nodes 3\nhead \"a\\q\"\n", "f:2: a quoted name has a backslash before none of"},
      {"nodes 3\nhead \"\\x4\"\n", "f:2: a quoted name has a backslash before none of"},
      {"nodes 3\nhead \"\\x-4\"\n", "f:2: a quoted name has a backslash before none of"},
      {"nodes \"a\\nb\" \"a\\nb\"\n", "f:1: two nodes are named 'a\\nb'"},
      {"nodes \"\" b\n", "f:1: '' cannot name a node"},
      {"nodes a ->\n", "f:1: '->' cannot name a node"},
      {"nodes 3\n\"head\" a\n", "f:2: expected 'nodes', 'self-loops' or 'head', got 'head'"},
      {"nodes 2\nhead \"\\n\" matrix\n1 0\n.5 .4\n", "head '\\n': row 1 sums to 0.9, expected 1"},
      {"nodes 3\nhead a\n0 1\n", "f:3: expected an edge 'from -> to'"},
      {"nodes 3\nhead a\n1 -> 0\n", "f:3: edge 1 -> 0 goes backward"},
      {"nodes u v\nhead a\nv -> u\n", "f:3: edge v -> u goes backward"},
      {"nodes u v\nhead a\nu -> v : 0\n", "f:3: edge u -> v: weight 0 is not positive"},
      {"nodes u v\nhead a\nu->v\n", "with blanks around -> and :"},
      {"nodes 3\nhead a\n0 -> 3\n", "f:3: node 3 is out of range, nodes are 0 to 2"},
      {"nodes a b\nhead a\na -> c\n", "f:3: there is no node named 'c'"},
      {"nodes 3\nhead a\n0 -> 1 : 0\n", "f:3: edge 0 -> 1: weight 0 is not positive"},
      {"nodes 3\nhead a\n0 -> 1 : inf\n", "weight inf is not positive and finite"},
      {"nodes 3\nhead a\n0 -> 1\n\n0 -> 1\n", "f:5: edge 0 -> 1 is given twice"},
      {"nodes 2\nhead a matrix\n1 0\n", "f:3: head 'a' has 1 rows, expected 2"},
      {"nodes 2\nhead a matrix\n1 0 0\n", "f:3: head 'a': row 0 has 3 numbers, expected 2"},
      {"nodes 2\nhead a matrix\n1 0\n.5 .5\n1 0\n", "f:5: head 'a': more than 2 rows"},
      {"nodes 2\nhead a matrix\n1 0\n0.5 0.6\n\nhead b\n",
       "f:4: head 'a': row 1 sums to 1.1, expected 1"},
      {"nodes 2\nhead a matrix\n0 1\n0.5 0.5\n",
       "f:3: head 'a': entry 1 in row 0, column 1 is above the diagonal"},
      {"nodes 2\nhead a matrix\n1 0\nnan 0.5\n", "entry nan in row 1, column 0 is not finite"},
  };
  for (const auto& [text, message] : cases) {
    try {
      parse_graph_text(text, "f");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << text << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST(GraphText, SurvivesEveryTruncation) {
  const std::string text = kExample;
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      EXPECT_LE(parse_graph_text(text.substr(0, length), "f").heads.size(), 2U);
    } catch (const InputError&) {
    }
  }
}

TEST(Dot, ShowsEveryForwardEdgeAndEscapesNames) {
  MultiHeadGraph graph = worked_example(1);
  graph.heads[0].name = "say \"hi\"";
  const std::string dot = format_dot(graph);
  EXPECT_NE(dot.find("label=\"say \\\"hi\\\" (weight 1; every node also has a self-loop)\""),
            std::string::npos);
  EXPECT_NE(dot.find("h0_0 -> h0_1;"), std::string::npos);
  EXPECT_NE(dot.find("h1_1 -> h1_2;"), std::string::npos);
  EXPECT_EQ(dot.find("h0_0 -> h0_0"), std::string::npos);
}

TEST(Dot, ShowsSelfLoopsThatAreNotTheDefault) {
  const auto dot = [](const std::string& text) { return format_dot(parse_graph_text(text, "f")); };
  const std::string few = dot("nodes 2\nself-loops off\nhead a\n0 -> 0\n0 -> 1\n");
  EXPECT_NE(few.find("h0_0 -> h0_0;"), std::string::npos) << few;
  EXPECT_EQ(few.find("h0_1 -> h0_1"), std::string::npos) << few;
  EXPECT_NE(few.find("label=\"a (weight 1)\""), std::string::npos) << few;
  const std::string heavy = dot("nodes 2\nhead a\n0 -> 0 : 2\n0 -> 1\n");
  EXPECT_NE(heavy.find("h0_0 -> h0_0 [label=\"2\"];"), std::string::npos) << heavy;
  EXPECT_NE(heavy.find("h0_1 -> h0_1;"), std::string::npos) << heavy;
  const std::string matrix = dot("nodes 2\nhead a matrix\n1 0\n0.75 0.25\n");
  EXPECT_NE(matrix.find("h0_1 -> h0_1 [label=\"0.25\"];"), std::string::npos) << matrix;
}

}  // namespace
}  // namespace synergraph
