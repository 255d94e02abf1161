#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "synergraph/report/document_schema.h"
#include "synergraph/report/settings_schema.h"

namespace synergraph::cli {

void add_schema_command(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  const std::vector<std::string> documents = document_names();
  std::vector<std::string> names = schema_names();
  names.insert(names.end(), documents.begin(), documents.end());
  CLI::App& command =
      *app.add_subcommand("schema", "Print the JSON Schema of settings or of a document");
  command.footer(
      "The program's options, the C interface's keys and Python's keyword arguments for measuring "
      "are\n"
      "made from these descriptions: `step_limit` is the program's --step-limit.\n\n"
      "Examples:\n"
      "  synergraph schema heads\n"
      "  synergraph schema synergraph.heads      # of the document of heads --json\n"
      "  synergraph schema documents             # of all documents");
  command
      .add_option(
          "NAME", *name,
          "call whose settings are printed: measure (the command analyze), heads, graph, or ablate (sg.ablate in Python); or "
          "quantities: the names, units and definitions of all measured numbers; or the name of a "
          "document")
      ->required()
      ->check(CLI::IsMember(names));
  command.callback([name, documents] {
    const bool document = std::find(documents.begin(), documents.end(), *name) != documents.end();
    print(document ? document_schema(*name) : settings_schema(*name));
  });
}

}  // namespace synergraph::cli
