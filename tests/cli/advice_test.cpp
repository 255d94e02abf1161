// What people save instead of attention, and what the program tells them to do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "tests/io/zip_builder.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_program.h"
#include "tests/support/run_terminal.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_support::random_attention;

class AdviceTest : public testing_support::ProgramTest {
 protected:
  void write_array(const std::string& name, const Shape& shape,
                   const std::vector<double>& values) const {
    write_npy(path(name), tensor_data("", shape, values.data()));
  }
  /// Causal attention of `count` heads, n x n each.
  static std::vector<double> attention(int count, int n, std::uint32_t index = 0) {
    RandomSequence draws(91, Purpose::kTest, index);
    std::vector<double> values;
    for (int k = 0; k < count; ++k) {
      const Matrix matrix = random_attention(n, 2.0, draws);
      for (int i = 0; i < n; ++i) values.insert(values.end(), matrix.row(i), matrix.row(i) + n);
    }
    return values;
  }
  static std::vector<double> numbers(std::size_t count, double shift = 0.0) {
    RandomSequence draws(92, Purpose::kTest, 0);
    std::vector<double> values;
    while (values.size() < count) values.push_back(draws.normal() + shift);
    return values;
  }
  void expect_advice(const std::string& file, const std::string& advice) const {
    for (const std::string command : {"analyze ", "heads "})
      expect_refusal(command + file, 1, advice);
  }
  json document(const std::string& arguments) const {
    const testing_support::Outcome outcome = run(arguments + " --json - --quiet");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json();
  }
};

TEST_F(AdviceTest, LogitsNeedSoftmax) {
  std::vector<double> logits = numbers(2 * 6 * 6);
  write_array("logits.npy", {2, 6, 6}, logits);
  expect_advice("logits.npy",
                "These look like attention scores. Apply the causal mask, then softmax over the "
                "keys\n");
  for (std::size_t k = 0; k < logits.size(); ++k)
    if (k % 6 > k / 6 % 6) logits[k] = -HUGE_VAL;
  write_array("masked.npy", {2, 6, 6}, logits);
  expect_advice("masked.npy", "These look like attention scores. Apply softmax over the keys\n");
  for (std::size_t row = 0; row < 12; ++row) {
    double sum = 0.0;
    for (std::size_t k = 6 * row; k < 6 * row + 6; ++k) sum += logits[k] = std::exp(logits[k]);
    for (std::size_t k = 6 * row; k < 6 * row + 6; ++k) logits[k] /= sum;
  }
  write_array("softmax.npy", {2, 6, 6}, logits);
  EXPECT_EQ(run("analyze softmax.npy --quiet").status, 0);
}

TEST_F(AdviceTest, SwappedAxesAndEncodersAreToldApart) {
  const std::vector<double> values = attention(2, 5);
  std::vector<double> swapped = values;
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < 5; ++j)
        swapped[(h * 5 + j) * 5 + i] = values[(h * 5 + i) * 5 + j];
  write_array("swapped.npy", {2, 5, 5}, swapped);
  expect_advice("swapped.npy", "so query and key are swapped: give --axes head,key,query");
  write_array("right.npy", {2, 5, 5}, values);
  EXPECT_EQ(document("analyze swapped.npy --axes head,key,query")["conventions"],
            document("analyze right.npy")["conventions"]);
  std::vector<double> encoder(2 * 5 * 5, 0.1);
  for (std::size_t row = 0; row < 10; ++row) encoder[row * 5 + row % 5] = 0.6;
  write_array("encoder.npy", {2, 5, 5}, encoder);
  expect_advice("encoder.npy",
                "Its rows sum to 1 only with the later tokens, as in an encoder. Only causal");
}

TEST_F(AdviceTest, DropoutNeedsEval) {
  std::vector<double> values = attention(1, 20);
  const std::vector<double> draws = numbers(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] *= draws[k] > 0.8 ? 0.0 : 1.25;
  values[0] = 1.25;
  write_array("dropout.npy", {1, 20, 20}, values);
  expect_advice("dropout.npy", "look like dropout: call model.eval() before the model runs");
}

/// Two samples of 8 tokens, the second with three of padding on the left as Hugging Face makes it.
std::vector<double> padded_left(const std::vector<double>& whole, const std::vector<double>& part) {
  std::vector<double> values = whole;
  values.resize(4 * 8 * 8);
  for (std::size_t h = 2; h < 4; ++h)
    for (std::size_t i = 0; i < 8; ++i)
      for (std::size_t j = 0; j < 8; ++j)
        values[(h * 8 + i) * 8 + j] = i < 3    ? 0.125
                                      : j >= 3 ? part[((h - 2) * 5 + i - 3) * 5 + j - 3]
                                               : 0.0;
  return values;
}

TEST_F(AdviceTest, PaddingIsLeftOutByLengths) {
  const std::vector<double> whole = attention(2, 8, 1);
  const std::vector<double> part = attention(2, 5, 2);
  write_array("padded.npy", {2, 2, 8, 8}, padded_left(whole, part));
  write_array("whole.npy", {1, 2, 8, 8}, whole);
  write_array("part.npy", {1, 2, 5, 5}, part);
  expect_advice("padded.npy",
                "The first 3 tokens look like padding. Pass the number of real tokens per sample, "
                "such as --lengths 5,8 --padding left\n");
  const std::vector<std::int64_t> lengths = {8, 5};
  write_npy(path("lengths.npy"), tensor_data("", {2}, lengths.data()));
  const json report = document("analyze padded.npy --lengths 8,5 --padding left");
  EXPECT_EQ(document("analyze padded.npy --lengths lengths.npy --padding left"), report);
  EXPECT_EQ(report["sequences"], json::parse("[[0, 0, 8], [1, 3, 8]]"));
  EXPECT_TRUE(report["range"].is_null());
  // Each sequence is measured as if it stood alone.
  const auto fidelity = [&](const std::string& arguments, const char* which) {
    return document(
        "analyze " +
        arguments)["conventions"][0]["layers"][0]["combined"]["minimax_fidelity"][which];
  };
  const double first = fidelity("whole.npy", "mean").get<double>();
  const double second = fidelity("part.npy", "mean").get<double>();
  EXPECT_EQ(fidelity("padded.npy --lengths 8,5 --padding left", "min"), std::min(first, second));
  EXPECT_EQ(fidelity("padded.npy --lengths 8,5 --padding left", "max"), std::max(first, second));
  // One length for all is a range, whatever the rest holds; a sink is a prefix of each.
  EXPECT_EQ(document("analyze padded.npy --lengths 5 --padding left")["range"],
            json::parse("[3, 8]"));
  EXPECT_EQ(document("analyze whole.npy --lengths 6")["conventions"],
            document("analyze whole.npy --range :6")["conventions"]);
  EXPECT_EQ(document("analyze whole.npy --lengths 7 --sink 4")["conventions"],
            document("analyze whole.npy --sink 4")["conventions"]);
  // Values of heads are of these sequences, too.
  EXPECT_EQ(document("heads padded.npy --lengths 8,5 --padding left")["layers"][0]["samples"], 2);

  expect_refusal(
      "analyze padded.npy --lengths 1,2,3", 1,
      "padded.npy: --lengths: 3 lengths for 2 samples; give one length, or one per sample");
  expect_refusal("analyze padded.npy --lengths 9", 1, "--lengths: 9 is not a length from 1 to 8");
  expect_refusal("analyze padded.npy --lengths 0", 2, "--lengths: expected a whole number");
  expect_refusal("analyze padded.npy --lengths 5,,5", 2, "--lengths");
  expect_refusal("analyze padded.npy --lengths ''", 2, "--lengths");
  expect_refusal("analyze padded.npy --lengths none.npy", 1, "none.npy");
  expect_refusal("analyze padded.npy --lengths whole.npy", 1,
                 "expected one length per sample. From an attention mask: mask.sum(1)");
  expect_refusal("analyze padded.npy --lengths 5 --padding up", 2, "--padding");
  expect_refusal("analyze padded.npy --padding left", 2, "--padding needs --lengths");
  expect_refusal("analyze padded.npy --lengths 5 --range 1:3", 2, "exclude each other");
  expect_refusal("analyze padded.npy --lengths 5 --padding left --sink 1", 1,
                 "--to: token 1 is not in sample 0, which has tokens 3 to 7");
}

TEST_F(AdviceTest, WorkersShareSequencesOfTheSameLengthsAlone) {
  write_array("a.npy", {2, 2, 8, 8}, attention(4, 8));
  const std::string command = "analyze a.npy --shard-dir work --lengths ";
  const json first = document(command + "8,5");
  EXPECT_EQ(first, document("analyze a.npy --lengths 8,5"));
  EXPECT_EQ(document(command + "4,7"), document("analyze a.npy --lengths 4,7"));
}

TEST_F(AdviceTest, ModelsAreNoAttention) {
  std::string pickle = "\x80\x02";
  pickle += "cnet\nNet\n)\x81}(X";
  append_number(pickle, 11, 4);
  pickle += "_parameters}X";
  append_number(pickle, 8, 4);
  pickle += "_modules}ub.";
  write("model.pt", build_zip({{"model/data.pkl", pickle}}));
  expect_advice("model.pt",
                "The file holds a whole model. Save output.attentions, not the model. For a model "
                "of the paper, save model.state_dict(). Or measure the model in Python with "
                "synergraph.watch");
  pickle = "\x80\x02";
  pickle += "ctransformers.modeling_outputs\nCausalLMOutputWithPast\n)R.";
  write("output.pt", build_zip({{"output/data.pkl", pickle}}));
  expect_advice("output.pt",
                "The file holds the output of a model: save its attentions, "
                "output.attentions");
  pickle = "\x80\x02";
  pickle += "cnet\nNet\n)R.";
  write("other.pt", build_zip({{"other/data.pkl", pickle}}));
  expect_advice("other.pt", "'net.Net': only tensors and plain data are read\n");

  const std::vector<double> square = numbers(16);
  const std::vector<double> bias = numbers(4);
  const std::string advice =
      "the file holds a model's parameters, not its attention: run the model with "
      "output_attentions=True and save the attentions, or measure the model in Python with "
      "synergraph.watch";
  write_npz(path("state.npz"), std::vector{tensor_data("h.0.attn.weight", {4, 4}, square.data()),
                                           tensor_data("h.0.attn.bias", {4}, bias.data())});
  expect_advice("state.npz", "state.npz: " + advice);
  // Square ones could be attention, and are told by their names when their numbers are not.
  write_npz(path("square.npz"), std::vector{tensor_data("q.weight", {4, 4}, square.data()),
                                            tensor_data("k.weight", {4, 4}, square.data())});
  expect_advice("square.npz", ". T" + advice.substr(1));
  const std::vector<double> good = attention(1, 4);
  write_npz(path("good.npz"), std::vector{tensor_data("q.weight", {4, 4}, good.data()),
                                          tensor_data("k.weight", {4, 4}, good.data())});
  EXPECT_EQ(run("analyze good.npz --quiet").status, 0);
}

TEST_F(AdviceTest, WhatStandsBesideAttentionIsLeftOutByLayers) {
  const std::vector<double> logits = numbers(5 * 7);
  const std::vector<double> good = attention(2, 5);
  std::vector<TensorData> tensors = {tensor_data("logits", {1, 5, 7}, logits.data())};
  for (const char* name : {"attentions.0", "attentions.1", "attentions.10", "attentions.2"})
    tensors.push_back(tensor_data(name, {1, 2, 5, 5}, good.data()));
  write_npz(path("a.npz"), tensors);
  const std::string expression = "--layers='^attentions\\.[0-9]+$'";
  expect_advice("a.npz",
                "tensor 'logits': shape (1, 5, 7): attention must be square, but it has 5 queries "
                "and 7 keys as (head, query, key). These arrays have the shape of "
                "attention: 'attentions.0', 'attentions.1', 'attentions.2' and 1 more. Select them "
                "with " +
                    expression + '\n');
  EXPECT_EQ(document("analyze a.npz " + expression)["conventions"][0]["layers"].size(), 4U);
  // Numbers are those of the names, and logits have none.
  EXPECT_EQ(document("analyze a.npz --layers 2,10")["conventions"][0]["layers"][1]["name"],
            "attentions.10");
  tensors.push_back(tensor_data("attentions.3", {1, 5, 7}, logits.data()));
  write_npz(path("b.npz"), tensors);
  expect_advice("b.npz", "'attentions.2' and 1 more. Select them with --layers=REGEX\n");
  // Arrays of the same shape that are no attention.
  const std::vector<double> square = numbers(2 * 5 * 5);
  write_npz(path("c.npz"), std::vector{tensor_data("scores", {2, 5, 5}, square.data()),
                                       tensor_data("probs", {2, 5, 5}, good.data())});
  expect_advice("c.npz",
                "attention is 0. These arrays hold attention: 'probs'. Select them with "
                "--layers='^probs$'\n");
  EXPECT_EQ(document("analyze c.npz --layers='^probs$'")["conventions"][0]["layers"].size(), 1U);
  // One bad layer of several is no reason to leave it out.
  write_npz(path("d.npz"), std::vector{tensor_data("a0", {2, 5, 5}, square.data()),
                                       tensor_data("a1", {2, 5, 5}, good.data())});
  expect_advice("d.npz", "attention is 0. These look like attention scores. Apply the causal mask");
}

TEST_F(AdviceTest, GeneratedTextsComeOneTokenAtATime) {
  const std::vector<double> good = attention(2, 5);
  const std::vector<double> step(2 * 6, 1.0 / 6.0);
  write_npz(path("steps.npz"), std::vector{tensor_data("0.0", {1, 2, 5, 5}, good.data()),
                                           tensor_data("1.0", {1, 2, 1, 6}, step.data())});
  const std::string advice =
      "shape (1, 2, 1, 6): one query with many keys is one step of generate(). Run the model once "
      "on the generated ids with output_attentions=True";
  expect_advice("steps.npz", advice);
  write_array("step.npy", {1, 2, 1, 6}, step);
  expect_advice("step.npy", advice);
}

TEST_F(AdviceTest, ArraysOfAListAreLayersOrSamples) {
  const std::vector<double> first = attention(2, 5, 1);
  const std::vector<double> second = attention(2, 7, 2);
  write_npz(path("list.npz"), std::vector{tensor_data("0", {2, 5, 5}, first.data()),
                                          tensor_data("1", {2, 7, 7}, second.data())});
  EXPECT_THAT(run("analyze list.npz --quiet").out,
              testing::StartsWith("2 layers, 1 sample, 2 heads of 5 to 7 tokens, uniform head "
                                  "weights\n2 arrays of shape (2, 5, 5) and others read as (head, "
                                  "query, key), a layer each (default; "
                                  "--axes='sample,head,query,key' reads samples)\n"));
  const std::string samples = "list.npz --axes sample,head,query,key";
  EXPECT_THAT(run("analyze --quiet " + samples).out,
              testing::StartsWith("1 layer, 2 samples, 2 heads of up to 7 tokens, uniform head "
                                  "weights\n"
                                  "2 arrays of shape (2, 5, 5) and others read as (head, query, "
                                  "key), a sample each\n"));
  const auto fidelity = [&](const std::string& arguments, const char* which) {
    return document(
        "analyze " +
        arguments)["conventions"][0]["layers"][0]["combined"]["minimax_fidelity"][which];
  };
  write_array("first.npy", {2, 5, 5}, first);
  write_array("second.npy", {2, 7, 7}, second);
  const double a = fidelity("first.npy", "mean").get<double>();
  const double b = fidelity("second.npy", "mean").get<double>();
  EXPECT_EQ(fidelity(samples, "min"), std::min(a, b));
  EXPECT_EQ(fidelity(samples, "max"), std::max(a, b));
  EXPECT_EQ(document("heads " + samples)["layers"][0]["samples"], 2);
  EXPECT_EQ(document("analyze list.npz --axes layer,head,query,key")["conventions"],
            document("analyze list.npz")["conventions"]);
  expect_refusal("analyze --lengths 3 " + samples, 1, "its samples differ in length");
  // What is wrong in a sample names its tensor.
  std::vector<double> wrong = second;
  wrong[8] += 0.5;
  write_npz(path("wrong.npz"), std::vector{tensor_data("0", {2, 5, 5}, first.data()),
                                           tensor_data("1", {2, 7, 7}, wrong.data())});
  expect_refusal("analyze wrong.npz --axes sample,head,query,key", 1,
                 "wrong.npz: tensor '1', head 0: row 1 sums to 1.5");
  write_npz(path("heads.npz"), std::vector{tensor_data("0", {2, 5, 5}, first.data()),
                                           tensor_data("1", {1, 5, 5}, first.data())});
  expect_refusal("analyze heads.npz --axes sample,head,query,key", 1,
                 "tensor '1': 1 heads, the first sample has 2");
}

TEST_F(AdviceTest, ArraysOfSamplesAreSamplesWhereTheirLengthsDiffer) {
  const std::vector<double> first = attention(2, 5, 1);
  const std::vector<double> second = attention(4, 7, 2);
  write_npz(path("list.npz"), std::vector{tensor_data("0", {1, 2, 5, 5}, first.data()),
                                          tensor_data("1", {2, 2, 7, 7}, second.data())});
  write_array("first.npy", {1, 2, 5, 5}, first);
  write_array("second.npy", {2, 2, 7, 7}, second);
  const std::string samples = "list.npz --axes sample,head,query,key";
  EXPECT_THAT(run("analyze --quiet " + samples).out,
              testing::AllOf(testing::StartsWith("1 layer, 3 samples, 2 heads of up to 7 tokens"),
                             HasSubstr("(sample, head, query, key), a sample each\n")));
  const auto rows = [&](const std::string& arguments) {  // without the samples' numbers
    std::vector<std::string> lines;
    std::istringstream text(run("analyze --quiet --per-sample - " + arguments).out);
    for (std::string line; std::getline(text, line);) {
      const std::size_t sample = line.find(',', line.find(',') + 1) + 1;
      lines.push_back(line.substr(line.find(',', sample)));
    }
    lines.erase(lines.begin());
    return lines;
  };
  std::vector<std::string> expected = rows("first.npy");
  for (const std::string& row : rows("second.npy")) expected.push_back(row);
  EXPECT_EQ(rows(samples), expected);
  expect_refusal("analyze --layers 2 " + samples, 1, "there is no layer 2: the only layer is 0");
  expect_refusal("analyze --axes sample,sample,head,query,key list.npz", 2,
                 "--axes: sample is given twice");
  std::vector<double> wrong = second;
  wrong[2 * 49 + 8] += 0.5;
  write_npz(path("wrong.npz"), std::vector{tensor_data("0", {1, 2, 5, 5}, first.data()),
                                           tensor_data("1", {2, 2, 7, 7}, wrong.data())});
  expect_refusal("analyze wrong.npz --axes sample,head,query,key", 1,
                 "wrong.npz: tensor '1', sample 1, head 0: row 1 sums to 1.5");
}

TEST_F(AdviceTest, LayersHaveNumbers) {
  write_array("a.npy", {4, 1, 2, 5, 5}, attention(8, 5));
  const json all = document("analyze a.npy")["conventions"][0]["layers"];
  const auto chosen = [&](const std::string& layers) {
    std::vector<std::string> names;
    const json report = document("analyze a.npy --layers " + layers);
    for (const json& layer : report["conventions"][0]["layers"]) {
      names.push_back(layer["name"]);
      EXPECT_EQ(layer, all[std::stoul(names.back())]);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(chosen("3"), Names({"3"}));
  EXPECT_EQ(chosen("3,0"), Names({"0", "3"}));
  EXPECT_EQ(chosen("1-3"), Names({"1", "2", "3"}));
  EXPECT_EQ(chosen("'0, 2-3'"), Names({"0", "2", "3"}));
  EXPECT_THAT(run("analyze a.npy --quiet --layers 2").out, HasSubstr("1 layer, 1 sample"));
  EXPECT_EQ(document("heads a.npy --layers 3")["layers"][0], document("heads a.npy")["layers"][3]);
  expect_refusal("analyze a.npy --layers 4", 1,
                 "a.npy: --layers: there is no layer 4: the layers are 0 to 3");
  expect_refusal("analyze a.npy --layers 2-9", 1, "there is no layer 9: the layers are 0 to 3");
  for (const char* wrong : {"4-2", "1,,2", "2-", "-3", "1-2-3", "99999999999999999999"})
    expect_refusal(std::string("analyze a.npy --layers=") + wrong, 2,
                   "is neither a number nor a range such as 4-7");
}

TEST_F(AdviceTest, AxesTakeCommasAndBlanks) {
  write_array("a.npy", {2, 3, 5, 5}, attention(6, 5));
  const json expected = document("analyze a.npy --axes layer,head,query,key");
  for (const char* axes :
       {"'layer head query key'", "'layer, head, query, key'", "' layer , head query  key '"})
    EXPECT_EQ(document(std::string("analyze a.npy --axes ") + axes), expected) << axes;
}

TEST_F(AdviceTest, ATerminalGetsErrorsBrokenAtWords) {
  write_array("logits.npy", {2, 6, 6}, numbers(72));
  const std::string line =
      "cd '" + directory_.string() + "' && '" + SYNERGRAPH_CLI + "' analyze logits.npy --quiet";
  const std::string wide = testing_support::run_on_terminal(line, 1000);
  EXPECT_EQ(std::count(wide.begin(), wide.end(), '\n'), 1) << wide;
  const std::string text = testing_support::run_on_terminal(line, 80);
  EXPECT_GT(std::count(text.begin(), text.end(), '\n'), 1) << text;
  std::string joined;
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one);) {
    EXPECT_LE(one.size(), 80U) << one;
    joined += joined.empty() ? one : one.substr(1);
  }
  EXPECT_EQ(joined + '\n', wide);
}

}  // namespace
}  // namespace synergraph
