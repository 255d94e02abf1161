#include "synergraph/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <regex>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/report/figure_axis.h"
#include "synergraph/report/figure_layout.h"
#include "synergraph/report/layer_labels.h"
#include "synergraph/report/study_figure.h"
#include "tests/support/invented_results.h"

namespace synergraph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(GnuplotText, HoldsNothingThatGnuplotCouldInterpret) {
  const std::regex plain(R"re("([A-Za-z0-9 ]|\\0[0-7]{3})*")re");
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  for (const std::string& text :
       {every_byte, std::string("`touch x`"), std::string("\"; system('touch x'); \""),
        std::string("'"), std::string("\\"), std::string("a\nset output 'x'\n"), std::string()}) {
    EXPECT_TRUE(std::regex_match(gnuplot_text(text), plain)) << gnuplot_text(text);
    EXPECT_TRUE(std::regex_match(gnuplot_tic(text), plain)) << gnuplot_tic(text);
  }
  EXPECT_EQ(gnuplot_text("Head 1"), "\"Head 1\"");
  EXPECT_EQ(gnuplot_text("a`1"), "\"a\\01401\"");
  EXPECT_EQ(gnuplot_tic("5%"), "\"5\\0045\\0045\"");
}

/// A variable of the environment, for as long as this is there.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// What draw_figure() says, into a directory of its own whose "gnuplot" holds this text.
std::string refusal(const std::string& gnuplot) {
  namespace fs = std::filesystem;
  const fs::path directory =
      fs::path(testing::TempDir()) / ("synergraph-gnuplot-" + std::to_string(getpid()));
  fs::create_directories(directory);
  if (!gnuplot.empty()) {
    std::ofstream(directory / "gnuplot") << gnuplot;
    fs::permissions(directory / "gnuplot", fs::perms::owner_all);
  }
  const Environment path("PATH", directory.string());
  std::string message;
  try {
    draw_figure((directory / "figure.svg").string(), {}, "plot x", NamedBy::kUser);
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_FALSE(fs::exists(directory / "figure.svg"));
  fs::remove_all(directory);
  return message.substr(std::min(message.size(), message.find("figure.svg")));
}

TEST(DrawFigure, SaysWhyThereIsNoFigure) {
  EXPECT_EQ(refusal(""), "figure.svg: figures need the program gnuplot, which is not installed");
  EXPECT_EQ(refusal("#!/bin/sh\nkill -9 $$\n"), "figure.svg: gnuplot failed: signal 9 ended it");
  EXPECT_EQ(refusal("#!/bin/sh\nexit 3\n"), "figure.svg: gnuplot failed: exit status 3");
  EXPECT_EQ(refusal("#!/bin/sh\necho 'no fonts' >&2\nexit 3\n"),
            "figure.svg: gnuplot failed: no fonts");
  EXPECT_EQ(refusal("#!/bin/sh\n"), "figure.svg: gnuplot failed: the figure is not complete");
  // The program is there, but the system starts no process with so long an environment.
  const Environment huge("SYNERGRAPH_HUGE", std::string(std::size_t{1} << 20U, 'x'));
  EXPECT_THAT(refusal("#!/bin/sh\n"),
              StartsWith("figure.svg: the program gnuplot cannot be started: "));
}

TEST(FigureAxisTest, AStraightAxisBeginsAtZero) {
  FigureAxis axis;
  for (const double number : {0.0, 2.0, 9.0}) axis.add(number);
  EXPECT_FALSE(axis.logarithmic());
  EXPECT_FALSE(axis.at_edge(0.0));
  EXPECT_EQ(axis.position(0.0), 0.0);
  EXPECT_EQ(axis.position(9.0), 9.0);
  EXPECT_THAT(axis.commands(), Not(HasSubstr("never")));
}

TEST(FigureAxisTest, ZeroAndNeverHaveLinesBeyondAllNumbers) {
  for (const double low : {1e-3, 5.0}) {
    FigureAxis axis;
    for (const double number : {0.0, low, 10.0, kInfinity}) axis.add(number);
    EXPECT_EQ(axis.logarithmic(), low == 1e-3);
    EXPECT_TRUE(axis.at_edge(kInfinity));
    EXPECT_GT(axis.position(kInfinity), 10.0);
    EXPECT_TRUE(std::isfinite(axis.position(kInfinity)));
    EXPECT_THAT(axis.commands(), HasSubstr("\"never\""));
    EXPECT_EQ(axis.at_edge(0.0), axis.logarithmic());
    EXPECT_LT(axis.position(0.0), low);
    if (axis.logarithmic()) {
      EXPECT_GT(axis.position(0.0), 0.0);
      EXPECT_THAT(axis.commands(), HasSubstr("set ytics add (\"0\" "));
    }
    EXPECT_FALSE(axis.at_edge(low));
    EXPECT_EQ(axis.position(low), low);
    EXPECT_TRUE(std::isnan(axis.position(std::nan(""))));
  }
}

TEST(FigureAxisTest, OneTinyNumberDoesNotSqueezeTheOthers) {
  FigureAxis axis;
  for (const double number : {1e-300, 1e-3, 1.0}) axis.add(number);
  EXPECT_TRUE(axis.at_edge(1e-300));
  EXPECT_GT(axis.position(1e-300), 1e-25);
  EXPECT_THAT(axis.commands(), Not(HasSubstr("add (\"0\"")));  // it is small, not zero
  EXPECT_THAT(axis.commands(), HasSubstr("add (" + gnuplot_tic("<10⁻¹⁷")));
}

TEST(FigureAxisTest, NothingToShowIsStillAnAxis) {
  FigureAxis axis;
  axis.add(kInfinity);
  axis.add(std::nan(""));
  EXPECT_TRUE(std::isfinite(axis.position(kInfinity)));
  EXPECT_THAT(axis.commands(), HasSubstr("set yrange [0:"));
}

TEST(LayerLabelsTest, NamesThatDifferInANumberAreShownAsIt) {
  const auto layers = [](const std::vector<std::string>& names) {
    std::vector<AttentionLayer> all;
    for (const std::string& name : names) all.push_back({name, 1, 2, 8});
    return all;
  };
  const LayerLabels chosen = layer_labels(layers({"a.9.map", "a.11.map", "a.19.map"}), {});
  EXPECT_THAT(chosen.tics, ElementsAre("9", "11", "19"));
  EXPECT_EQ(chosen.axis, "layer N in a.N.map");
  EXPECT_THAT(layer_labels(layers({"1", "2", "3"}), {}).tics, ElementsAre("1", "2", "3"));
  EXPECT_EQ(layer_labels(layers({"1", "2", "3"}), {}).axis, "layer");
  EXPECT_THAT(layer_labels(layers({"h1", "h1x"}), {}).tics, ElementsAre("h1", "h1x"));
  EXPECT_THAT(layer_labels(layers({"enc", "end"}), {}).tics, ElementsAre("enc", "end"));
  EXPECT_THAT(layer_labels(layers({"x3"}), {}).tics, ElementsAre("x3"));
  EXPECT_THAT(layer_labels(layers({"1", "2"}), {"first", "a\nb"}).tics,
              ElementsAre("first", "a\\x0ab"));
}

TEST(LayerLabelsTest, LayersOfDifferentLengthsSayTheirs) {
  const std::vector<AttentionLayer> layers = {{"1", 3, 2, 8}, {"2", 3, 2, 12}};
  EXPECT_THAT(layer_labels(layers, {}).tics, ElementsAre("1, n=8", "2, n=12"));
  EXPECT_EQ(count_range(layers, &AttentionLayer::tokens), "8 to 12");
  EXPECT_EQ(count_range(layers, &AttentionLayer::samples), "3");
}

TEST(FigureLayoutTest, AGivenSizeIsKeptOrRefused) {
  FigureLayout layout;
  layout.rows = layout.columns = 2;
  layout.panel = {2.0, 1.0};
  const Canvas wanted = begin_figure(layout, {FigureSize{7.5, 5.0}});
  EXPECT_DOUBLE_EQ(wanted.size.width, 7.5);
  EXPECT_DOUBLE_EQ(wanted.size.height, 5.0);
  EXPECT_GT(wanted.panel.width, 2.0);
  EXPECT_DOUBLE_EQ(begin_figure(layout, {}).panel.width, 2.0);
  EXPECT_GT(begin_figure(layout, {.title = "t"}).size.height, begin_figure(layout, {}).size.height);
  EXPECT_THROW(begin_figure(layout, {FigureSize{2.0, 5.0}}), UsageError);
  EXPECT_THROW(check_names({.names = {"a", "b"}}, 3, "head"), UsageError);
  EXPECT_NO_THROW(check_names({.names = {"a", "b"}}, 2, "head"));
  EXPECT_NO_THROW(check_names({}, 3, "head"));
}

TEST(SeriesStyleTest, EverySeriesHasItsOwnColourAndMark) {
  for (std::size_t a = 0; a < kSeriesStyles; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_STRNE(series_style(a).colour, series_style(b).colour);
      EXPECT_NE(series_style(a).mark, series_style(b).mark);
    }
}

/// The study figure of such results.
std::string study_svg(const std::vector<CellResult>& results) {
  const std::string path =
      testing::TempDir() + "synergraph-figure-" + std::to_string(getpid()) + ".svg";
  draw_study_figure(path, results, Convention::kPublished);
  std::string svg = read_file(path);
  std::filesystem::remove(path);
  return svg;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(StudyFigureTest, TheLegendNamesOnlyWhatIsShown) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0)  // NOLINT: the test's own words
    GTEST_SKIP() << "gnuplot is not installed";
  const std::vector<testing_support::InventedLayer> layers(4, {5.0, 0.004, 0.004, 0});
  EXPECT_THAT(study_svg({testing_support::invented_result("copy", 4, 1, layers)}),
              HasSubstr("<text>paper: open</text>"));
  // The paper has no models of three heads.
  EXPECT_THAT(study_svg({testing_support::invented_result("copy", 3, 1, layers)}),
              Not(HasSubstr("paper")));
}

TEST(StudyFigureTest, TasksAreDrawnOnTheSameScale) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0)  // NOLINT: the test's own words
    GTEST_SKIP() << "gnuplot is not installed";
  const std::string svg =
      study_svg({testing_support::invented_result("copy", 3, 1, {{5.0, 0.9, 0.9, 0}}),
                 testing_support::invented_result("cycle", 3, 1, {{80.0, 0.0, 0.0, 0}})});
  for (const char* tic : {"5", "50", "0", "0.2"})
    EXPECT_EQ(count(svg, std::string("<text>") + tic + "</text>"), 2U) << tic;
}

}  // namespace
}  // namespace synergraph
