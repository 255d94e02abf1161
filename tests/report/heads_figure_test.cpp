#include "synergraph/report/heads_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "tests/support/invented_head_values.h"

namespace synergraph {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::invented_head_values;
using testing_support::invented_stack;
using testing_support::make_sampled;

class HeadsFigureTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0)  // NOLINT: the test's own words
      GTEST_SKIP() << "gnuplot is not installed";
  }

  static std::string svg(const HeadsReport& report, const FigureOptions& options = {}) {
    const std::string path =
        testing::TempDir() + "synergraph-head_values-" + std::to_string(getpid()) + ".svg";
    draw_heads_figure(path, report, options);
    std::string text = read_file(path);
    std::filesystem::remove(path);
    return text;
  }
};

TEST_F(HeadsFigureTest, DrawsCurvesPairsAndStack) {
  HeadsReport report = invented_head_values(2, 4, 3);
  EXPECT_THAT(svg(report), Not(HasSubstr("residual")));
  report.stack = invented_stack(report);
  const std::string text = svg(report);
  for (const char* part : {"layer 2: speed", "heads left", "pairs, % of all heads", "redundant",
                           "residual", "weakest token", "dots: within two standard errors"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(HeadsFigureTest, DrawsWhatHasNoPairsNoErrorsOrNoValue) {
  EXPECT_THAT(svg(invented_head_values(1, 1, 1)), Not(HasSubstr("pairs")));
  HeadsReport report = invented_head_values(2, 3, 1);
  make_sampled(report.head_values.layer_values[0]);
  ValueOfHeads& value = report.head_values.layer_values[1].values[0];
  value = testing_support::value_of_tables(HeadValue::kFidelity, {std::vector<double>(8, 0.0)});
  value.pairs[0].index.mean = std::nan("");
  const std::string text = svg(report);
  EXPECT_THAT(text, HasSubstr("sampled: the best found"));
  EXPECT_THAT(text, HasSubstr("% of the best"));
  EXPECT_THAT(text, Not(HasSubstr("dots")));
}

TEST_F(HeadsFigureTest, DrawsAStackWithoutSignal) {
  HeadsReport report = invented_head_values(2, 3, 1);
  report.stack = invented_stack(report);
  report.stack->flows.clear();
  EXPECT_THAT(svg(report), Not(HasSubstr("residual")));
}

TEST_F(HeadsFigureTest, ManyLayersShareTheirPanels) {
  HeadsReport report = invented_head_values(13, 3, 2);
  report.stack = invented_stack(report);
  const std::string text = svg(report);
  EXPECT_THAT(text, HasSubstr("fidelity: Shapley values"));
  EXPECT_THAT(text, HasSubstr("of the heads left"));
  EXPECT_THAT(text, Not(HasSubstr("layer 1:")));
}

TEST_F(HeadsFigureTest, NamesAreShownNotInterpreted) {
  const std::string file = testing::TempDir() + "synergraph-head_values-touched";
  const std::string hostile = "`touch " + file + "`'\"; quit\n%s<b>";
  HeadsReport report = invented_head_values(1, 3, 1);
  report.head_values.layers[0].name = hostile;
  EXPECT_THAT(svg(report, {.title = hostile}), HasSubstr("touch"));
  EXPECT_THAT(svg(report, {.names = {hostile}}), HasSubstr("touch"));
  report.head_names = {hostile, "%", "'"};
  report.token_names = std::vector<std::string>(100, hostile);
  report.stack = invented_stack(report);
  EXPECT_THAT(svg(report), Not(HasSubstr("<b>")));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(HeadsFigureCheck, FailsBeforeLongWork) {
  const HeadsReport report = invented_head_values(3, 2, 1);
  const auto check = [&](const FigureOptions& options) {
    check_heads_figure(report.head_values.layers, report.head_values.options, true, options);
  };
  EXPECT_NO_THROW(check({}));
  EXPECT_NO_THROW(check({.names = {"a", "b", "c"}}));
  EXPECT_THROW(check({.names = {"a"}}), UsageError);
  EXPECT_THROW(check({FigureSize{3.0, 3.0}}), UsageError);
}

}  // namespace
}  // namespace synergraph
