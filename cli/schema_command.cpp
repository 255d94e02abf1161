#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "synergraph/report/settings_schema.h"

namespace synergraph::cli {

void add_schema_command(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  CLI::App& command = *app.add_subcommand("schema", "Print the JSON Schema of settings");
  command.footer(
      "The program's options, the C interface's keys and Python's keyword arguments for measuring "
      "are\n"
      "made from these descriptions: `step_limit` is the program's --step-limit.\n\n"
      "Example:\n"
      "  synergraph schema heads");
  command
      .add_option("NAME", *name,
                  "call whose settings are printed: measure (the command analyze), heads, graph, "
                  "or ablate (sg.ablate in Python); or "
                  "quantities: the names, units and definitions of all measured numbers")
      ->required()
      ->check(CLI::IsMember(schema_names()));
  command.callback([name] { print(settings_schema(*name)); });
}

}  // namespace synergraph::cli
