#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "synergraph/report/command_settings.h"

namespace synergraph::cli {
namespace {

using Value = OptionText::Value;

constexpr const char* kCompletionsFooter =
    R"text(Installing synergraph puts these where the shells look for them. For this shell alone:
  eval "$(synergraph completions bash)"
  eval "$(synergraph completions zsh)"
  synergraph completions fish | source)text";

std::string names_of(const std::vector<CommandText>& commands) {
  std::string names;
  for (const CommandText& command : commands) names += command.name + ' ';
  return names + "help";
}

/// All names of the options.
std::string flags_of(const CommandText& command) {
  std::string names;
  for (const OptionText& option : command.options)
    if (!option.positional)
      for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  return names;
}

/// What bash completes a value with.
std::string bash_value(const OptionText& option) {
  switch (option.value) {
    case Value::kChoice:
      return fmt::format("_synergraph_words '{}'", fmt::join(option.choices, " "));
    case Value::kFile:
      return "_synergraph_files -f";
    case Value::kDirectory:
      return "_synergraph_files -d";
    default:
      return ":";
  }
}

std::string bash(const CommandText& program, const std::vector<CommandText>& commands) {
  std::string values;
  std::string words;
  for (const CommandText& command : commands) {
    std::string arguments;
    for (const OptionText& option : command.options) {
      if (option.positional) {
        arguments = bash_value(option);
      } else if (option.value != Value::kNone) {
        for (const std::string& name : option.names)
          values +=
              fmt::format("    '{} {}') {}; return ;;\n", command.name, name, bash_value(option));
      }
    }
    words += fmt::format(
        "    {}) if [[ $current == -* ]]; then _synergraph_words '{}'; else {}; fi ;;\n",
        command.name, flags_of(command), arguments.empty() ? ":" : arguments);
  }
  return fmt::format(R"(# bash completion for synergraph
_synergraph_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }}
_synergraph_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}}
_synergraph() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _synergraph_words '{} {}'
    return
  fi
  case "${{COMP_WORDS[1]}} $previous" in
{}  esac
  case "${{COMP_WORDS[1]}}" in
{}    help) _synergraph_words '{}' ;;
  esac
}}
complete -F _synergraph synergraph
)",
                     names_of(commands), flags_of(program), values, words, names_of(commands));
}

/// Text between single quotes for a shell; `marks` get a backslash.
std::string shell_text(const std::string& text, const std::string& marks) {
  std::string result;
  for (const char c : text) {
    if (c == '\'')
      result += "'\\''";
    else if (c == '\n')
      result += ' ';
    else if (marks.find(c) != std::string::npos)
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

std::string zsh_value(const OptionText& option) {
  switch (option.value) {
    case Value::kNone:
      return "";
    case Value::kChoice:
      return fmt::format(":{}:({})", option.value_name, fmt::join(option.choices, " "));
    case Value::kFile:
      return ":file:_files";
    case Value::kDirectory:
      return ":directory:_files -/";
    case Value::kOther:
      return fmt::format(":{}:", shell_text(option.value_name, ":\\"));
  }
  return "";
}

/// The arguments of zsh's _arguments, one a line.
std::string zsh_arguments(const CommandText& command) {
  std::string text;
  for (const OptionText& option : command.options) {
    if (option.positional) {
      text += fmt::format(" \\\n          '*{}'", zsh_value(option));
      continue;
    }
    for (const std::string& name : option.names)
      text += fmt::format(" \\\n          '{}{}{}[{}]{}'", option.repeated ? "*" : "", name,
                          option.value == Value::kNone ? "" : "=",
                          shell_text(option.description, "[]:\\"), zsh_value(option));
  }
  return text;
}

std::string zsh(const CommandText& program, const std::vector<CommandText>& commands) {
  std::string list;
  std::string cases;
  for (const CommandText& command : commands) {
    list += fmt::format("        '{}:{}'\n", command.name, shell_text(command.description, ":\\"));
    cases += fmt::format("        {})\n          _arguments{} ;;\n", command.name,
                         zsh_arguments(command));
  }
  return fmt::format(R"(#compdef synergraph
_synergraph() {{
  local state line
  typeset -A opt_args
  _arguments -C{} \
          '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=(
{}        'help:Show the help of a command'
      )
      _describe -t commands command commands ;;
    argument)
      case $words[1] in
{}        help)
          _arguments '1:command:({})' ;;
      esac ;;
  esac
}}
if [[ $funcstack[1] == _synergraph ]]; then _synergraph "$@"; else compdef _synergraph synergraph; fi
)",
                     zsh_arguments(program), list, cases, names_of(commands));
}

std::string fish(const CommandText& program, const std::vector<CommandText>& commands) {
  std::string text = "# fish completion for synergraph\ncomplete -c synergraph -f\n";
  const auto add = [&](const CommandText& command, const std::string& condition) {
    for (const OptionText& option : command.options) {
      text += fmt::format("complete -c synergraph -n '{}'", condition);
      for (const std::string& name : option.names) {
        if (option.positional) continue;
        const bool letter = name.size() == 2;
        text += fmt::format(" -{} {}", letter ? "s" : "l", name.substr(letter ? 1 : 2));
      }
      if (option.value == Value::kChoice)
        text += fmt::format(" {}-a '{}'", option.positional ? "" : "-x ",
                            fmt::join(option.choices, " "));
      else if (option.value == Value::kFile)
        text += option.positional ? " -F" : " -r -F";
      else if (option.value == Value::kDirectory)
        text += " -x -a '(__fish_complete_directories)'";
      else if (option.value == Value::kOther)
        text += " -x";
      std::string description = shell_text(option.description, "\\");
      for (std::size_t k = 0; (k = description.find("'\\''", k)) != std::string::npos;)
        description.replace(k, 4, "\\'");
      text += fmt::format(" -d '{}'\n", description);
    }
  };
  add(program, "__fish_use_subcommand");
  for (const CommandText& command : commands)
    text += fmt::format("complete -c synergraph -n __fish_use_subcommand -a {} -d '{}'\n",
                        command.name, shell_text(command.description, "'\\"));
  text += fmt::format(
      "complete -c synergraph -n __fish_use_subcommand -a help -d 'Show the help of a command'\n"
      "complete -c synergraph -n '__fish_seen_subcommand_from help' -a '{}'\n",
      names_of(commands));
  for (const CommandText& command : commands)
    add(command, "__fish_seen_subcommand_from " + command.name);
  return text;
}

}  // namespace

void add_completions_command(CLI::App& app) {
  add_command<CompletionsSettings>(
      app, "completions", "Print what a shell needs to complete commands, options and their values",
      kCompletionsFooter, [&app](CompletionsSettings& settings) {
        const CommandText program = describe(app);
        const std::vector<CommandText> commands = describe_commands(app);
        switch (settings.shell.value()) {
          case Shell::kBash:
            return print(bash(program, commands));
          case Shell::kZsh:
            return print(zsh(program, commands));
          case Shell::kFish:
            return print(fish(program, commands));
        }
      });
}

}  // namespace synergraph::cli
