#include "synergraph/analysis/sparse_graph_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/graph/families.h"
#include "synergraph/graph/generators.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npz.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

/// The edges of a graph with their weights.
std::vector<Edge> edges(const SparseGraph& graph) {
  return graph.dense().edges();
}

SparseGraph of_text(const std::string& text) {
  return read_sparse_graph(memory_bytes("graph.txt", text));
}

std::string refusal(const std::string& text) {
  try {
    of_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// What scipy.sparse.save_npz writes of a matrix.
struct SciPyArrays {
  std::string format = "csr";
  std::vector<std::int64_t> shape = {4, 4};
  std::vector<std::int64_t> indptr = {0, 1, 2, 4, 5};
  std::vector<std::int32_t> indices = {0, 0, 2, 1, 2};
  std::vector<double> data = {1, 1, 1, 1, 1};

  ByteSourcePtr bytes() const {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("sparse_" + std::to_string(getpid()) + ".npz"))
            .string();
    const auto list = [](const auto& values) {
      return Shape{static_cast<std::int64_t>(values.size())};
    };
    const std::vector<TensorData> arrays = {tensor_data("shape", list(shape), shape.data()),
                                            tensor_data("indptr", list(indptr), indptr.data()),
                                            tensor_data("indices", list(indices), indices.data()),
                                            tensor_data("data", list(data), data.data())};
    stream_npz(path, streams_of(arrays), {{"format", format}});
    std::string all = read_file(path);
    std::filesystem::remove(path);
    return memory_bytes("graph.npz", all);
  }
  std::string refusal() const {
    try {
      read_sparse_graph(bytes());
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST(SparseGraphFile, HasRowsOfQueriesAndColumnsOfKeys) {
  // Row 2 has columns 1 and 2: node 2 hears node 1 and itself.
  const std::vector<Edge> expected = {{0, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 2, 1}, {2, 3, 1}};
  const SciPyArrays rows;
  EXPECT_EQ(edges(read_sparse_graph(rows.bytes())), expected);
  // The same matrix by columns.
  const SciPyArrays columns{"csc", {4, 4}, {0, 2, 3, 5, 5}, {0, 1, 2, 2, 3}, {1, 1, 1, 1, 1}};
  EXPECT_EQ(edges(read_sparse_graph(columns.bytes())), expected);
  // Stored zeros are no edges; other weights are kept.
  const SciPyArrays weights{"csr", {4, 4}, {0, 1, 2, 4, 5}, {0, 0, 2, 1, 2}, {1, 2.5, 0, 1, 0}};
  EXPECT_EQ(edges(read_sparse_graph(weights.bytes())),
            (std::vector<Edge>{{0, 0, 1}, {0, 1, 2.5}, {1, 2, 1}}));
  EXPECT_EQ(edges(of_text("# nodes 4\n0 0\n1,2 # a comment\n\n0\t1 2.5\r\n")),
            edges(read_sparse_graph(weights.bytes())));
}

TEST(SparseGraphFile, ComesBackAsItWasWritten) {
  const auto folder = std::filesystem::temp_directory_path();
  for (const char* name : {"sparse_graph_test.npz", "sparse_graph_test.txt"}) {
    const std::string path = (folder / (std::to_string(getpid()) + name)).string();
    for (const SparseGraph& graph :
         {generate_family("fs:2000:8"), generate_family("power:1"),
          SparseGraph(FeedforwardGraph(5, {{0, 3, 0.1}, {1, 3, 1e-300}, {2, 2, 7.0}}, false))}) {
      write_sparse_graph(path, graph);
      const SparseGraph found = read_sparse_graph(path);
      EXPECT_EQ(edges(found), edges(graph)) << name;
      EXPECT_EQ(found.weighted(), graph.weighted());
      EXPECT_EQ(found.nodes(), graph.nodes());
    }
    std::filesystem::remove(path);
  }
}

TEST(SparseGraphFile, SaysWhatIsWrongWithAMatrix) {
  const auto with = [](const auto& change) {
    SciPyArrays arrays;
    change(arrays);
    return arrays.refusal();
  };
  EXPECT_THAT(with([](auto& a) { a.format = "coo"; }),
              HasSubstr("format 'coo', expected csr or csc: convert with matrix.tocsr()"));
  EXPECT_THAT(with([](auto& a) { a.shape = {4, 5}; }), HasSubstr("a matrix of 4 x 5"));
  EXPECT_THAT(with([](auto& a) { a.shape = {1L << 40, 1L << 40}; }), HasSubstr("1 to 1073741824"));
  EXPECT_THAT(with([](auto& a) { a.indptr[2] = 0; }), HasSubstr("indptr[2] is 0"));
  EXPECT_THAT(with([](auto& a) { a.indptr[4] = 1L << 31; }),
              HasSubstr("2147483648 edges of 4 nodes, which have at most 10"));
  EXPECT_THAT(with([](auto& a) { a.indptr[4] = 6; }), HasSubstr("data is float64 of shape (5,)"));
  EXPECT_THAT(with([](auto& a) { a.indptr.pop_back(); }), HasSubstr("expected 5 integers"));
  EXPECT_THAT(with([](auto& a) { a.indices[1] = 4; }), HasSubstr("indices[1] is 4; nodes are 0"));
  EXPECT_THAT(with([](auto& a) { a.indices[1] = -1; }), HasSubstr("indices[1] is -1"));
  EXPECT_THAT(with([](auto& a) { a.indices[1] = 3; }), HasSubstr("edge 3 -> 1 goes backward"));
  EXPECT_THAT(with([](auto& a) { a.indices[2] = 1; }), HasSubstr("edge 1 -> 2 is there twice"));
  EXPECT_THAT(with([](auto& a) { a.data[1] = -2; }), HasSubstr("edge 0 -> 1 has weight -2"));
  const std::string whole = [] {
    const ByteSourcePtr bytes = SciPyArrays().bytes();
    return bytes->read_string(0, bytes->size());
  }();
  // By its name, a file of text is a damaged archive.
  try {
    read_sparse_graph(memory_bytes("text.npz", "0 1\n"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("text.npz"));
    EXPECT_THAT(error.what(), Not(HasSubstr("line 1")));
  }
  for (const std::size_t length : {0UL, 2UL, 100UL, whole.size() / 2, whole.size() - 1})
    EXPECT_THROW(read_sparse_graph(memory_bytes("cut.npz", whole.substr(0, length))), InputError);
}

TEST(SparseGraphFile, SaysWhatIsWrongWithAText) {
  EXPECT_THAT(refusal(""), HasSubstr("no edges"));
  EXPECT_THAT(refusal("0 1\n1 x\n"), HasSubstr("graph.txt: line 2: 'x' is not a node"));
  EXPECT_THAT(refusal("0 1\n1\n"), HasSubstr("line 2: expected \"from to\""));
  EXPECT_THAT(refusal("0 1 2 3\n"), HasSubstr("line 1: expected \"from to\""));
  EXPECT_THAT(refusal("2 1\n"), HasSubstr("edge 2 -> 1 goes backward"));
  EXPECT_THAT(refusal("0 1\n0 1\n"), HasSubstr("edge 0 -> 1 is there twice"));
  EXPECT_THAT(refusal("0 1 nan\n"), HasSubstr("weights must be positive and finite"));
  EXPECT_THAT(refusal("0 -1\n"), HasSubstr("'-1' is not a node"));
  EXPECT_THAT(refusal("0 1073741824\n"), HasSubstr("nodes are whole numbers from 0 to 1073741823"));
  EXPECT_THAT(refusal("# nodes 3\n0 3\n"), HasSubstr("nodes are whole numbers from 0 to 2"));
  EXPECT_THAT(refusal("# nodes many\n0 3\n"), HasSubstr("'many' is not a number of nodes"));
  EXPECT_THAT(refusal(std::string(2000, '0')), HasSubstr("more than 1000 characters"));
  EXPECT_EQ(of_text("# nodes 3").nodes(), 3);
  EXPECT_EQ(of_text("0 1").edge_count(), 1);
}

}  // namespace
}  // namespace synergraph
