// What holds for every command: how it reads numbers, what it says to a terminal, when it fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "synergraph/core/terminal.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_program.h"
#include "tests/support/run_terminal.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class ProgramCommand : public testing_support::ProgramTest {
 protected:
  /// Random attention (samples, heads, n, n) under a tensor's name, a layer each.
  void write_attention(const std::string& file, const std::vector<std::string>& layers, int heads,
                       int n) const {
    RandomSequence draws(7, Purpose::kTest);
    const std::int64_t samples = 2;
    std::vector<std::vector<double>> values(layers.size());
    std::vector<TensorData> tensors;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (std::int64_t k = 0; k < samples * heads; ++k) {
        const Matrix matrix = testing_support::random_attention(n, 2.0, draws);
        for (int i = 0; i < n; ++i)
          values[l].insert(values[l].end(), matrix.row(i), matrix.row(i) + n);
      }
      tensors.push_back(tensor_data(layers[l], {samples, heads, n, n}, values[l].data()));
    }
    write_safetensors(path(file), tensors, {{"note", "red \x1b[31mtext\nand more"}});
  }

  std::string on_terminal(const std::string& arguments, int columns) const {
    return testing_support::run_on_terminal(
        "cd '" + directory_.string() + "' && '" SYNERGRAPH_CLI "' " + arguments, columns);
  }

  /// No line is wider than the terminal. A line that is redrawn counts for itself.
  void expect_fits(const std::string& arguments, int columns) const {
    std::string text = on_terminal(arguments, columns);
    EXPECT_FALSE(text.empty());
    const std::string erase = "\x1b[K";
    for (std::size_t k = 0; (k = text.find(erase, k)) != std::string::npos;)
      text.erase(k, erase.size());
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << arguments << '\n'
                                                                        << line;
      EXPECT_EQ(printable(line), line);
      begin = end + 1;
    }
  }

  const std::string small_training_ =
      "--layers 2 --width 8 --hidden 8 --vocabulary 12 --length 8 --sequences 60 --batch 10 "
      "--epochs 2 ";
};

TEST_F(ProgramCommand, NumbersAreReadStrictly) {
  const std::string seed = "--seed: expected a whole number from 0 to 18446744073709551615, got ";
  for (const std::string command :
       {"graph --example 1", "analyze x.npy", "train --out run", "verify --checkpoints ."}) {
    expect_refusal(command + " --seed -1", 2, seed + "'-1'");
    expect_refusal(command + " --seed 18446744073709551616", 2, seed + "'18446744073709551616'");
    for (const char* other : {"1.5", "1e3", "0x10", "nan", "' 1'", "1x"})
      expect_refusal(command + " --seed " + other, 2, seed);
    expect_refusal(command + " --seed ''", 2, "--seed: the value is empty");
  }
  expect_refusal("reproduce --out study --seed-list 1,-1", 2, "--seed-list: expected a whole");
  for (const std::string command :
       {"graph --example 1", "analyze x.npy", "reproduce --out study"}) {
    for (const std::string eps : {"nan", "-nan", "inf", "0", "-0.5", "1.5", "1e-400", "0.25,nan"})
      expect_refusal(command + " --eps " + eps, 2,
                     "--eps: expected a number above 0, at most 1, got ");
    expect_refusal(command + " --threads 5000", 2,
                   "--threads: expected a whole number from 0 to 4096");
  }
  for (const std::string command : {"train --out run", "reproduce --out study"})
    for (const std::string seconds : {"nan", "-1", "inf", "1e999"})
      expect_refusal(command + " --checkpoint-every " + seconds, 2,
                     "--checkpoint-every: expected a finite number of at least 0, got ");
  for (const std::string tolerance : {"nan", "-1", "2"})
    expect_refusal("analyze x.npy --row-tolerance " + tolerance, 2,
                   "--row-tolerance: expected a number from 0 to 1, got ");
  expect_refusal("train --out run --learning-rate nan", 2, "--learning-rate: expected a finite");
}

TEST_F(ProgramCommand, AWholeSeedIsTaken) {
  const auto largest = run("graph --example 1 --monte-carlo 10 --json --seed 18446744073709551615");
  ASSERT_EQ(largest.status, 0) << largest.err;
  EXPECT_NE(
      json::parse(largest.out)["monte_carlo"],
      json::parse(run("graph --example 1 --monte-carlo 10 --json --seed 010").out)["monte_carlo"]);
  // Decimal, whatever it begins with.
  EXPECT_EQ(run("graph --example 1 --monte-carlo 10 --json --seed 010").out,
            run("graph --example 1 --monte-carlo 10 --json --seed 10").out);
}

TEST_F(ProgramCommand, AListIsOneArgument) {
  write("g.txt", "nodes 3\nhead a\n0 -> 1\n1 -> 2\n");
  const std::string table = run("graph g.txt --eps 0.1,0.2").out;
  EXPECT_THAT(table, HasSubstr("T_mix(0.2)"));
  EXPECT_EQ(run("graph --eps 0.1,0.2 g.txt").out, table);
  EXPECT_EQ(run("graph --eps 0.1 --eps 0.2 g.txt").out, table);
  expect_refusal("graph --figure-names a --figure f.gif g.txt", 2, "f.gif");
  expect_refusal("reproduce --tasks copy cycle --out study", 2, "cycle");
  expect_refusal("reproduce --heads 1 4 --out study", 2, "4");
}

TEST_F(ProgramCommand, AMissingValueAndOneTooManyAreSaidPlainly) {
  const std::string missing =
      "--json: FILE is missing: write everything as JSON; - for standard output";
  expect_refusal("analyze a.npy --json", 2, missing);
  expect_refusal("analyze --json --quiet a.npy", 2, missing);
  expect_refusal("graph --example 1 --eps", 2, "--eps: NUMBER is missing: threshold of T_mix");
  expect_refusal("train --out run --data x --targets y --validation x", 2,
                 "--validation: FILE FILE is missing");
  expect_refusal("graph --example 1 --dot a --dot b", 2, "--dot is given twice");
  expect_refusal("graph --example 1 --seed=1 --seed 2", 2, "--seed is given twice");
}

TEST_F(ProgramCommand, MessagesAreShort) {
  const std::string digits(400, '9');
  for (const std::string option :
       {"--seed ", "--eps ", "--horizon ", "--cutoff ", "--weights 1,x"}) {
    const auto outcome = run("graph --example 1 " + option + digits);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_LT(outcome.err.size(), 180U) << outcome.err;
  }
  // Whatever a message quotes, a file may make it long.
  const std::string name(4000, 'n');
  const std::string graph = "nodes " + name + " b\nhead " + name + "\n";
  for (const std::string& text :
       {name, "nodes " + name + ' ' + name, "nodes 2\nhead a " + name, graph + name + " -> c",
        "nodes 2\nhead\n0 -> " + name, "nodes 2\nhead\n0 -> 1 : " + name, graph + "2 -> b",
        graph + name + " -> b\n" + name + " -> b", "nodes 2\nhead " + name + " matrix\n1"}) {
    write("long.txt", text + '\n');
    const auto outcome = run("graph long.txt");
    EXPECT_EQ(outcome.status, 1) << text;
    EXPECT_LT(outcome.err.size(), 180U) << outcome.err;
  }
  for (const std::string& generator : {name, "chain:" + name, "random:3:" + name, "star:3:" + name})
    EXPECT_LT(run("graph --generate " + generator).err.size(), 200U) << generator;
  const double value = 1.0;
  write_safetensors(path("a.safetensors"),
                    std::vector{tensor_data("decoder.embed.weight", {1, 1}, &value)},
                    {{"heads", name}});
  EXPECT_LT(run("analyze a.safetensors").err.size(), 180U) << run("analyze a.safetensors").err;
}

TEST_F(ProgramCommand, OutputThatCannotBeWrittenIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  write_attention("a.safetensors", {"0"}, 2, 4);
  for (const std::string command :
       {"graph --example 1", "graph --example 1 --json", "graph --example 1 --csv",
        "analyze a.safetensors --quiet", "analyze a.safetensors --quiet --json -",
        "inspect a.safetensors", "inspect a.safetensors --json", "--help", "--version",
        "graph --help", "man", "completions bash", "help graph"}) {
    const auto outcome = run(command + " >/dev/full 2>message; echo $?");
    EXPECT_EQ(outcome.out, "1\n") << command;
    EXPECT_EQ(read("message"),
              "synergraph: standard output: cannot write: No space left on device\n")
        << command;
  }
  EXPECT_EQ(run("train --quiet " + small_training_ + "--out run >/dev/full 2>message; echo $?").out,
            "1\n");
}

TEST_F(ProgramCommand, AClosedOutputIsAnErrorAndNoFileTakesItsPlace) {
  const auto outcome = run("graph --example 1 --curves c.csv >&- 2>message; echo $?");
  EXPECT_EQ(outcome.out, "1\n");
  EXPECT_THAT(read("message"), HasSubstr("standard output: cannot write"));
  EXPECT_EQ(read("c.csv").rfind("head,step,", 0), 0U);
  EXPECT_THAT(read("c.csv"), Not(HasSubstr("best head")));
  // A training holds files open while it reports.
  run("train " + small_training_ + "--threads 1 --out run >&- 2>&-; true");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / "run")) {
    const std::string text = read(std::filesystem::relative(entry.path(), directory_).string());
    EXPECT_THAT(text, Not(HasSubstr(" steps"))) << entry.path();
  }
}

TEST_F(ProgramCommand, NamesCannotCommandATerminal) {
  const std::string red = "\x1b[31mred";
  write("g.txt",
        "nodes \"" + red + "\\n\" b\nhead \"h " + red + "\\r\\n\"\n\"" + red + "\\n\" -> b\n");
  write_attention("a.safetensors", {"layer\x1b[2J\none", "layer\r2"}, 2, 4);
  for (const std::string command :
       {"graph g.txt", "graph g.txt --json", "analyze a.safetensors --per-head --quiet",
        "analyze a.safetensors --quiet --json -", "inspect a.safetensors",
        "inspect a.safetensors --json"}) {
    const auto outcome = run(command);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(testing::ContainsRegex("[\x01-\x09\x0b-\x1f\x7f]"))) << command;
  }
  EXPECT_THAT(run("graph g.txt").out, HasSubstr("best head         h \\x1b[31mred\\x0d\\x0a ("));
  EXPECT_THAT(run("analyze a.safetensors --quiet").out, HasSubstr("\nlayer\\x1b[2J\\x0aone  "));
  EXPECT_THAT(run("inspect a.safetensors").out, HasSubstr("red \\x1b[31mtext\\x0aand more\n"));
  // CSV keeps what it is given, but not on a terminal.
  EXPECT_THAT(run("graph g.txt --csv").out, HasSubstr("h " + red));
  EXPECT_THAT(on_terminal("graph g.txt --csv", 80), HasSubstr("h \\x1b[31mred"));
  // Nor does a file that is one.
  for (const std::string command :
       {"graph g.txt --curves /dev/stdout", "graph g.txt --text /dev/stderr",
        "graph g.txt --curves $(tty)", "analyze a.safetensors --quiet --per-sample /dev/stdout"}) {
    const std::string shown =
        on_terminal(command + " | cat >/dev/null", 80) + on_terminal(command, 80);
    EXPECT_THAT(shown, Not(testing::ContainsRegex("[\x01-\x09\x0b-\x1f\x7f]"))) << command;
    EXPECT_THAT(shown, HasSubstr("\\x1b[")) << command;
  }
}

TEST_F(ProgramCommand, ErrorsAreOneLineWhateverTheNames) {
  const double bad = 2.0;
  const std::vector<TensorData> tensors = {tensor_data("x\x1b[2J\ny", {1, 1, 1}, &bad)};
  write_safetensors(path("a.safetensors"), tensors, {});
  expect_refusal("analyze a.safetensors", 1, "x\\x1b[2J\\x0ay");
  expect_refusal("inspect \"$(printf 'no\\nfile\\033')\"", 1, "no\\x0afile\\x1b: cannot");
  expect_refusal("graph \"$(printf 'no\\nfile\\033')\"", 1, "no\\x0afile\\x1b: cannot");
  expect_refusal("graph --example 1 \"$(printf -- '--a\\033')\"", 2, "'--a\\x1b'");
  expect_refusal("\"$(printf 'a\\033')\"", 2, "'a\\x1b' is not a command");
}

TEST_F(ProgramCommand, EveryCommandFitsTheTerminal) {
  write_attention("a.safetensors",
                  {"transformer.h.0.attention.probabilities", "transformer.h.1", "東京"}, 3, 9);
  write("long.txt",
        "nodes \"a node with a rather long name indeed\" b c\n"
        "head \"a head with a name that would fill a good part of any line on its own\"\n"
        "head short\n");
  const std::vector<std::string> commands = {
      "graph --example 1",
      "graph --generate random:30:0.3 --generate powers:30 --eps 0.5,0.25,0.1,0.01,0.001,1e-6",
      "graph long.txt --monte-carlo 10",
      "analyze a.safetensors --per-head --convention both --eps 0.25,0.1,0.01",
      "inspect a.safetensors",
      "train " + small_training_ + "--threads 1 --out run-$$"};
  for (const int columns : {40, 60, 80, 132})
    for (const std::string& command : commands) expect_fits(command, columns);
  for (const int columns : {60, 80})
    for (const char* command : {"", "analyze", "graph", "train", "reproduce", "verify", "inspect"})
      expect_fits(std::string(command) + " --help", columns);
  // Nothing is lost: every column's title is there, and there is room for all in a pipe.
  const std::string narrow = on_terminal("graph --example 1", 60);
  const std::string wide = run("graph --example 1").out;
  for (const char* title : {"weight", "bound", "T_mix(0.25)", "hit mean", "hit max", "hit cut",
                            "fidelity", "node", "at step"}) {
    EXPECT_THAT(narrow, HasSubstr(title));
    EXPECT_THAT(wide.substr(0, wide.find('\n')), HasSubstr(title));
  }
}

TEST_F(ProgramCommand, VerifyAndReproduceFitTheTerminal) {
  ASSERT_EQ(run("train --epochs 0 --sequences 50 --quiet --heads 4 --task copy --out run").status,
            0);
  std::filesystem::create_directories(directory_ / "models");
  std::filesystem::rename(directory_ / "run" / "model.safetensors",
                          directory_ / "models" / "4_heads_copy.safetensors");
  for (const int columns : {60, 80}) {
    expect_fits("verify --checkpoints models --samples 5", columns);
    expect_fits("reproduce --heads 1,2 --samples 20 " + small_training_ + "--out study-$$",
                columns);
  }
}

TEST_F(ProgramCommand, ADashIsStandardInput) {
  write("heads.txt", "nodes u v tau\nhead a\nu -> v\nhead b\nv -> tau\n");
  EXPECT_EQ(run("graph - --json < heads.txt").out, run("graph heads.txt --json").out);
  EXPECT_THAT(run("graph - < heads.txt").out, HasSubstr("combined"));
  write("bad.txt", "nodes 2\nhead\n1 -> 0\n");
  expect_refusal("graph - < bad.txt", 1, "standard input:3: edge 1 -> 0 goes backward");
  write_attention("a.safetensors", {"0", "1"}, 2, 4);
  EXPECT_EQ(run("--version >/dev/null; cat a.safetensors | '" SYNERGRAPH_CLI
                "' analyze - --quiet --json -")
                .out,
            run("analyze a.safetensors --quiet --json -").out);
  EXPECT_EQ(run("convert - copy.safetensors < a.safetensors").status, 0);
  EXPECT_EQ(read("copy.safetensors"), read("a.safetensors"));
  EXPECT_THAT(run("inspect - < a.safetensors").out,
              testing::StartsWith("standard input: safetensors, 2 tensors, "));
  expect_refusal("inspect - < heads.txt", 1, "standard input: unknown format");
  expect_refusal("graph - <&-", 1, "standard input: cannot read");
}

TEST_F(ProgramCommand, SaysWhatItDidNotUnderstandAndWhatThereIs) {
  const std::string all =
      "analyze, compare, convert, graph, families, design, heads, inspect, reproduce, schema, "
      "status, train, verify, completions, man";
  expect_refusal("foo", 2, "'foo' is not a command. The commands are " + all);
  expect_refusal("grpah", 2,
                 "'grpah' is not a command: did you mean 'graph'? The commands are " + all);
  expect_refusal("repro", 2, "did you mean 'reproduce'?");
  expect_refusal("help foo", 2, "'foo' is not a command");
  expect_refusal("help graph foo", 2, "help takes one command, not also 'foo'");
  expect_refusal("", 2, "give a command: " + all);
  expect_refusal("graph --exmaple 1", 2,
                 "graph has no option '--exmaple': did you mean '--example'?");
  expect_refusal("train --otu run", 2, "train has no option '--otu': did you mean '--out'?");
  expect_refusal("graph --zzzzzzzzzz", 2, "graph has no option '--zzzzzzzzzz'.\n");
  expect_refusal("--verison", 2, "synergraph has no option '--verison': did you mean '--version'?");
  // A value may look like an option.
  expect_refusal("graph --example 1 --curves=--x/y", 1, "--x/y");
  expect_refusal("graph --example -1", 2,
                 "--example: expected a whole number from 1 to 2, got '-1'");
}

TEST_F(ProgramCommand, HelpIsACommandToo) {
  EXPECT_EQ(run("help").out, run("--help").out);
  EXPECT_EQ(run("help graph").out, run("graph --help").out);
  EXPECT_THAT(run("help").out, HasSubstr("reproduce"));
  EXPECT_EQ(run("help").status, 0);
  EXPECT_THAT(run("--help").out, HasSubstr("help COMMAND"));
}

}  // namespace
}  // namespace synergraph
