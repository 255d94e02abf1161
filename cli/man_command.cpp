#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/output.h"
#include "synergraph/core/version.h"

namespace synergraph::cli {
namespace {

/// Text for a manual page: every character is printed as it is.
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    // At the beginning of a line these would be commands.
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    line_begins = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '`')
      result += "\\(ga";
    else if (c == '^')
      result += "\\(ha";
    else if (c == '~')
      result += "\\(ti";
    else
      result += c;
  }
  return result;
}

/// "--eps NUMBER", in bold and italics.
std::string heading(const OptionText& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += (text.empty() ? "" : ", ") +
            fmt::format("\\f{}{}\\fR", option.positional ? 'I' : 'B', roff(name));
  if (option.positional || option.value == OptionText::Value::kNone) return text;
  return text + fmt::format(" \\fI{}\\fR", roff(option.value_name));
}

std::string options_page(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) {
    text += fmt::format(".TP\n{}\n{}", heading(option), roff(option.description));
    if (option.value == OptionText::Value::kChoice)
      text += fmt::format(" ({})", roff(fmt::format("{}", fmt::join(option.choices, ", "))));
    if (!option.default_value.empty())
      text += fmt::format(" [default: {}]", roff(option.default_value));
    if (option.required) text += " [required]";
    text += '\n';
  }
  return text;
}

std::string command_page(const CommandText& command) {
  std::string usage = fmt::format("\\fBsynergraph {}\\fR [options]", roff(command.name));
  for (const OptionText& option : command.options)
    if (option.positional) usage += ' ' + heading(option);
  std::string text =
      fmt::format(".SS {}\n{}\n.PP\n{}{}\n{}", roff(command.name), usage, roff(command.description),
                  command.description.ends_with('.') ? "" : ".", options_page(command));
  if (!command.details.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.details));
  return text;
}

std::string manual_page(const CLI::App& app) {
  const CommandText program = describe(app);
  std::string text = fmt::format(
      ".TH SYNERGRAPH 1 \"\" \"synergraph {}\" \"User Commands\"\n"
      ".SH NAME\nsynergraph \\- mixing time and fidelity of attention, exactly\n"
      ".SH SYNOPSIS\n\\fBsynergraph\\fR \\fIcommand\\fR [options]\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n",
      roff(kVersion), roff(program.description), options_page(program));
  for (const CommandText& command : describe_commands(app)) text += command_page(command);
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nall is well\n"
      ".TP\n1\nthe data are wrong, a file cannot be read or written, or \\fBverify\\fR found a "
      "difference\n"
      ".TP\n2\nthe command line is wrong\n";
  return text;
}

}  // namespace

void add_man_command(CLI::App& app) {
  app.add_subcommand("man", "Print the manual page")->callback([&app] { print(manual_page(app)); });
}

}  // namespace synergraph::cli
