#include <gtest/gtest.h>

#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using OutputPath = testing_support::ProgramTest;

const std::string kGraph = "graph --generate chain:4 ";

TEST_F(OutputPath, OfStandardOutputGoesWhereThatGoes) {
  const std::string table = run(kGraph).out;
  ASSERT_EQ(run(kGraph + "--dot graph.dot").status, 0);
  const std::string dot = read("graph.dot");
  ASSERT_NE(dot.find("digraph"), std::string::npos);
  for (const char* where : {"/dev/stdout", "/dev/stdout | cat", "/dev/fd/1"}) {
    const auto outcome = run(kGraph + "--dot " + where);
    EXPECT_EQ(outcome.status, 0) << where << outcome.err;
    // Neither takes the place of the other.
    std::string rest = outcome.out;
    const std::size_t begin = rest.find(dot);
    ASSERT_NE(begin, std::string::npos) << where << outcome.out;
    EXPECT_EQ(rest.erase(begin, dot.size()), table) << where;
  }
}

TEST_F(OutputPath, OfMinusIsStandardOutputInsteadOfTheTable) {
  for (const std::string option : {"--dot ", "--text ", "--curves ", "--page "}) {
    ASSERT_EQ(run(kGraph + option + "file").status, 0);
    const auto outcome = run(kGraph + option + "-");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, read("file")) << option;
    EXPECT_FALSE(exists("-")) << option;
    expect_refusal(kGraph + option + "- --json", 2, "only one output can go to standard output");
    expect_refusal(kGraph + option + "- --csv", 2, "only one output can go to standard output");
  }
  expect_refusal(kGraph + "--dot - --text -", 2, "only one output can go to standard output");
  // The graph that was written is read as it is.
  EXPECT_EQ(run(kGraph + "--text - | '" SYNERGRAPH_CLI "' graph - --text -").out,
            run(kGraph + "--text -").out);
  expect_refusal(kGraph + "--figure -", 2, "-: ");
}

TEST_F(OutputPath, ThatIsALinkKeepsTheLink) {
  write("real.dot", "old");
  std::filesystem::create_symlink("real.dot", path("link.dot"));
  EXPECT_EQ(run(kGraph + "--dot link.dot").status, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.dot")));
  EXPECT_NE(read("real.dot").find("digraph"), std::string::npos);
}

TEST_F(OutputPath, ThatIsEmptyIsRefused) {
  for (const std::string option : {"--curves", "--figure", "--dot", "--text", "--page"})
    for (const char* empty : {" ''", "="}) expect_refusal(kGraph + option + empty, 2, option);
  for (const std::string option : {"--per-sample", "--figure", "--json"})
    expect_refusal("analyze attention.npy " + option + " ''", 2, option + ": the value is empty");
  expect_refusal("verify --checkpoints . --json ''", 2, "--json: the value is empty");
}

TEST_F(OutputPath, ThatIsAnInputOrAnotherOutputIsRefused) {
  const std::string text = "nodes 3\nhead a\n0 -> 1\n";
  write("g.txt", text);
  std::filesystem::create_directories(path("folder"));
  std::filesystem::create_symlink("g.txt", path("link"));
  std::filesystem::create_symlink("new.csv", path("to-come"));
  for (const std::string again : {"g.txt", "./g.txt", "folder/../g.txt", "link"}) {
    const std::string message = "--curves: '" + again + "' would overwrite FILE, which is read";
    expect_refusal("graph g.txt --curves " + again, 2, message);
    expect_refusal("graph - <g.txt --curves " + again, 2, message);
  }
  expect_refusal(kGraph + "--curves new.csv --text new.csv", 2,
                 "'new.csv' is the file of --curves");
  expect_refusal(kGraph + "--curves new.csv --dot ./new.csv", 2, "--dot: './new.csv' is the file");
  expect_refusal(kGraph + "--curves to-come --dot new.csv", 2, "--dot: 'new.csv' is the file");
  expect_refusal("analyze g.txt --figure a.svg --json a.svg", 2, "is the file of --figure");
  expect_refusal("analyze x --tokens g.txt --json g.txt", 2, "would overwrite --tokens");
  write("4_heads_copy.pt", "a model");
  expect_refusal("verify --checkpoints . --json 4_heads_copy.pt", 2, "overwrite a checkpoint");
  EXPECT_EQ(read("g.txt"), text);
  // A device and a stream keep nothing that could be lost.
  EXPECT_EQ(run("graph g.txt --dot /dev/null --text /dev/null").status, 0);
  EXPECT_EQ(run("graph g.txt --dot /dev/stdout --text /dev/stdout").status, 0);
}

TEST_F(OutputPath, ThatIsFullIsReported) {
  const auto outcome = run(kGraph + "--dot /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "synergraph: /dev/full: cannot write: No space left on device\n");
}

}  // namespace
}  // namespace synergraph
