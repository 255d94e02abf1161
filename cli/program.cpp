#include "cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <sstream>

#include "cli/commands.h"
#include "cli/output.h"
#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/terminal.h"
#include "synergraph/core/version.h"
#include "synergraph/train/device.h"

namespace synergraph::cli {
namespace {

/// Letters to change, add, leave out or swap with the next to get from one word to the other.
std::size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<std::vector<std::size_t>> distance(from.size() + 1,
                                                 std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i)
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t change = from[i - 1] == to[j - 1] ? 0 : 1;
      distance[i][j] = std::min(
          {distance[i - 1][j] + 1, distance[i][j - 1] + 1, distance[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
    }
  return distance[from.size()][to.size()];
}

/// The word nearest to `word`, if one is near: a few letters wrong, left out, added or swapped, or
/// a beginning. Else empty.
std::string nearest(const std::string& word, const std::vector<std::string>& words) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const bool begins = word.size() > 2 && candidate.starts_with(word);
    const std::size_t distance = begins ? 0 : edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

/// Text that was broken into lines of up to 100 columns, for a narrower terminal: paragraphs are
/// filled anew, lines that begin with blanks stay lines of their own.
std::string refilled(const std::string& text, std::size_t columns) {
  constexpr std::size_t kFullLine = 70;  // a paragraph goes on after a line as long as this
  std::string joined;
  std::size_t last = 0;  // width of the line before, 0 where it does not go on
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool prose = !line.empty() && line.front() != ' ';
    if (!joined.empty()) joined += prose && last >= kFullLine ? ' ' : '\n';
    joined += line;
    last = prose ? display_width(line) : 0;
  }
  std::string result;
  std::istringstream paragraphs(joined);
  for (std::string line; std::getline(paragraphs, line);) {
    const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    result += wrapped(line, columns, blanks == 0 ? 0 : blanks + 2) + '\n';
  }
  return result;
}

/// CLI11's help, wrapped at the terminal's edge.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t columns) : columns_(columns) {
    column_width(std::min<std::size_t>(30, columns / 3));
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return beside_names(CLI::Formatter::make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), beside_names(command->get_description()),
                             get_column_width());
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), columns_);
  }
  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = CLI::Formatter::make_footer(app);
    return columns_ >= 100 ? footer : refilled(footer, columns_);
  }

 private:
  std::string beside_names(const std::string& text) const {
    return columns_ == kUnlimited ? text : wrapped(text, columns_ - get_column_width());
  }
  std::size_t columns_;
};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& words) {
  const std::string near = nearest(word, words);
  return near.empty() ? "." : fmt::format(": did you mean {}?", quoted_text(near));
}

const CLI::App& find_command(const CLI::App& app, const std::string& name) {
  const std::vector<std::string> names = command_names(app);
  if (std::find(names.begin(), names.end(), name) != names.end()) return *app.get_subcommand(name);
  throw UsageError(fmt::format("{} is not a command{} The commands are {}", quoted_text(name),
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

/// The options' names, "--example".
std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Whether an argument is an option of the command, with or without a value: "--eps=0.1".
bool names_option(const CLI::App& command, const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-' &&
         command.get_option_no_throw(argument.substr(0, argument.find('='))) != nullptr;
}

/// An empty value, as of a shell variable that is not set, must not count as an option that was
/// left out.
[[noreturn]] void refuse_empty_value(std::string_view name) {
  throw UsageError(fmt::format("{}: the value is empty. Give one, or leave the option out", name));
}

/// Looks at the options before anything else is said about them: one that is misspelt would
/// otherwise be reported as another that is missing.
void check_options(const CLI::App& command, const std::vector<std::string>& arguments,
                   std::size_t first) {
  std::set<const CLI::Option*> given;
  for (std::size_t k = first; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    if (argument == "--") return;
    const bool number =
        argument.size() > 1 && (std::isdigit(argument[1]) != 0 || argument[1] == '.');
    if (argument.size() < 2 || argument[0] != '-' || number) continue;
    const std::string name = argument.substr(0, argument.find('='));
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr)
      throw UsageError(fmt::format("{} has no option {}{}", command.get_name(), quoted_text(name),
                                   did_you_mean(name, option_names(command))));
    const int most = option->get_items_expected_max();
    const bool again = !given.insert(option).second;
    if (again && most > 0 && most < CLI::detail::expected_max_vector_size)
      throw UsageError(fmt::format("{} is given twice", name));
    const bool attached = name.size() < argument.size();
    if (attached && argument.size() == name.size() + 1) refuse_empty_value(name);
    const int needed = option->get_items_expected_min() - (attached ? 1 : 0);
    for (int taken = 0; taken < needed; ++taken, ++k) {
      if (k + 1 == arguments.size() || names_option(command, arguments[k + 1]))
        throw UsageError(fmt::format("{}: {} is missing: {}", name, option->get_type_name(),
                                     option->get_description()));
      if (arguments[k + 1].empty()) refuse_empty_value(name);
    }
  }
}

}  // namespace

void add_commands(CLI::App& app) {
  app.name("synergraph");
  const std::string version = fmt::format("synergraph {} ({})", kVersion, instruction_set());
  app.set_version_flag("--version", [version] {
    std::string text = version;
    for (const std::string& gpu : describe_gpus()) text += '\n' + gpu;
    return text;
  });
  app.require_subcommand(1);
  app.footer("'synergraph help COMMAND' explains a command.");
  app.formatter(std::make_shared<HelpFormatter>(output_columns()));  // commands inherit it
  for (const auto add : kAddCommands) add(app);
}

std::vector<std::string> understood(const CLI::App& app, std::vector<std::string> arguments) {
  if (arguments.empty())
    throw UsageError(
        fmt::format("give a command: {}; or --help", fmt::join(command_names(app), ", ")));
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    if (arguments.empty()) return {"--help"};
    if (arguments.size() > 1)
      throw UsageError(
          fmt::format("help takes one command, not also {}", quoted_text(arguments[1])));
    return {find_command(app, arguments.front()).get_name(), "--help"};
  }
  const bool option = arguments.front().starts_with('-');
  check_options(option ? app : find_command(app, arguments.front()), arguments, option ? 0 : 1);
  return arguments;
}

}  // namespace synergraph::cli
