// Completions and the manual page, which the program writes from its own options.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kCommands = {"analyze", "completions", "convert", "graph", "inspect",
                                            "man",     "reproduce",   "train",   "verify"};

class CompletionsTest : public testing_support::ProgramTest {
 protected:
  /// What a shell command prints, in the test's directory.
  std::string shell(const std::string& line) const {
    const auto outcome = run("--version >/dev/null; { " + line + "; }");
    return outcome.out + outcome.err;
  }
  bool has(const std::string& program) const { return shell("command -v " + program) != ""; }
  /// The options that a command's help shows.
  std::set<std::string> options_of(const std::string& command) const {
    const std::string help = run(command + " --help").out;
    const std::regex option("^  (?:-h,)?(--[a-z0-9-]+)", std::regex::multiline);
    std::set<std::string> names;
    for (std::sregex_iterator match(help.begin(), help.end(), option), end; match != end; ++match)
      names.insert((*match)[1]);
    return names;
  }
  /// What bash offers after these words.
  std::string offered(const std::string& words) const {
    write("try.sh", "source ./bash.txt\nCOMP_WORDS=(" + words +
                        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_synergraph\n"
                        "printf '%s|' \"${COMPREPLY[@]}\"\n");
    return shell("bash try.sh");
  }
};

TEST_F(CompletionsTest, BashOffersCommandsOptionsValuesAndFiles) {
  write("bash.txt", run("completions bash").out);
  EXPECT_EQ(shell("bash -n bash.txt"), "");
  EXPECT_EQ(offered("synergraph re"), "reproduce|");
  EXPECT_THAT(offered("synergraph ''"), HasSubstr("graph|"));
  EXPECT_EQ(offered("synergraph --v"), "--version|");
  EXPECT_EQ(offered("synergraph graph --conv"), "--convention|");
  EXPECT_EQ(offered("synergraph graph --convention ''"), "exact|published|");
  EXPECT_EQ(offered("synergraph analyze --convention b"), "both|");
  EXPECT_EQ(offered("synergraph completions ''"), "bash|zsh|fish|");
  EXPECT_EQ(offered("synergraph help tr"), "train|");
  write("some file.txt", "");
  std::filesystem::create_directories(directory_ / "some folder");
  EXPECT_EQ(offered("synergraph graph some"), "some folder|some file.txt|");
  EXPECT_EQ(offered("synergraph graph --dot some"), "some folder|some file.txt|");
  EXPECT_EQ(offered("synergraph train --out some"), "some folder|");
  EXPECT_EQ(offered("synergraph graph --seed ''"), "|");
}

TEST_F(CompletionsTest, NoOptionIsForgotten) {
  const std::string bash = run("completions bash").out;
  const std::string zsh = run("completions zsh").out;
  const std::string fish = run("completions fish").out;
  const std::string man = run("man").out;
  std::size_t options = 0;
  for (const std::string& command : kCommands) {
    EXPECT_THAT(man, HasSubstr("\n.SS " + command + "\n"));
    for (const std::string& option : options_of(command)) {
      ++options;
      const std::string name = option.substr(2);
      EXPECT_THAT(bash, testing::ContainsRegex("  " + command + "\\).*'.*" + option + "[ ']"));
      EXPECT_THAT(zsh, testing::ContainsRegex("'\\*?" + option + "=?\\["));
      EXPECT_THAT(fish, testing::ContainsRegex("from " + command + "'.* -l " + name + " "));
      EXPECT_THAT(
          man, HasSubstr("\\fB\\-\\-" + std::regex_replace(name, std::regex("-"), "\\-") + "\\fR"));
    }
  }
  EXPECT_GT(options, 80U);
}

TEST_F(CompletionsTest, ZshAndFishReadTheirs) {
  bool tried = false;
  for (const std::string name : {"zsh", "fish"}) {
    if (!has(name)) continue;
    tried = true;
    write(name + ".txt", run("completions " + name).out);
    EXPECT_EQ(shell(name + " -n " + name + ".txt"), "");
  }
  if (!tried) GTEST_SKIP() << "neither zsh nor fish is installed";
}

TEST_F(CompletionsTest, TheManualPageIsCorrectRoff) {
  if (!has("groff")) GTEST_SKIP() << "groff is not installed";
  write("synergraph.1", run("man").out);
  EXPECT_EQ(shell("groff -man -ww -rLL=78n -Tutf8 -z synergraph.1"), "");
  const std::string page = shell("groff -man -Tascii -P-c synergraph.1 | sed 's/.\\x08//g'");
  EXPECT_THAT(page, HasSubstr("--generate chain:12 --generate complete:12 --weights 1,3"));
  EXPECT_THAT(page, HasSubstr("'attentions\\.[0-9]+$'"));
  EXPECT_THAT(page, HasSubstr("--range A:B"));
  EXPECT_THAT(page, HasSubstr("EXIT STATUS"));
  if (has("mandoc")) {
    EXPECT_EQ(shell("mandoc -T lint -W error synergraph.1"), "");
  }
}

TEST_F(CompletionsTest, RefusesOtherShells) {
  expect_refusal("completions", 2, "SHELL");
  expect_refusal("completions tcsh", 2, "tcsh");
}

}  // namespace
}  // namespace synergraph
