// What every command does that draws or writes files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "synergraph/core/terminal.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/io/safetensors.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Texts that mean something to a shell, to gnuplot, to XML or to a terminal.
const std::vector<std::string> kHostile = {
    "`touch PWN`",  "$(touch PWN)", "'`touch PWN`'", "\"`touch PWN`",
    "it's \"q\"",   "''",           "@GPVAL_PWD",    "%s%n%d 100%",
    "\\\\n\\",      "a\nb",         "\x1b[31m",      "_{x}^2~&",
    "<b>&amp;</b>", "\xff\xfe",     "#x;y",          "\"\nset out 'PWN'\n"};

/// A shell's word.
std::string word(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

class FigureTest : public testing_support::ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "gnuplot is not installed";
  }

  /// The texts of a figure, as its reader sees them.
  std::string shown(const std::string& name) const {
    std::string svg = read(name);
    for (const auto& [code, character] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
      for (std::size_t at = svg.find(code); at != std::string::npos; at = svg.find(code, at + 1))
        svg.replace(at, std::string_view(code).size(), character);
    return svg;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  void write_layers(const std::string& name, const std::vector<std::string>& layers) const {
    const std::vector<double> attention = {1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.25, 0.25, 0.5};
    std::vector<TensorData> tensors;
    for (const std::string& layer : layers)
      tensors.push_back(tensor_data(layer, {1, 3, 3}, attention.data()));
    write_safetensors(path(name), tensors);
  }
};

TEST_F(FigureTest, NamesInAGraphAreShownAndNotInterpreted) {
  for (const std::string& text : kHostile) {
    MultiHeadGraph graph = worked_example(1);
    graph.heads[0].name = text;
    graph.node_names[0] = "n " + text;
    write("graph.txt", format_graph_text(graph));
    for (const std::string ending : {"svg", "pdf", "png"}) {
      const auto outcome = run("graph graph.txt --dot graph.dot --figure figure." + ending);
      EXPECT_EQ(outcome.status, 0) << text << outcome.err;
    }
    EXPECT_THAT(shown("figure.svg"), HasSubstr("<text>" + printable(text) + "</text>"));
    EXPECT_THAT(shown("figure.svg"), HasSubstr("<text>n " + printable(text) + "</text>"));
    for (const char c : read("graph.dot")) EXPECT_TRUE(c >= ' ' || c == '\n' || c < 0) << text;
  }
  EXPECT_THAT(files(), testing::UnorderedElementsAre("graph.txt", "graph.dot", "figure.svg",
                                                     "figure.pdf", "figure.png"));
}

TEST_F(FigureTest, NamesOfLayersAndGivenTextsAreShownAndNotInterpreted) {
  for (const std::string& text : kHostile) {
    if (text.find('\xff') == std::string::npos) {  // no tensor has such a name
      write_layers("maps.safetensors", {text, "other"});
      EXPECT_EQ(run("analyze maps.safetensors --figure maps.svg").status, 0) << text;
      EXPECT_THAT(shown("maps.svg"),
                  HasSubstr("<text>" + cut_middle(printable(text), 18) + "</text>"));
    }
    if (text.find(',') != std::string::npos) continue;
    write_layers("maps.safetensors", {"a", "b"});
    const auto outcome = run("analyze maps.safetensors --figure maps.svg --figure-title " +
                             word("t " + text) + " --figure-names " + word(text + ",m " + text));
    EXPECT_EQ(outcome.status, 0) << text << outcome.err;
    EXPECT_THAT(shown("maps.svg"), HasSubstr("<text>t " + printable(text) + "</text>"));
    EXPECT_THAT(shown("maps.svg"),
                HasSubstr("<text>" + cut_middle(printable("m " + text), 18) + "</text>"));
  }
  EXPECT_THAT(files(), testing::UnorderedElementsAre("maps.safetensors", "maps.svg"));
}

// "]]>" ends a CDATA section, and is forbidden elsewhere in XML; U+FFFE is no character of it.
TEST_F(FigureTest, AnSvgIsXmlWhateverItsTextsAre) {
  const std::string title = "a]]>b ]]]]>> <![CDATA[c]]> \xef\xbf\xbe";
  ASSERT_EQ(run("graph --example 2 --figure f.svg --figure-title " + word(title)).status, 0);
  const std::string figure = read("f.svg");
  EXPECT_THAT(figure, HasSubstr("<text>a]]&gt;b ]]]]&gt;> &lt;![CDATA[c]]&gt; \\ufffe</text>"));
  EXPECT_THAT(figure, Not(HasSubstr("]]>")));
}

TEST_F(FigureTest, ThePathIsNotInterpreted) {
  for (const std::string& text : kHostile) {
    if (text.find('/') != std::string::npos) continue;
    for (const std::string ending : {".svg", ".pdf", ".png"}) {
      const std::string name = text + ending;
      const auto outcome = run("graph --example 1 --figure " + word("./" + name));
      EXPECT_EQ(outcome.status, 0) << name << outcome.err;
      EXPECT_THAT(files(), testing::ElementsAre(name));
      std::filesystem::remove_all(directory_);
      std::filesystem::create_directories(directory_);
    }
  }
}

TEST_F(FigureTest, AFigureThatCannotBeWrittenIsAnError) {
  std::filesystem::create_symlink("/dev/full", directory_ / "full.svg");
  expect_refusal("graph --example 1 --figure full.svg", 1, "full.svg: ");
  // A disk that fills up, before gnuplot has its script or before it has drawn everything.
  for (const std::string blocks : {"4", "16"}) {
    const std::string limited =
        "cd " + word(directory_.string()) + " && trap '' XFSZ && ulimit -f " + blocks +
        " && " SYNERGRAPH_CLI " graph --example 1 --figure small.svg >/dev/null 2>message";
    EXPECT_EQ(WEXITSTATUS(std::system(limited.c_str())), 1);  // NOLINT: the test's own words
    EXPECT_THAT(read("message"), testing::StartsWith("synergraph: ")) << blocks;
    EXPECT_FALSE(exists("small.svg")) << blocks;
  }
}

TEST_F(FigureTest, SizeTitleAndNamesCanBeSet) {
  ASSERT_EQ(run("graph --example 2 --figure f.svg --figure-size 9x4 --figure-title 'Two heads' "
                "--figure-names first,second")
                .status,
            0);
  EXPECT_THAT(read("f.svg"), HasSubstr("viewBox=\"0 0 864 384\""));
  for (const char* text : {"Two heads", "first", "second", "all heads"})
    EXPECT_THAT(read("f.svg"), HasSubstr(std::string("<text>") + text + "</text>"));
  EXPECT_THAT(read("f.svg"), Not(HasSubstr("Head 1")));
  const std::string draw = "graph --example 2 --figure g.svg ";
  expect_refusal(draw + "--figure-names one", 2, "1 name for 2 heads");
  expect_refusal(draw + "--figure-size 9", 2, "--figure-size: expected WxH");
  expect_refusal(draw + "--figure-size 9x", 2, "--figure-size: expected WxH");
  expect_refusal(draw + "--figure-size nanx4", 2, "--figure-size: expected WxH");
  expect_refusal(draw + "--figure-size 9x400", 2, "--figure-size: expected WxH");
  expect_refusal(draw + "--figure-size 1x1", 2, "too few for 3 by 1 panels");
  expect_refusal("graph --example 2 --figure-size 9x4", 2, "--figure");
}

TEST_F(FigureTest, ChosenLayersKeepTheirNames) {
  write_layers("maps.safetensors", {"att.3.w", "att.5.w", "att.12.w"});
  ASSERT_EQ(run("analyze maps.safetensors --layers '5|12' --figure f.svg").status, 0);
  EXPECT_THAT(read("f.svg"), HasSubstr("<text>12</text>"));
  EXPECT_THAT(read("f.svg"), HasSubstr("<text>layer N in att.N.w</text>"));
}

TEST_F(FigureTest, LayersOfDifferentLengthsAreNamed) {
  const std::vector<double> attention = {1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.25, 0.25, 0.5};
  const std::vector<double> shorter = {1.0, 0.0, 0.5, 0.5};
  write_safetensors(path("maps.safetensors"),
                    std::vector<TensorData>{tensor_data("a1", {1, 3, 3}, attention.data()),
                                            tensor_data("a2", {1, 2, 2}, shorter.data())});
  const auto outcome = run("analyze maps.safetensors --figure f.svg");
  EXPECT_THAT(outcome.out, HasSubstr("2 to 3 tokens"));
  EXPECT_THAT(read("f.svg"), HasSubstr("different lengths: 2 to 3 tokens"));
  EXPECT_THAT(read("f.svg"), HasSubstr("<text>2, n=2</text>"));
}

TEST_F(FigureTest, NeverIsShownAtTheEdge) {
  // The first layer mixes, the second never does: its tokens look at themselves.
  const std::vector<double> mixing = {1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.001, 0.001, 0.998};
  const std::vector<double> fixed = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  write_safetensors(path("maps.safetensors"),
                    std::vector<TensorData>{tensor_data("a1", {1, 3, 3}, mixing.data()),
                                            tensor_data("a2", {1, 3, 3}, fixed.data())});
  ASSERT_EQ(run("analyze maps.safetensors --figure f.svg").status, 0);
  EXPECT_THAT(read("f.svg"), HasSubstr("<text>never</text>"));
  write_layers("maps.safetensors", {"a1", "a2"});
  ASSERT_EQ(run("analyze maps.safetensors --figure f.svg").status, 0);
  EXPECT_THAT(read("f.svg"), Not(HasSubstr("<text>never</text>")));
  // By the published convention walks end nowhere: both conventions then have the same scale.
  ASSERT_EQ(run("analyze maps.safetensors --convention both --figure f.svg").status, 0);
  const std::string svg = read("f.svg");
  const std::size_t first = svg.find("<text>never</text>");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(svg.find("<text>never</text>", first + 1), std::string::npos);
}

/// A path in a directory that is not there is noticed before anything is read or computed: the
/// inputs are missing too.
TEST_F(FigureTest, MissingDirectoriesAreNoticedFirst) {
  for (const char* command :
       {"graph none.txt --figure no/such.svg", "graph none.txt --curves no/such.csv",
        "graph none.txt --dot no/such.dot", "graph none.txt --text no/such.txt",
        "analyze none.npy --figure no/such.svg", "analyze none.npy --json no/such.json",
        "analyze none.npy --per-sample no/such.csv",
        "verify --checkpoints none --json no/such.json", "convert none.npy no/such.npz"})
    expect_refusal(command, 1, "no/such");
}

TEST_F(FigureTest, MissingGnuplotIsNoticedFirst) {
  const auto refused = [&](const std::string& arguments) {
    const std::string command = "cd " + word(directory_.string()) +
                                " && PATH=/nowhere && export PATH && " SYNERGRAPH_CLI " " +
                                arguments + " >/dev/null 2>message";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << arguments;  // NOLINT
    EXPECT_THAT(read("message"), HasSubstr("figures need the program gnuplot")) << arguments;
  };
  refused("graph none.txt --figure f.svg");
  refused("analyze none.npy --figure f.svg");
  refused("reproduce --out study");
  EXPECT_FALSE(exists("study"));
}

}  // namespace
}  // namespace synergraph
