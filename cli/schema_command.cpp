#include <algorithm>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/document_schema.h"
#include "synergraph/report/settings_schema.h"

namespace synergraph::cli {
namespace {

std::vector<std::string> all_names() {
  std::vector<std::string> names = schema_names();
  for (std::string& name : document_names()) names.push_back(std::move(name));
  return names;
}

/// One of all_names(). The descriptions of documents take a millisecond, so that other commands
/// must not wait for them.
struct SchemaName : CLI::Validator {
  SchemaName() {
    desc_function_ = [] { return CLI::IsMember(all_names()).get_description(); };
    func_ = [](std::string& name) { return CLI::IsMember(all_names())(name); };
  }
};

}  // namespace

void add_schema_command(CLI::App& app) {
  CLI::App& command = add_command<SchemaSettings>(
      app, "schema", "Print the JSON Schema of settings or of a document",
      "The program's options, the C interface's keys and Python's keyword arguments are made from\n"
      "these descriptions: `step_limit` is the program's --step-limit. The field `faces` of a\n"
      "setting says which of the three offer it. The settings of analyze are those of measure.\n\n"
      "Examples:\n"
      "  synergraph schema heads\n"
      "  synergraph schema synergraph.heads      # of the document of heads --json\n"
      "  synergraph schema documents             # of all documents",
      [](SchemaSettings& settings) {
        const std::vector<std::string> documents = document_names();
        const bool document =
            std::find(documents.begin(), documents.end(), settings.name) != documents.end();
        print(document ? document_schema(settings.name) : settings_schema(settings.name));
      });
  command.get_option("NAME")->check(SchemaName());
}

}  // namespace synergraph::cli
