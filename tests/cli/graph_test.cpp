#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/core/instruction_set.h"
#include "synergraph/core/version.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;
using GraphCommand = testing_support::ProgramTest;

TEST_F(GraphCommand, PrintsTheWorkedExamples) {
  const auto first = run("graph --example 1");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("combined"), std::string::npos);
  EXPECT_NE(first.out.find("never"), std::string::npos);

  const json one = json::parse(run("graph --example 1 --json --eps 0.25,0.05").out);
  EXPECT_EQ(one["schema"], "synergraph.graph");
  EXPECT_EQ(one["schema_version"], 1);
  EXPECT_EQ(one["combined"]["mixing_time"][0]["steps"], 10);
  EXPECT_EQ(one["combined"]["mixing_time"][1]["steps"], 18);
  EXPECT_TRUE(one["heads"][0]["mixing_time"][0]["steps"].is_null());
  EXPECT_TRUE(one["synergy"].is_null());
  EXPECT_EQ(one["synergy_present"], true);
  EXPECT_EQ(one["mixing_synergy_present"], true);

  const json two = json::parse(run("graph --example 2 --json").out);
  EXPECT_NEAR(two["heads"][0]["minimax_fidelity"]["value"].get<double>(), 0.375, 1e-12);
  EXPECT_NEAR(two["heads"][1]["minimax_fidelity"]["value"].get<double>(), 0.25, 1e-12);
  EXPECT_NEAR(two["combined"]["minimax_fidelity"]["value"].get<double>(), 5.0 / 12, 1e-12);
  EXPECT_EQ(two["combined"]["minimax_fidelity"]["certified"], true);
  EXPECT_EQ(two["combined"]["minimax_fidelity"]["node"], "w");
  EXPECT_EQ(two["best_head"], "Head 1");
}

TEST_F(GraphCommand, ReadsAFileAndWritesItBack) {
  write("heads.txt",
        "nodes u v tau\nhead a weight 3\nu -> v\nhead \"b c\" weight 1\nv -> tau : 2\n");
  const auto outcome =
      run("graph heads.txt --json --text again.txt --dot heads.dot --curves curves.csv --steps 5");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(run("graph again.txt --json").out, run("graph heads.txt --json").out);
  EXPECT_EQ(read("heads.dot").rfind("digraph", 0), 0U);
  const std::string curves = read("curves.csv");
  EXPECT_EQ(curves.rfind("head,step,u,v,tau\na,0,0,0,1\n", 0), 0U) << curves;
  EXPECT_EQ(std::count(curves.begin(), curves.end(), '\n'), 1 + 3 * 6);
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["heads"][0]["weight"], 0.75);
  EXPECT_EQ(json::parse(run("graph heads.txt --json --weights 1,1").out)["heads"][0]["weight"],
            0.5);
  // What is written is what was measured.
  EXPECT_EQ(run("graph heads.txt --weights 1,4 --text weighed.txt").status, 0);
  EXPECT_EQ(json::parse(run("graph weighed.txt --json").out)["heads"][0]["weight"], 0.2);
}

TEST_F(GraphCommand, CsvHasOneRowAHeadAndOneForAll) {
  const std::string csv = run("graph --generate chain:8 --generate complete:8 --csv").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  const std::size_t columns = static_cast<std::size_t>(
      std::count(csv.begin(), csv.begin() + static_cast<std::ptrdiff_t>(csv.find('\n')), ','));
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), ',')), 4 * columns);
}

TEST_F(GraphCommand, DrawsFiguresInEveryFormat) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "gnuplot is not installed";
  const std::vector<std::pair<std::string, std::string>> formats = {
      {"svg", "<?xml"}, {"pdf", "%PDF"}, {"png", "\x89PNG"}};
  for (const auto& [ending, magic] : formats) {
    const auto outcome = run("graph --example 2 --figure figure." + ending);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(read("figure." + ending).rfind(magic, 0), 0U) << ending;
  }
  // Many nodes, many heads, and names that mean something to gnuplot.
  write("odd.txt", "nodes a_b \"{x}\" '\"\nhead \"it's _{1} \\\\\" \nhead \"100% @~&\"\n");
  EXPECT_EQ(run("graph odd.txt --figure odd.svg").status, 0);
  EXPECT_EQ(
      run("graph --generate random:60:0.1 --generate chain:60 --figure many.png --steps 50").status,
      0);
}

TEST_F(GraphCommand, ResultsDoNotDependOnThreads) {
  const std::string arguments =
      "graph --generate random:300:0.02:3 --generate chain:300 --json --monte-carlo 20 --eps "
      "0.25,1e-6";
  const std::string one = run(arguments + " --threads 1").out;
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(run(arguments + " --threads 2").out, one);
  EXPECT_EQ(run(arguments + " --threads 7").out, one);
}

TEST_F(GraphCommand, ConventionsDiffer) {
  const json exact = json::parse(run("graph --example 2 --json").out);
  const json published = json::parse(run("graph --example 2 --json --convention published").out);
  EXPECT_EQ(exact["settings"]["normalization"], "per-head");
  EXPECT_EQ(exact["settings"]["horizon"], "certified");
  EXPECT_EQ(published["settings"]["normalization"], "published");
  EXPECT_EQ(published["settings"]["fidelity_nodes"], "all");
  EXPECT_EQ(published["settings"]["horizon"], 100);
  EXPECT_EQ(
      json::parse(run("graph --example 2 --json --convention published --normalization pooled")
                      .out)["settings"]["normalization"],
      "pooled");
}

TEST_F(GraphCommand, CurvesReachTheMinimaxTime) {
  const auto last_step = [&](const std::string& arguments) {
    const std::string csv = run("graph --curves - " + arguments).out;
    const std::size_t line = csv.rfind("\ncombined,");
    return line == std::string::npos ? -1 : std::stoi(csv.substr(line + 10));
  };
  EXPECT_EQ(last_step("--example 1"), 20);
  const json slow = json::parse(run("graph --generate chain:40 --json").out);
  const double time = slow["combined"]["minimax_fidelity"]["time"].get<double>();
  ASSERT_GT(time, 20.0);
  EXPECT_EQ(last_step("--generate chain:40"), std::ceil(1.25 * time));
  EXPECT_EQ(last_step("--generate chain:2000"), 400);
  EXPECT_EQ(last_step("--generate chain:40 --steps 7"), 7);
}

TEST_F(GraphCommand, AStepLimitIsNotCalledCertified) {
  const std::string limited = run("graph --generate chain:30 --step-limit 8").out;
  EXPECT_NE(limited.find("horizon at most 8 steps"), std::string::npos) << limited;
  EXPECT_EQ(limited.find("horizon certified"), std::string::npos);
  EXPECT_NE(run("graph --generate chain:30").out.find("horizon certified"), std::string::npos);
}

TEST_F(GraphCommand, HelpTellsTheDefaultsOfTheMeasurement) {
  const std::string graph = run("graph --help").out;
  const std::string analyze = run("analyze --help").out;
  for (const std::string& help : {graph, analyze})
    for (const char* value :
         {"(default: pooled; per-head for graphs;", "(default: sources;", "(default: certified;"})
      EXPECT_NE(help.find(value), std::string::npos) << help;
}

TEST_F(GraphCommand, BadWeightsAreTracedToWhereTheyStand) {
  write("zero.txt", "nodes 2\nhead a weight 0\n0 -> 1\n");
  expect_refusal("graph zero.txt", 1, "zero.txt: all head weights are zero");
  expect_refusal("graph zero.txt --weights 0", 1, "--weights: all head weights are zero");
  EXPECT_EQ(run("graph zero.txt --weights 1").status, 0);
}

TEST_F(GraphCommand, RefusesBadUsageWithStatus2) {
  expect_refusal("graph", 2, "give one of FILE, --example or --generate");
  expect_refusal("graph --example 3", 2, "--example: expected a whole number from 1 to 2, got '3'");
  expect_refusal("graph --example 1 --generate chain:4", 2, "give one of");
  expect_refusal("graph --generate ring:4", 2, "unknown generator 'ring'");
  expect_refusal("graph --generate window:4", 2, "expected window:N:WIDTH");
  expect_refusal("graph --example 1 --json --csv", 2, "exclude each other");
  for (const std::string list : {"0.1,,0.2", "0.1,", ",0.1"})
    expect_refusal("graph --example 1 --eps " + list, 2,
                   "--eps: expected a number above 0, at most");
  expect_refusal("graph --example 1 --eps 0", 2,
                 "--eps: expected a number above 0, at most 1, got '0'");
  expect_refusal("graph --example 1 --eps nan", 2,
                 "--eps: expected a number above 0, at most 1, got 'nan'");
  expect_refusal("graph --example 1 --horizon soon", 2, "--horizon: expected 'certified'");
  expect_refusal("graph --example 1 --horizon -3", 2, "--horizon");
  for (const std::string weight : {"x", "-2", "nan"})
    expect_refusal("graph --example 1 --weights 1," + weight, 2,
                   "--weights: expected a finite number of at least 0, got '" + weight + "'");
  expect_refusal("graph --example 1 --normalization none", 2, "--normalization");
  expect_refusal("graph --example 1 --figure figure.bmp", 2, "a figure ends in .svg, .pdf or .png");
  expect_refusal("graph --example 1 --no-self-loops", 2, "--no-self-loops goes with --generate");
  expect_refusal("graph --example 1 --frobnicate", 2, "--frobnicate");
}

TEST_F(GraphCommand, RefusesBadDataWithStatus1) {
  expect_refusal("graph missing.txt", 1, "missing.txt: cannot read: No such file or directory");
  expect_refusal("graph .", 1, ".: cannot read");
  expect_refusal("graph --generate chain:0", 1, "between 1 and 16384 nodes, not 0");
  expect_refusal("graph --generate complete:1000000000", 1, "not 1000000000");
  expect_refusal("graph --generate chain:4 --generate chain:5", 1,
                 "has 4 nodes, head 'chain:5' has 5");
  expect_refusal("graph --generate random:5:nan", 1, "edge probability");
  expect_refusal("graph --example 1 --weights 1,2,3", 1, "3 weights for 2 heads");
  expect_refusal("graph --example 1 --weights 0,0", 1, "all head weights are zero");
  expect_refusal("graph --example 1 --curves missing/curves.csv", 1,
                 "missing/curves.csv: cannot write");
  write("empty.txt", "");
  expect_refusal("graph empty.txt", 1, "empty.txt: the file is empty");
  write("backward.txt", "nodes 3\nhead\n0 -> 1\n2 -> 1\n");
  expect_refusal("graph backward.txt --curves c.csv --figure f.svg", 1,
                 "backward.txt:4: edge 2 -> 1 goes backward");
  write("range.txt", "nodes 3\nhead\n0 -> 7\n");
  expect_refusal("graph range.txt", 1, "range.txt:3: node 7 is out of range");
  write("rows.txt", "nodes 2\nhead matrix\n1 0\n0.5 0.6\n");
  expect_refusal("graph rows.txt", 1, "row 1 sums to 1.1, expected 1");
  write("nan.txt", "nodes 2\nhead matrix\n1 0\nnan 0.5\n");
  expect_refusal("graph nan.txt", 1, "entry nan in row 1, column 0 is not finite");
  write("zero.txt", "nodes 2\nhead weight 0\n0 -> 1\n");
  expect_refusal("graph zero.txt", 1, "all head weights are zero");
  write("binary.txt", std::string("nodes 2\nhead\n\x01\x02\x00 ->\n", 19));
  expect_refusal("graph binary.txt", 1, "binary.txt:3: ");
}

TEST_F(GraphCommand, ExplainsItself) {
  const auto help = run("graph --help");
  EXPECT_EQ(help.status, 0);
  for (const char* word :
       {"--example", "--generate", "--json", "--csv", "--curves", "--figure", "chain:N"})
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
}

TEST_F(GraphCommand, NamesItsInstructionSetAndTakesAnother) {
  EXPECT_EQ(run("--version")
                .out.find(std::string("synergraph ") + kVersion + " (" + instruction_set() + ")\n"),
            0U);
  const auto isa_of_results = [&] {
    return json::parse(run("graph --example 1 --json").out)["isa"];
  };
  EXPECT_EQ(isa_of_results(), instruction_set());
#if defined(__x86_64__)
  setenv("SYNERGRAPH_ISA", "v2", 1);
  EXPECT_NE(run("--version").out.find("(x86-64-v2)"), std::string::npos);
  EXPECT_EQ(isa_of_results(), "x86-64-v2");
#endif
  for (const char* unknown : {"v9", "native", "v2 "}) {
    setenv("SYNERGRAPH_ISA", unknown, 1);
    for (const char* command : {"--version", "graph --example 1", "inspect none.npy"})
      expect_refusal(command, 2, std::string("SYNERGRAPH_ISA is '") + unknown + "', this CPU and");
  }
  unsetenv("SYNERGRAPH_ISA");
}

TEST_F(GraphCommand, GivesTheTimeOfAnAttainedFidelityAndItsShare) {
  const json chains = json::parse(
      run("graph --generate chain:10 --generate chain:10 --no-self-loops --weights 99,1 --json")
          .out);
  EXPECT_EQ(chains["combined"]["minimax_fidelity"]["time"], 9);
  EXPECT_NEAR(chains["cross_head_share"].get<double>(), 1 - std::pow(.99, 9) - std::pow(.01, 9),
              1e-14);
  const std::string matrix = " matrix\n1 0 0 0\n0 1 0 0\n0 .5 .5 0\n.125 0 .875 0\n";
  write("copies.txt", "nodes 4\nhead a weight 9" + matrix + "head b weight 1" + matrix);
  const json copies = json::parse(run("graph copies.txt --json").out);
  EXPECT_EQ(copies["combined"]["minimax_fidelity"]["time"], 1);
  EXPECT_EQ(copies["cross_head_share"], 0);
  EXPECT_EQ(copies["synergy"], 1);
  EXPECT_EQ(copies["synergy_present"], false);
}

TEST_F(GraphCommand, ReadsWeightsOfAnySize) {
  write("tiny.txt", "nodes 3\nself-loops off\nhead a\n0 -> 1 : 1e-310\n0 -> 2 : 1e-310\n1 -> 2\n");
  const json tiny = json::parse(run("graph tiny.txt --json").out)["combined"];
  EXPECT_EQ(tiny["mixing_time"][0]["steps"], 2);
  EXPECT_NEAR(tiny["hitting_time"]["mean"].get<double>(), 5.0 / 6, 1e-14);
  write("huge.txt", "nodes 3\nhead a\n0 -> 1 : 1e308\n0 -> 2 : 1e308\n1 -> 2\n");
  const json huge = json::parse(run("graph huge.txt --json").out)["combined"];
  EXPECT_EQ(huge["forward_probability"], 0.5);
  EXPECT_EQ(huge["mixing_time"][0]["steps"], 2);
  EXPECT_EQ(huge["minimax_fidelity"]["certified"], true);
}

// JSON lists every node, so every node is certified there.
TEST_F(GraphCommand, CertifiesEveryNodeItLists) {
  const json star = json::parse(
      run("graph --generate star:8 --generate complete:8 --weights 999,1 --json").out)["combined"];
  EXPECT_NEAR(star["node_fidelity"][1].get<double>(), 0.1901, 5e-5);
  EXPECT_EQ(star["optimal_time"][1], 1297);
  EXPECT_EQ(star["node_fidelity"], star["node_fidelity_upper"]);
}

TEST_F(GraphCommand, SaysWhatIntervalsLeaveOpen) {
  write("slow.txt",
        "nodes 3\nhead slow matrix\n1 0 0\n1e-8 0.99999999 0\n0 1e-8 0.99999999\n"
        "head fast matrix\n1 0 0\n.9 .1 0\n.9 .0625 .0375\n");
  const json exact = json::parse(run("graph slow.txt --json").out);
  EXPECT_EQ(exact["best_head"], "slow");
  EXPECT_EQ(exact["best_head_decided"], true);
  EXPECT_NEAR(exact["synergy"].get<double>(), 0.0908, 5e-5);
  const json limited = json::parse(run("graph slow.txt --step-limit 1000 --json").out);
  EXPECT_EQ(limited["best_head_decided"], false);
  EXPECT_TRUE(limited["synergy"].is_null());
  EXPECT_LT(limited["synergy_lower"], exact["synergy"]);
  EXPECT_GT(limited["synergy_upper"], exact["synergy"]);
  const std::string text = run("graph slow.txt --step-limit 1000").out;
  EXPECT_NE(text.find("not certified"), std::string::npos) << text;
}

using FamiliesCommand = testing_support::ProgramTest;

TEST_F(FamiliesCommand, MeasuresItsDefaults) {
  const auto outcome = run("families --graphs 1 --csv -");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1 + 8 * 6);
}

}  // namespace
}  // namespace synergraph
