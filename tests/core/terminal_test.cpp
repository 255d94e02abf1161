#include "synergraph/core/terminal.h"

#include <gtest/gtest.h>

namespace synergraph {
namespace {

TEST(Printable, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain 'text' (1) \\"), "plain 'text' (1) \\");
  EXPECT_EQ(printable("héad — 東京 🙂 é̃"), "héad — 東京 🙂 é̃");
  EXPECT_EQ(printable("a\x1b[31mb\rc\nd\te\x7f"), "a\\x1b[31mb\\x0dc\\x0ad\\x09e\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "CSI as one character";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "abc"),
            "\\u202eabc")
      << "right to left";
  EXPECT_EQ(printable("\xef\xbf\xbe\xef\xbf\xbf"), "\\ufffe\\uffff") << "no characters";
  EXPECT_EQ(printable_lines("a\nb\x1b\r\n"), "a\nb\\x1b\\x0d\n");
}

TEST(Printable, WritesOutWhatIsNotUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(printable("東\xe6\x9d"), "東\\xe6\\x9d") << "cut short";
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("±φ─…"), 4U);
  EXPECT_EQ(display_width("東京"), 4U);
  EXPECT_EQ(display_width("e\xcc\x81"), 1U) << "a combining accent";
  EXPECT_EQ(display_width("🙂"), 2U);
}

TEST(Cutting, NeverExceedsTheColumns) {
  const std::string texts[] = {"a longer name of something", "東京大学のヘッド", "ééééééééééé",
                               "mixed 東 and é and 🙂 text"};
  for (const std::string& text : texts)
    for (std::size_t columns = 0; columns <= 40; ++columns) {
      for (const std::string& cut : {cut_end(text, columns), cut_middle(text, columns)}) {
        EXPECT_LE(display_width(cut), columns);
        EXPECT_EQ(printable(cut), cut) << "no character is broken";
        EXPECT_EQ(cut == text, display_width(text) <= columns) << cut;
      }
    }
  EXPECT_EQ(cut_end("abcdefgh", 5), "abcd…");
  EXPECT_EQ(cut_middle("layer.10.weight", 9), "laye…ight");
}

TEST(Cutting, ATextFromAFileMayBeLong) {
  // Time grows with the length alone: by its square these would take half an hour.
  constexpr std::size_t kLong = std::size_t{1} << 20U;
  EXPECT_EQ(cut_middle('a' + std::string(kLong, 'b') + 'c', 5), "ab…bc");
  std::string words;
  for (std::size_t k = 0; k < kLong / 2; ++k) words += "a ";
  EXPECT_EQ(wrapped(words, kUnlimited), words);
}

TEST(Quoted, IsShortAndPrintable) {
  EXPECT_EQ(quoted_text("-1"), "'-1'");
  EXPECT_EQ(quoted_text("\x1b[2J\n\xff"), "'\\x1b[2J\\x0a\\xff'");
  EXPECT_LE(display_width(quoted_text(std::string(400, '9'))), 62U);
}

TEST(Wrapped, BreaksAtBlanksWithAHangingIndent) {
  EXPECT_EQ(wrapped("best head    one two three four\nnext\n", 20, 13),
            "best head    one two\n             three\n             four\nnext\n");
  EXPECT_EQ(wrapped("fits", 4), "fits");
  EXPECT_EQ(wrapped("  indented words here", 12, 2), "  indented\n  words here");
  EXPECT_EQ(wrapped("averyveryverylongword and more", 10), "averyveryverylongword\nand more");
  EXPECT_EQ(wrapped("one two", kUnlimited, 4), "one two");
}

TEST(TerminalColumns, AFileHasNone) {
  std::FILE* file = std::tmpfile();
  EXPECT_EQ(terminal_columns(file), kUnlimited);
  std::fclose(file);
}

}  // namespace
}  // namespace synergraph
