#include "synergraph/core/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "synergraph/core/parse_number.h"

namespace synergraph {
namespace {

constexpr std::string_view kEllipsis = "…";

/// A character of UTF-8 text; `valid` is false for a byte that begins none.
struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(k) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0x80, 0x800, 0x10000};
  if (code < kLeast[bytes - 2] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, bytes, true};
}

struct Characters {
  char32_t first;
  char32_t last;
};

template <std::size_t kCount>
bool contains(const Characters (&ranges)[kCount], char32_t code) {
  const auto* range =
      std::lower_bound(std::begin(ranges), std::end(ranges), code,
                       [](const Characters& entry, char32_t value) { return entry.last < value; });
  return range != std::end(ranges) && range->first <= code;
}

/// C0, DEL and C1; the line and paragraph separators; what changes the writing direction; what is
/// no character, and no part of an SVG.
constexpr Characters kUnprintable[] = {
    {0x00, 0x1F},     {0x7F, 0x9F},     {0x61C, 0x61C},   {0x200E, 0x200F}, {0x2028, 0x202E},
    {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE007F}};

/// The common combining marks, joiners and variation selectors.
constexpr Characters kZeroWidth[] = {
    {0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},    {0x64B, 0x65F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20FF},  {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};

/// East Asian Wide and Fullwidth characters, pictographs among them.
constexpr Characters kDoubleWidth[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23F3},
    {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267F, 0x267F},
    {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},   {0x26BD, 0x26BE},
    {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},   {0x26EA, 0x26EA},
    {0x26F2, 0x26F5},   {0x26FA, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274E},   {0x2753, 0x2757},   {0x2795, 0x2797},
    {0x27B0, 0x27BF},   {0x2B1B, 0x2B1C},   {0x2B50, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18DFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F19A}, {0x1F200, 0x1F265}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F7E0, 0x1F7F0}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD}};

std::size_t columns_of(const Character& character) {
  if (contains(kZeroWidth, character.code)) return 0;
  return contains(kDoubleWidth, character.code) ? 2 : 1;
}

/// Bytes of the longest beginning that fits into so many columns.
std::size_t fitting_bytes(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t used = 0; bytes < text.size();) {
    const Character character = first_character(text.substr(bytes));
    used += columns_of(character);
    if (used > columns) break;
    bytes += character.bytes;
  }
  return bytes;
}

std::string written_out(std::string_view text, bool keep_line_feeds) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    const auto code = static_cast<std::uint32_t>(character.code);
    if (!character.valid)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (!contains(kUnprintable, character.code) || (keep_line_feeds && code == '\n'))
      result += text.substr(0, character.bytes);
    else
      result += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    text.remove_prefix(character.bytes);
  }
  return result;
}

/// One line, broken at blanks.
std::string wrapped_line(std::string_view line, std::size_t columns, std::size_t indent) {
  std::string result;
  std::string current;
  std::size_t used = 0;  // columns of it
  bool has_word = false;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const std::size_t width = display_width(word);
    if (has_word && used + begin + width > columns) {
      result += current + '\n';
      current = std::string(indent, ' ').append(word);
      used = indent + width;
    } else {
      current += line.substr(0, end);
      used += begin + width;
    }
    has_word = true;
    line.remove_prefix(end);
  }
  return result + current;
}

}  // namespace

std::size_t terminal_columns(std::FILE* stream) {
  const int descriptor = fileno(stream);
  if (isatty(descriptor) == 0) return kUnlimited;
#ifdef TIOCGWINSZ
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#endif
  const char* variable = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): no one sets it
  std::size_t columns = 0;
  constexpr std::size_t kUsual = 80;
  if (variable == nullptr || !parse_number(variable, columns) || columns == 0) return kUsual;
  return columns;
}

std::string printable(std::string_view text) {
  return written_out(text, false);
}

std::string printable_lines(std::string_view text) {
  return written_out(text, true);
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    columns += columns_of(character);
    text.remove_prefix(character.bytes);
  }
  return columns;
}

std::string cut_end(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  return std::string(text.substr(0, fitting_bytes(text, columns - 1))).append(kEllipsis);
}

std::string cut_begin(std::string_view text, std::size_t columns) {
  std::size_t width = display_width(text);
  if (width <= columns) return std::string(text);
  if (columns == 0) return "";
  while (width > columns - 1) {
    const Character character = first_character(text);
    width -= columns_of(character);
    text.remove_prefix(character.bytes);
  }
  return std::string(kEllipsis).append(text);
}

std::string cut_middle(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  const std::string_view begin = text.substr(0, fitting_bytes(text, columns / 2));
  return std::string(begin).append(
      cut_begin(text.substr(begin.size()), columns - display_width(begin)));
}

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  return '\'' + cut_middle(printable(text), kLongest) + '\'';
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += wrapped_line(text.substr(0, end), columns, indent);
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace synergraph
