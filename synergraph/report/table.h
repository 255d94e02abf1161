#pragma once

#include <string>
#include <vector>

namespace synergraph {

/// A table of text cells. The first column is aligned left, all others right.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

/// Aligned columns with a rule under the header: for a terminal.
std::string format_text(const Table& table);

/// Comma-separated values with a header line; cells are quoted where they need it (RFC 4180).
std::string format_csv(const Table& table);

/// For people: `digits` significant digits, trailing zeros kept off, "-" for NaN, "inf" for
/// infinity.
std::string human(double value, int digits = 4);

/// A time for people: a whole number below a million, four digits beyond, "never" for infinity.
std::string human_time(double steps);

/// For programs: the shortest text that reads back as the same double; empty for NaN, "inf".
std::string exact(double value);

}  // namespace synergraph
