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
  for (const std::string option : {"--dot ", "--text ", "--curves "}) {
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

TEST_F(OutputPath, ThatIsFullIsReported) {
  const auto outcome = run(kGraph + "--dot /dev/full");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "synergraph: /dev/full: cannot write: No space left on device\n");
}

}  // namespace
}  // namespace synergraph
