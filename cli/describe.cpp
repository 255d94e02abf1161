#include "cli/describe.h"

namespace synergraph::cli {
namespace {

/// The parts of "{exact,published}", which CLI11 adds to the type of an option with choices.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionText describe_option(const CLI::Option& option) {
  OptionText text;
  text.positional = option.get_positional();
  if (text.positional) text.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  text.required = option.get_required();
  text.repeated = option.get_expected_max() > 1;
  text.description = option.get_description();
  text.default_value = option.get_default_str();
  if (option.get_items_expected_max() == 0) return text;
  const std::string type = option.get_type_name();
  text.choices = choices_in(type);
  text.value_name = type.substr(0, type.find(":{"));
  if (!text.choices.empty())
    text.value = OptionText::Value::kChoice;
  else if (text.value_name == "DIR")
    text.value = OptionText::Value::kDirectory;
  else if (text.value_name == "FILE" || text.positional)
    text.value = OptionText::Value::kFile;
  else
    text.value = OptionText::Value::kOther;
  return text;
}

}  // namespace

CommandText describe(const CLI::App& app) {
  CommandText text{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options())
    text.options.push_back(describe_option(*option));
  return text;
}

std::vector<CommandText> describe_commands(const CLI::App& app) {
  std::vector<CommandText> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    commands.push_back(describe(*command));
  return commands;
}

}  // namespace synergraph::cli
