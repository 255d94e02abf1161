#pragma once

#include <regex>
#include <string>

namespace synergraph {

/// A regular expression (ECMAScript's, without back references) that is searched for in names from
/// files. UsageError if it is none, or one that would take unbounded memory or time: longer than
/// 200 characters, groups more than 20 deep, or repetitions {N} that multiply to more than 20.
class NamePattern {
 public:
  explicit NamePattern(const std::string& expression);

  /// Whether the name has a match in it; a name of more than 256 bytes never has. UsageError if the
  /// search takes too many steps.
  bool matches(const std::string& name) const;

 private:
  std::string expression_;
  std::regex pattern_;
};

}  // namespace synergraph
