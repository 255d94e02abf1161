#include <fmt/core.h>

#include <exception>
#include <string>

#include "cli/commands.h"
#include "synergraph/core/error.h"
#include "synergraph/core/version.h"

namespace {

constexpr int kBadData = 1;
constexpr int kBadUsage = 2;

/// One line on stderr, whatever bytes a file put into the message.
int fail(std::string message, int status) {
  for (char& c : message)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  fmt::print(stderr, "synergraph: {}\n", message);
  return status;
}

int run(int argc, char** argv) {
  CLI::App app{"How fast and how faithfully attention moves information to the last token."};
  app.name("synergraph");
  app.set_version_flag("--version", std::string("synergraph ") + synergraph::kVersion);
  app.require_subcommand(1);
  synergraph::cli::add_analyze_command(app);
  synergraph::cli::add_convert_command(app);
  synergraph::cli::add_graph_command(app);
  synergraph::cli::add_inspect_command(app);
  synergraph::cli::add_reproduce_command(app);
  synergraph::cli::add_train_command(app);
  synergraph::cli::add_verify_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return fail(error.what(), kBadUsage);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const synergraph::UsageError& error) {
    return fail(error.what(), kBadUsage);
  } catch (const synergraph::Error& error) {
    return fail(error.what(), kBadData);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kBadData);
  } catch (const std::exception& error) {
    return fail(error.what(), kBadData);
  }
}
