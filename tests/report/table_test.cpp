#include "synergraph/report/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "synergraph/core/parse_number.h"

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

TEST(TextTable, GoesOnBelowWhereTheTerminalEnds) {
  Table table{{"layer", "head", "weight", "fidelity", "best in"},
              {{"one", "0", "0.5", "0.125", "10 %"}, {"two", "1", "0.25", "1e-05", "100 %"}}};
  table.key_columns = 2;
  EXPECT_EQ(format_text(table, 29),
            "layer  head  weight  fidelity\n"
            "─────────────────────────────\n"
            "one       0     0.5     0.125\n"
            "two       1    0.25     1e-05\n"
            "\n"
            "layer  head  best in\n"
            "────────────────────\n"
            "one       0     10 %\n"
            "two       1    100 %\n");
  EXPECT_EQ(format_text(table, 38), format_text(table));
  EXPECT_EQ(format_text(table, 38).find("\n\n"), std::string::npos);
  EXPECT_NE(format_text(table, 37).find("\n\n"), std::string::npos);
}

TEST(TextTable, NamesGiveWayAndNoLineIsTooLong) {
  Table table{{"tensor", "dtype", "shape"},
              {{"transformer.h.0.attention.query.weight", "float32", "(768, 768)"},
               {"東京東京東京東京東京東京東京東京東京東京", "int64", "(1,)"}}};
  for (const std::size_t columns : {20U, 30U, 44U, 60U, 80U}) {
    std::istringstream lines(format_text(table, columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns);
  }
  EXPECT_NE(format_text(table, 44).find("transformer…uery.weight  float32  (768, 768)\n"),
            std::string::npos)
      << format_text(table, 44);
}

TEST(TextTable, NamesThatGiveWayStayDifferent) {
  Table table{{"layer", "fidelity", "another column"}, {}};
  for (int k = 0; k < 12; ++k)
    table.rows.push_back({"model.layers." + std::to_string(k) + ".self_attn.probs", "0.5", "1"});
  std::istringstream lines(format_text(table, 40));
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);)
    if (line.find("0.5") != std::string::npos) seen.insert(line);
  EXPECT_EQ(seen.size(), table.rows.size());
}

TEST(TextTable, WritesControlCharactersOut) {
  const Table table{{"a\tb"}, {{"x\ny"}, {"\x1b[2J"}}};
  EXPECT_EQ(format_text(table), "a\\x09b\n───────\nx\\x0ay\n\\x1b[2J\n");
}

TEST(CsvTable, QuotesOnlyWhatNeedsIt) {
  const Table table{
      {"name", "x"},
      {{"a,b", "1"}, {"say \"hi\"", "2"}, {"two\nlines", "3"}, {"a\rb", "4"}, {"plain", ""}}};
  EXPECT_EQ(format_csv(table),
            "name,x\n\"a,b\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n\"a\rb\",4\nplain,\n");
}

/// What a spreadsheet that separates cells by one character sees in a file.
std::vector<std::string> spreadsheet_cells(const std::string& text, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : text) {
    if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == separator || c == '\n'))
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

TEST(CsvTable, HoldsNoFormula) {
  for (const std::string name : {"=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "a;=1",
                                 "a\t=1", "a,=1", "'=1", "-", "=", "+5", "-1.5x"}) {
    const std::string text = format_csv({{"name", name}, {{name, "1"}}});
    for (const char separator : {',', ';', '\t'})
      for (const std::string& cell : spreadsheet_cells(text, separator))
        EXPECT_EQ(cell.find_first_of("=+-@\t\r\n"), cell.find_first_of("=+-@\t\r\n", 1)) << cell;
    // The name comes back when one apostrophe in front of a cell is taken away.
    std::string cell = spreadsheet_cells(text, ',')[1];
    if (cell.substr(0, 1) == "'") cell.erase(0, 1);
    EXPECT_EQ(cell, name);
  }
  EXPECT_EQ(format_csv({{"x"}, {{"\"=1"}}}), "x\n\"\"\"=1\"\n");
}

TEST(CsvTable, NumbersStayNumbers) {
  for (const std::string number : {"-1.5", "-1e-07", "-0", "-inf", "1", "inf", ""})
    EXPECT_EQ(format_csv({{"x"}, {{number}}}), "x\n" + number + "\n");
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

}  // namespace
}  // namespace synergraph
