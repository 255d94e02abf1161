#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/name_pattern.h"

namespace synergraph {

/// Which layers are wanted: by numbers, "3", "0,2" or "4-7", or by a regular expression that is
/// searched for in their names. What consists of digits, commas, hyphens and blanks is numbers.
class LayerChoice {
 public:
  /// UsageError for what is neither. Empty: all layers.
  explicit LayerChoice(const std::string& text);

  bool by_number() const { return !ranges_.empty(); }

  /// The places of the chosen layers among these names, in order. A layer's number is the one that
  /// outputs show: the number in which the names differ, where they differ in a number alone,
  /// otherwise its place, counted from 0. InputError where a number or the expression fits none.
  std::vector<std::size_t> places(const std::vector<std::string>& names) const;

 private:
  struct Range {
    std::int64_t first;
    std::int64_t last;
  };

  std::string text_;
  std::vector<Range> ranges_;
  std::optional<NamePattern> pattern_;
};

/// "'a', 'b', 'c' and 10 more", to choose from; "none".
std::string names_to_choose_from(const std::vector<std::string>& names);

/// "These arrays have the shape of attention: 'a.0' and 11 more. Select them with
/// --layers='^a\.[0-9]+$'": numbers, or an expression that fits these names and none of the others,
/// if a short one does. `what` is said of the arrays.
std::string layers_advice(const std::vector<std::string>& names,
                          const std::vector<std::string>& others,
                          const char* what = "have the shape of attention");

/// What --layers takes to choose these names and none of the others; empty: nothing short does.
std::string layers_for(const std::vector<std::string>& names,
                       const std::vector<std::string>& others);

}  // namespace synergraph
