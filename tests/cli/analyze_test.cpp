#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "synergraph/heads/measure.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/model/parameters.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing_support::random_attention;

class AnalyzeTest : public testing_support::ProgramTest {
 protected:
  testing_support::Outcome expect_success(const std::string& arguments) const {
    testing_support::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.err;
    EXPECT_EQ(outcome.err, "") << arguments;
    return outcome;
  }
  void write_array(const std::string& name, const Shape& shape,
                   const std::vector<double>& values) const {
    write_npy(path(name), tensor_data("", shape, values.data()));
  }
  /// Random attention (count, n, n) written under a name; its matrices.
  std::vector<Matrix> write_random(const std::string& name, Shape shape) const {
    const auto n = static_cast<int>(shape.back());
    RandomSequence draws(5, Purpose::kTest, static_cast<std::uint32_t>(n));
    std::vector<Matrix> matrices;
    std::vector<double> values;
    while (static_cast<std::int64_t>(values.size()) < *element_count(shape)) {
      matrices.push_back(random_attention(n, 2.0, draws));
      for (int i = 0; i < n; ++i)
        values.insert(values.end(), matrices.back().row(i), matrices.back().row(i) + n);
    }
    write_array(name, shape, values);
    return matrices;
  }
  json analyze(const std::string& arguments) const {
    return json::parse(expect_success("analyze " + arguments + " --json -").out);
  }
  /// A small model that no one trained.
  Model write_model(const std::string& name) const {
    Model model({.vocabulary = 9, .length = 6, .width = 8, .heads = 2, .layers = 2, .hidden = 8});
    initialise(model, 3);
    std::vector<TensorData> tensors;
    for (const ParameterInfo& p : model.layout().tensors())
      tensors.push_back(tensor_data(p.name, p.shape, model.values().data() + p.offset));
    write_safetensors(path(name), tensors, {{"heads", "2"}});
    return model;
  }

  const std::vector<double> good_ = {1.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.25, 0.25, 0.5};
};

TEST_F(AnalyzeTest, AStackIsMeasuredSampleBySample) {
  constexpr std::size_t kSamples = 5;
  constexpr std::size_t kHeads = 3;
  const std::vector<Matrix> matrices = write_random("a.npy", {2, kSamples, kHeads, 7, 7});
  const json report = analyze("a.npy --per-head --weights 1,2,1 --convention both");
  ASSERT_EQ(report["schema"], "synergraph.analyze");
  ASSERT_EQ(report["conventions"].size(), 2U);
  const std::vector<double> weights = {0.25, 0.5, 0.25};
  for (std::size_t c = 0; c < 2; ++c) {
    const auto convention = c == 0 ? Convention::kExact : Convention::kPublished;
    const json& layers = report["conventions"][c]["layers"];
    ASSERT_EQ(layers.size(), 2U);
    for (std::size_t l = 0; l < 2; ++l) {
      double fidelity = 0.0;
      double truncated = 0.0;
      double best = 0.0;
      double share = 0.0;
      double first_head = 0.0;
      int synergies = 0;
      for (std::size_t s = 0; s < kSamples; ++s) {
        std::vector<Head> heads;
        for (std::size_t h = 0; h < kHeads; ++h)
          heads.push_back(head_of_attention("", matrices[(l * kSamples + s) * kHeads + h]));
        const HeadsMetrics m = measure_heads(heads, weights, convention_options(convention));
        fidelity += m.combined.fidelity.minimax / kSamples;
        truncated += m.combined.walk.truncated.mean / kSamples;
        best += m.synergy.best_head_fidelity / kSamples;
        share += m.cross_head_share / kSamples;
        first_head += m.heads.front().walk.truncated.mean / kSamples;
        synergies += m.synergy.value > 1.0 ? 1 : 0;
      }
      const json& layer = layers[l];
      const auto mean = [](const json& summary) { return summary["mean"].get<double>(); };
      EXPECT_NEAR(mean(layer["combined"]["minimax_fidelity"]), fidelity, 1e-13);
      EXPECT_NEAR(mean(layer["combined"]["truncated_hitting_mean"]), truncated, 1e-11);
      EXPECT_NEAR(mean(layer["best_head_fidelity"]), best, 1e-13);
      EXPECT_NEAR(mean(layer["cross_head_share"]), share, 1e-10);
      EXPECT_NEAR(mean(layer["heads"][0]["truncated_hitting_mean"]), first_head, 1e-11);
      EXPECT_DOUBLE_EQ(layer["synergy_share"].get<double>(),
                       synergies / static_cast<double>(kSamples));
    }
  }
}

TEST_F(AnalyzeTest, TheSameBytesForAnyThreads) {
  write_random("a.npy", {3, 4, 2, 9, 9});
  const std::string command =
      "analyze a.npy --per-head --convention both --per-sample s.csv "
      "--json j.json --threads ";
  std::string first;
  for (const char* threads : {"1", "2", "7"}) {
    const testing_support::Outcome result = expect_success(command + threads);
    const std::string all = result.out + read("s.csv") + read("j.json");
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
  }
  write_model("m.safetensors");
  const std::string model = "analyze m.safetensors --task copy --samples 9 --json - --threads ";
  EXPECT_EQ(expect_success(model + "1").out, expect_success(model + "3").out);
}

TEST_F(AnalyzeTest, ASinkIsThePrefixThatEndsThere) {
  const std::vector<Matrix> matrices = write_random("a.npy", {2, 2, 8, 8});
  std::vector<double> prefix;
  for (const Matrix& matrix : matrices)
    for (int i = 0; i < 5; ++i) prefix.insert(prefix.end(), matrix.row(i), matrix.row(i) + 5);
  write_array("prefix.npy", {2, 2, 5, 5}, prefix);
  const json expected = analyze("prefix.npy --per-head");
  EXPECT_EQ(analyze("a.npy --per-head --sink 4")["conventions"], expected["conventions"]);
  EXPECT_EQ(analyze("a.npy --per-head --range :5")["conventions"], expected["conventions"]);
  EXPECT_EQ(analyze("a.npy --per-head --range 0:6 --sink 4")["conventions"],
            expected["conventions"]);
}

TEST_F(AnalyzeTest, NeverIsCountedAndNotAveraged) {
  // In the first sample nobody attends to token 0 but itself: no walk leaves it.
  std::vector<double> values = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.5, 0.5};
  values.insert(values.end(), good_.begin(), good_.end());
  write_array("a.npy", {2, 1, 3, 3}, values);
  const json combined = analyze("a.npy")["conventions"][0]["layers"][0]["combined"];
  EXPECT_EQ(combined["hitting_mean"]["never"], 1);
  EXPECT_TRUE(combined["hitting_mean"]["max"].is_null());
  EXPECT_GT(combined["hitting_mean"]["mean"].get<double>(), 0.0);
  EXPECT_EQ(combined["mixing_time_0.25"]["never"], 1);
  EXPECT_THAT(expect_success("analyze a.npy").out, testing::HasSubstr("(1 never)"));
  // The published walk never leaves token 0: said once instead of in every cell.
  EXPECT_THAT(expect_success("analyze a.npy --convention published").out,
              testing::HasSubstr("never, on every sample: hit mean, hit max, T_mix(0.25)"));
}

TEST_F(AnalyzeTest, AModelAndItsOtherFormatsGiveTheSameBytes) {
  const Model model = write_model("m.safetensors");
  const std::vector<std::int32_t> tokens = {0, 1, 2, 3, 4, 5, 8, 8, 8, 0, 0, 1};
  write_npy(path("t.npy"), tensor_data("", {2, 6}, tokens.data()));
  const std::string arguments = " --tokens t.npy --task copy --heads 2 --json -";
  const std::string first = expect_success("analyze m.safetensors" + arguments).out;
  expect_success("convert m.safetensors m.npz");
  EXPECT_EQ(expect_success("analyze m.npz" + arguments).out, first);
  const json report = json::parse(first);
  EXPECT_EQ(report["weights"], "learned");
  EXPECT_EQ(report["conventions"][0]["layers"][1]["heads"][1]["weight"].get<double>(),
            learned_head_weights(model, 1)[1]);
  // The projections of the checkpoint weigh attention that was saved from it in the same way.
  write_random("a.npy", {2, 1, 2, 5, 5});
  const json attention = analyze("a.npy --out-proj m.safetensors");
  EXPECT_NEAR(attention["conventions"][0]["layers"][1]["heads"][1]["weight"].get<double>(),
              learned_head_weights(model, 1)[1], 1e-12);
}

TEST_F(AnalyzeTest, RunsACheckpointOnTheDeviceThatIsAskedFor) {
  write_model("m.safetensors");  // of a width that no GPU takes
  const std::string arguments = "analyze m.safetensors --task copy --samples 3 --json -";
  const std::string plain = expect_success(arguments).out;
  EXPECT_FALSE(json::parse(plain)["model"].contains("device"));
  EXPECT_EQ(expect_success(arguments + " --device cpu").out, plain);
  EXPECT_EQ(expect_success(arguments + " --device auto").out, plain);
  expect_refusal(arguments + " --device cuda", 1, "cuda: ");
  expect_refusal(arguments + " --device tpu", 2, "unknown device 'tpu'");
  write_random("a.npy", {1, 2, 5, 5});
  EXPECT_EQ(expect_success("analyze a.npy --device auto").out, expect_success("analyze a.npy").out);
}

/// A machine whose GPUs are measured on by a library that stands in for the real one.
class GpuTest : public AnalyzeTest {
 protected:
  static void look_for(const char* library) { setenv("SYNERGRAPH_CUDA_LIBRARY", library, 1); }
  void TearDown() override {
    unsetenv("SYNERGRAPH_CUDA_LIBRARY");
    AnalyzeTest::TearDown();
  }
};

TEST_F(GpuTest, MeasuresAttentionOnTheDeviceThatIsAskedFor) {
  look_for(SYNERGRAPH_FAKE_LIBRARY);
  write_random("a.npy", {3, 2, 2, 9, 9});
  json measured = analyze("a.npy --device cuda:1 --per-head --convention both");
  EXPECT_EQ(measured["device"], "fake (device 1), float64");
  EXPECT_EQ(analyze("a.npy --device cuda:all")["device"], "fake (device 0), float64");
  measured.erase("device");
  const json expected = analyze("a.npy --per-head --convention both");
  EXPECT_EQ(measured["conventions"][0]["layers"][2]["combined"]["mixing_time_0.25"],
            expected["conventions"][0]["layers"][2]["combined"]["mixing_time_0.25"]);
  EXPECT_THAT(expect_success("analyze a.npy --device cuda").out,
              testing::HasSubstr("measured on fake (device 0), float64"));
  expect_refusal("analyze a.npy --device cuda:7", 1, "cuda:7: this machine has 2 GPUs");
  expect_refusal("analyze a.npy --device cuda:x", 2, "unknown device 'cuda:x'");
}

TEST_F(GpuTest, MeasuresSubsetsOnTheDeviceThatIsAskedFor) {
  look_for(SYNERGRAPH_FAKE_LIBRARY);
  write_random("a.npy", {2, 3, 9, 9});
  json measured = json::parse(expect_success("heads a.npy --device cuda:1 --json -").out);
  EXPECT_EQ(measured["device"], "fake (device 1), float64");
  measured.erase("device");
  const json expected = json::parse(expect_success("heads a.npy --json -").out);
  EXPECT_NEAR(measured["layers"][0]["values"][0]["all"]["mean"].get<double>(),
              expected["layers"][0]["values"][0]["all"]["mean"].get<double>(), 1e-12);
}

TEST_F(GpuTest, MeasuresGraphsOnTheDeviceThatIsAskedFor) {
  look_for(SYNERGRAPH_FAKE_LIBRARY);
  const std::string graph = "graph --generate complete:20 --generate window:20:3";
  const std::string expected = expect_success(graph).out;
  EXPECT_EQ(expected.find("measured on"), std::string::npos);
  EXPECT_EQ(expect_success(graph + " --device cuda:1").out,
            expected + "measured on       fake (device 1), float64\n");
  EXPECT_EQ(expect_success(graph + " --csv --device cuda").out,
            expect_success(graph + " --csv").out);
  expect_refusal(graph + " --device cuda:7", 1, "cuda:7: this machine has 2 GPUs");
}

TEST_F(GpuTest, SaysWhyThereIsNone) {
  write_random("a.npy", {1, 2, 5, 5});
  look_for("/nowhere/libsynergraph_cuda.so");
  expect_refusal("analyze a.npy --device cuda", 1,
                 "cuda: the library for GPUs cannot be loaded: /nowhere/");
  look_for(SYNERGRAPH_OTHER_LIBRARY);
  expect_refusal("analyze a.npy --device cuda", 1,
                 "cuda: the library for GPUs is of another build");
}

/// The first block of Python in docs/formats.md.
std::string attention_recipe() {
  std::ifstream file(SYNERGRAPH_TEST_DATA "/../../docs/formats.md");
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (inside && line == "```") break;
    if (inside) text += line + '\n';
    inside = inside || line == "```python";
  }
  return text;
}

TEST_F(AnalyzeTest, TheDocumentedRecipeGivesLayers) {
  // Two layers of a batch of three sequences and four heads, as transformers returns them. The
  // second layer attends to nothing but the token itself.
  constexpr std::size_t kLayers = 2;
  constexpr std::size_t kBatch = 3;
  constexpr std::size_t kHeads = 4;
  std::vector<float> values;
  for (std::size_t layer = 0; layer < kLayers; ++layer)
    for (std::size_t k = 0; k < kBatch * kHeads; ++k)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
          values.push_back(j > i        ? 0.0F
                           : layer == 0 ? 1.0F / static_cast<float>(i + 1)
                                        : static_cast<float>(j == i ? 1 : 0));
  write_npy(path("expected.npy"), tensor_data("", {kLayers, kBatch, kHeads, 5, 5}, values.data()));
  const std::string recipe = attention_recipe();
  const std::string save = recipe.substr(std::min(recipe.find("np.save"), recipe.size()));
  ASSERT_EQ(save,
            "np.save(\"attention.npy\", attention.numpy())  # layers, sequences, heads, queries, "
            "keys\n");
  EXPECT_THAT(recipe, testing::HasSubstr("attention = torch.stack(model(**tokens, "
                                         "output_attentions=True).attentions).detach().float()\n"));
  // With NumPy the recipe's own line saves the array; without it, these are the bytes it writes.
  write("recipe.py",
        "import numpy as np\nclass Attention:\n  def numpy(self): return np.load('expected.npy')\n"
        "attention = Attention()\n" +
            save);
  const std::string python = "cd '" + directory_.string() + "' && python3 recipe.py 2>/dev/null";
  if (std::system(python.c_str()) != 0)  // NOLINT: the test's own words
    std::filesystem::copy_file(path("expected.npy"), path("attention.npy"));
  EXPECT_EQ(read("attention.npy"), read("expected.npy"));

  const json layers = analyze("attention.npy")["conventions"][0]["layers"];
  ASSERT_EQ(layers.size(), kLayers);
  for (std::size_t l = 0; l < kLayers; ++l) {
    EXPECT_EQ(layers[l]["name"], std::to_string(l));
    EXPECT_EQ(layers[l]["samples"], kBatch);
    EXPECT_EQ(layers[l]["heads"].size(), kHeads);
    EXPECT_EQ(layers[l]["combined"]["hitting_mean"]["never"], l == 0 ? 0U : kBatch);
  }
  EXPECT_THAT(expect_success("analyze attention.npy").out,
              testing::StartsWith("2 layers, 3 samples, 4 heads of 5 tokens, uniform head weights\n"
                                  "shape (2, 3, 4, 5, 5) read as (layer, sample, head, query, key) "
                                  "(default; change with --axes=...)\n"));
  // One sequence without its axis, as many save it, needs a word.
  values.resize(values.size() / kBatch);
  write_npy(path("one.npy"), tensor_data("", {kLayers, kHeads, 5, 5}, values.data()));
  EXPECT_EQ(analyze("one.npy")["conventions"][0]["layers"].size(), 1U);
  const std::string axes = "one.npy --axes layer,head,query,key";
  EXPECT_EQ(analyze(axes)["conventions"][0]["layers"].size(), kLayers);
  EXPECT_THAT(expect_success("analyze " + axes).out,
              testing::StartsWith("2 layers, 1 sample, 4 heads of 5 tokens, uniform head weights\n"
                                  "shape (2, 4, 5, 5) read as (layer, head, query, key)\n"));
}

TEST_F(AnalyzeTest, LayersOfDifferentSizesShowInTheHeader) {
  const std::vector<double> small = {1.0, 0.0, 0.5, 0.5, 1.0, 0.0, 0.5, 0.5};
  write_npz(path("a.npz"), std::vector{tensor_data("a", {1, 1, 3, 3}, good_.data()),
                                       tensor_data("b", {2, 1, 2, 2}, small.data())});
  EXPECT_THAT(expect_success("analyze a.npz").out,
              testing::StartsWith("2 layers, 1 to 2 samples, 1 head of 2 to 3 tokens, "));
}

TEST_F(AnalyzeTest, FigureAndSamples) {
  write_random("a.npy", {2, 3, 2, 6, 6});
  expect_success("analyze a.npy --convention both --figure f.svg --per-sample s.csv");
  EXPECT_THAT(read("f.svg"), testing::HasSubstr("Minimax fidelity"));
  const std::string csv = read("s.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 2 * 3);
}

TEST_F(AnalyzeTest, BadAttentionIsRefused) {
  const auto broken = [&](std::size_t at, double value) {
    std::vector<double> values = good_;
    values[at] = value;
    write_array("bad.npy", {1, 3, 3}, values);
  };
  const std::string place = "bad.npy, sample 0, head 0: ";
  broken(3, std::nan(""));
  expect_refusal("analyze bad.npy", 1, place + "entry nan in row 1, column 0 is not finite");
  broken(3, HUGE_VAL);
  expect_refusal("analyze bad.npy", 1, place + "entry inf in row 1, column 0 is not finite");
  broken(6, -0.25);
  expect_refusal("analyze bad.npy", 1, place + "entry -0.25 in row 2, column 0 is negative");
  broken(2, 0.5);
  expect_refusal("analyze bad.npy", 1,
                 "row 0, column 2 is above the diagonal, where causal attention is 0, with the "
                 "axes read as (head, query, key); change this with --axes");
  broken(7, 0.3);
  expect_refusal("analyze bad.npy --json out.json --per-sample out.csv", 1,
                 place + "row 2 sums to 1.05, expected 1 within");
  write_array("bad.npy", {1, 1, 9}, good_);
  expect_refusal("analyze bad.npy", 1, "attention must be square");
  expect_refusal("analyze bad.npy", 1, "keys as (head, query, key); change this with --axes");
  write_array("bad.npy", {9}, good_);
  expect_refusal("analyze bad.npy", 1, "shape (9,) is not that of attention");
  for (const Shape& empty :
       {Shape{0, 3, 3}, Shape{2, 0, 0}, Shape{0, 1, 3, 3}, Shape{1, 0, 1, 3, 3}}) {
    write_array("bad.npy", empty, good_);
    expect_refusal("analyze bad.npy", 1, "has no elements");
  }
  expect_refusal("analyze missing.npy", 1, "missing.npy");
}

TEST_F(AnalyzeTest, MissingMassIsAnErrorOrANode) {
  // The first token keeps what it gets: without it, a node does.
  const std::vector<Matrix> matrices = write_random("whole.npy", {2, 3, 2, 6, 6});
  std::vector<double> rest;
  for (const Matrix& matrix : matrices)
    for (int i = 1; i < 6; ++i) rest.insert(rest.end(), matrix.row(i) + 1, matrix.row(i) + 6);
  write_array("rest.npy", {2, 3, 2, 5, 5}, rest);
  expect_refusal("analyze rest.npy --json out.json", 1,
                 "--missing-mass node assigns the missing mass");
  const json whole = analyze("whole.npy");
  const json with_node = analyze("rest.npy --missing-mass node");
  EXPECT_EQ(with_node["missing_mass"], "node");
  EXPECT_FALSE(whole.contains("missing_mass"));
  for (std::size_t l = 0; l < 2; ++l) {
    const auto layer = [&](const json& report) { return report["conventions"][0]["layers"][l]; };
    EXPECT_EQ(layer(with_node)["tokens"], 5);
    for (const char* key : {"minimax_fidelity", "hitting_mean", "mixing_time_0.25"}) {
      const auto mean = layer(whole)["combined"][key]["mean"].get<double>();
      EXPECT_NEAR(layer(with_node)["combined"][key]["mean"].get<double>(), mean, 1e-11 * mean);
    }
  }
  EXPECT_THAT(expect_success("analyze rest.npy --missing-mass node").out,
              testing::HasSubstr("2 heads of 5 tokens and a node for missing mass, uniform"));
  // Said or not, an error is the default.
  EXPECT_EQ(expect_success("analyze whole.npy --missing-mass error --json -").out,
            expect_success("analyze whole.npy --json -").out);
  expect_refusal("analyze whole.npy --missing-mass keep", 2, "--missing-mass");
  write_model("model.safetensors");
  expect_refusal("analyze model.safetensors --task copy --missing-mass node", 2,
                 "--missing-mass are for files of attention");
  rest.back() += 1.0;
  write_array("rest.npy", {2, 3, 2, 5, 5}, rest);
  expect_refusal("analyze rest.npy --missing-mass node", 1, "row 4 sums to 1.");
}

TEST_F(AnalyzeTest, BadRequestsAreRefused) {
  write_array("a.npy", {1, 3, 3}, good_);
  expect_refusal("analyze", 2, "FILE is required");
  expect_refusal("analyze a.npy --weights 1,2", 1, "2 weights for 1 heads");
  expect_refusal("analyze a.npy --weights -1", 1, "not finite and non-negative");
  expect_refusal("analyze a.npy --weights 1,,2", 2, "--weights: '' is not a number");
  expect_refusal("analyze a.npy --weights none.npy", 1, "none.npy");
  expect_refusal("analyze a.npy --weights learned", 2, "--out-proj");
  expect_refusal("analyze a.npy --sink 3", 1, "tokens 0:4 were asked for, it has 0:3");
  expect_refusal("analyze a.npy --sink -4", 1, "--to: token -4 is not there");
  expect_refusal("analyze a.npy --sink x", 2, "--to: 'x'; expected tokens");
  for (const char* range : {"2", "x:2", "1:1", "2:1", ":-1"})
    expect_refusal(std::string("analyze a.npy --range ") + range, 2, "--range");
  expect_refusal("analyze a.npy --range 1:9", 1, "tokens 1:9 were asked for");
  expect_refusal("analyze a.npy --range 1: --sink 0", 2, "outside the range");
  expect_refusal("analyze a.npy --layers nothing", 1,
                 "the array has no name for 'nothing' to match. Choose layers by number");
  expect_refusal("analyze a.npy --layers '('", 2, "is not a regular expression");
  expect_refusal("analyze a.npy --axes head,query", 2, "--axes: key is missing");
  expect_refusal("analyze a.npy --axes head,query,keys", 2, "--axes: 'keys' is no axis");
  expect_refusal("analyze a.npy --axes layer,head,query,key", 1,
                 "shape (1, 3, 3) has 3 axes, --axes names 4");
  expect_refusal("analyze a.npy --task copy", 2, "holds attention");
  expect_refusal("analyze a.npy --convention loose", 2, "--convention");
  expect_refusal("analyze a.npy --eps 0", 2, "--eps");
  expect_refusal("analyze a.npy --figure f.gif", 2, "f.gif");
  expect_refusal("analyze a.npy --json no/such/dir.json", 1, "no/such/dir.json");
}

TEST_F(AnalyzeTest, APatternThatFitsNothingIsToldTheNames) {
  std::vector<TensorData> tensors;
  for (const char* name : {"one", "two", "three", "four", "five"})
    tensors.push_back(tensor_data(name, {1, 3, 3}, good_.data()));
  write_npz(path("many.npz"), tensors);
  expect_refusal("analyze many.npz --layers zzz", 1,
                 "no tensor's name matches 'zzz': there are 'one', 'two', 'three' and 2 more");
  tensors.resize(2);
  write_npz(path("few.npz"), tensors);
  expect_refusal("analyze few.npz --layers zzz", 1, "'zzz': there are 'one', 'two'\n");
}

TEST_F(AnalyzeTest, HeadsFromTheFilesNameAreSaid) {
  write_model("m.safetensors");
  expect_success("convert m.safetensors 2_heads_x.npz");  // npz keeps no metadata
  const std::string line = "\nheads: 2, from the file's name (change this with --heads)\n";
  const std::string task = " --task copy --samples 2 ";
  EXPECT_THAT(expect_success("analyze 2_heads_x.npz" + task).out, testing::HasSubstr(line));
  EXPECT_EQ(analyze("2_heads_x.npz" + task)["model"]["heads_from"], "file name");
  for (const std::string told : {"m.safetensors", "2_heads_x.npz --heads 2"}) {
    EXPECT_THAT(expect_success("analyze " + told + task).out,
                testing::Not(testing::HasSubstr("from the file's name")));
    EXPECT_FALSE(analyze(told + task)["model"].contains("heads_from"));
  }
}

TEST_F(AnalyzeTest, MinusIsStandardOutputForTheSamples) {
  write_random("a.npy", {2, 3, 2, 6, 6});
  expect_success("analyze a.npy --per-sample s.csv");
  EXPECT_EQ(expect_success("analyze a.npy --per-sample -").out, read("s.csv"));
  expect_refusal("analyze a.npy --per-sample - --json -", 2, "only one output can go to standard");
}

// The sinks of a sample are not independent: its mean over them is one number.
TEST_F(AnalyzeTest, SinksOfOneSampleAreOneNumber) {
  write_random("a.npy", {3, 2, 8, 8});
  const auto fidelity = [](const json& document) {
    return document.at("conventions")
        .at(0)
        .at("layers")
        .at(0)
        .at("combined")
        .at("minimax_fidelity");
  };
  const json both = analyze("a.npy --to 4,7");
  const json layer = both.at("conventions").at(0).at("layers").at(0);
  EXPECT_EQ(layer.at("samples"), 6);
  EXPECT_EQ(layer.at("sinks"), 2);
  EXPECT_EQ(fidelity(both).at("samples"), 3);
  const double four = fidelity(analyze("a.npy --to 4")).at("mean").get<double>();
  const double seven = fidelity(analyze("a.npy --to 7")).at("mean").get<double>();
  EXPECT_NEAR(fidelity(both).at("mean").get<double>(), (four + seven) / 2, 1e-15);
  const std::string text = expect_success("analyze a.npy --to 4,7 --quiet").out;
  EXPECT_NE(text.find("means over its 2 sinks"), std::string::npos);
  EXPECT_NE(text.find("± is the standard deviation over samples"), std::string::npos);
  // Of one sample there is no deviation.
  write_random("one.npy", {1, 2, 8, 8});
  EXPECT_EQ(expect_success("analyze one.npy --to 4,7 --quiet").out.find("±"), std::string::npos);
}

TEST_F(AnalyzeTest, BadTokensAreRefused) {
  write_model("m.safetensors");
  const auto tokens = [&](const Shape& shape, const std::vector<std::int32_t>& values) {
    write_npy(path("t.npy"), tensor_data("", shape, values.data()));
  };
  expect_refusal("analyze m.safetensors", 2, "give --tokens FILE or --task NAME");
  expect_refusal("analyze m.safetensors --task sort", 2, "unknown task 'sort'");
  expect_refusal("analyze m.safetensors --tokens none.npy", 1, "none.npy");
  tokens({1, 6}, {0, 1, 2, 9, 4, 5});
  expect_refusal("analyze m.safetensors --tokens t.npy", 1,
                 "sequence 0, position 3: token 9 is outside the vocabulary 0..8");
  expect_refusal("analyze m.safetensors --tokens t.npy --samples 3", 2, "exclude --tokens");
  tokens({1, 5}, {0, 1, 2, 3, 4});
  expect_refusal("analyze m.safetensors --tokens t.npy", 1, "sequences of length 5");
  tokens({6}, {0, 1, 2, 3, 4, 5});
  expect_refusal("analyze m.safetensors --tokens t.npy", 1, "found (6,)");
  write_array("t.npy", {1, 6}, {0, 1, 2, 3, 4, 5});
  expect_refusal("analyze m.safetensors --tokens t.npy", 1, "expected integers");
  expect_refusal("analyze m.safetensors --task copy --heads 4", 1,
                 "the file says that it has 2 heads, not 4");
  expect_refusal("analyze m.safetensors --task copy --axes head,query,key", 2, "--axes");
  expect_refusal("analyze m.safetensors --task copy --sink 6", 1, "the model has 0:6");
}

}  // namespace
}  // namespace synergraph
