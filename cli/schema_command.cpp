#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/settings_schema.h"

namespace synergraph::cli {

void add_schema_command(CLI::App& app) {
  const auto settings = std::make_shared<SchemaSettings>();
  CLI::App& command = *app.add_subcommand("schema", "Print the JSON Schema of settings");
  command.footer(
      "The program's options, the C interface's keys and Python's keyword arguments are made from\n"
      "these descriptions: `step_limit` is the program's --step-limit. The field `faces` of a\n"
      "setting says which of the three offer it. The settings of analyze are those of measure.\n\n"
      "Example:\n"
      "  synergraph schema heads");
  add_settings(command, *settings);
  command.get_option("NAME")->check(CLI::IsMember(schema_names()));
  command.callback([settings] { print(settings_schema(settings->name)); });
}

}  // namespace synergraph::cli
