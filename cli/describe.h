#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace synergraph::cli {

/// An option as its definition says; completions and the manual page are made of these.
struct OptionText {
  enum class Value { kNone, kChoice, kFile, kDirectory, kOther };

  std::vector<std::string> names;  ///< "--help"; of a positional one: "FILE"
  bool positional = false;
  bool required = false;
  bool repeated = false;  ///< takes a list, or may be given again
  Value value = Value::kNone;
  std::string value_name;            ///< "FILE", "N"
  std::vector<std::string> choices;  ///< of kChoice
  std::string description;
  std::string default_value;  ///< empty: none, or it is in the description
};

struct CommandText {
  std::string name;
  std::string description;
  std::string details;  ///< what the help ends with
  std::vector<OptionText> options;
};

/// The options of the program itself or of a command.
CommandText describe(const CLI::App& app);

/// The commands of the program.
std::vector<CommandText> describe_commands(const CLI::App& app);

}  // namespace synergraph::cli
