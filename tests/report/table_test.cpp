#include "synergraph/report/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "synergraph/core/parse_number.h"
#include "synergraph/report/figure.h"

namespace synergraph {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(TextTable, AlignsByCharactersNotBytes) {
  const Table table{{"", "φ", "n"}, {{"héad", "0.5", "10"}, {"b", "12.25", "3"}}};
  EXPECT_EQ(format_text(table),
            "          φ   n\n"
            "───────────────\n"
            "héad    0.5  10\n"
            "b     12.25   3\n");
}

TEST(CsvTable, QuotesOnlyWhatNeedsIt) {
  const Table table{{"name", "x"},
                    {{"a,b", "1"}, {"say \"hi\"", "2"}, {"two\nlines", "3"}, {"plain", ""}}};
  EXPECT_EQ(format_csv(table),
            "name,x\n\"a,b\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\nplain,\n");
}

TEST(Numbers, ForPeople) {
  EXPECT_EQ(human(0.416666), "0.4167");
  EXPECT_EQ(human(3.0), "3");
  EXPECT_EQ(human(1.5e-13), "1.5e-13");
  EXPECT_EQ(human(std::nan("")), "-");
  EXPECT_EQ(human(kInfinity), "inf");
  EXPECT_EQ(human_time(kInfinity), "never");
  EXPECT_EQ(human_time(999999), "999999");
  EXPECT_EQ(human_time(2.3456789e12), "2.346e+12");
  EXPECT_EQ(human_time(2.125), "2.125");
}

TEST(Numbers, ForProgramsReadBackExactly) {
  for (const double value :
       {0.1, 1.0 / 3, 1e-308, 5e-324, 1.7976931348623157e308, 123456789.123456789}) {
    double back = 0.0;
    EXPECT_TRUE(parse_number(exact(value), back));
    EXPECT_EQ(back, value);
  }
  EXPECT_EQ(exact(10.0), "10");
  EXPECT_EQ(exact(kInfinity), "inf");
  EXPECT_EQ(exact(std::nan("")), "");
}

TEST(GnuplotText, ShowsEveryCharacterAsItIs) {
  EXPECT_EQ(gnuplot_text("Head 1"), "\"Head 1\"");
  EXPECT_EQ(gnuplot_text("a_b"), "\"a\\\\_b\"");
  EXPECT_EQ(gnuplot_text("say \"hi\""), "\"say \\\"hi\\\"\"");
  EXPECT_EQ(gnuplot_text("two\nlines"), "\"two lines\"");
}

}  // namespace
}  // namespace synergraph
