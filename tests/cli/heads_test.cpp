#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/model/parameters.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;

class HeadsCommand : public testing_support::ProgramTest {
 protected:
  json heads(const std::string& arguments) const {
    const testing_support::Outcome outcome = run("heads " + arguments + " --quiet --json -");
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.err;
    return json::parse(outcome.out);
  }
};

/// An independent reference's numbers.
json expected_vectors() {
  std::ifstream file(std::string(SYNERGRAPH_TEST_DATA) + "/subsets/expected.json");
  return json::parse(file);
}

void expect_close(const json& value, const json& expected, const std::string& what) {
  EXPECT_NEAR(value.at("mean").get<double>(), expected.get<double>(),
              1e-12 * std::abs(expected.get<double>()))
      << what;
}

TEST_F(HeadsCommand, SaysThatTheValueOfVanishingWeightsIsALimit) {
  // Head 0 brings node 1's mass to node 0 but takes everything from the sink to node 0; head 1
  // gives node 1 nine tenths, which then stay there. So the fidelity of weight w on head 0 is 0.9
  // (1 - w) for w > 0, and 0.1 at w = 0.
  const std::vector<double> heads_ = {1, 0, 0, 1, 0, 0, 1,   0,   0,  //
                                      1, 0, 0, 0, 1, 0, 0.1, 0.9, 0};
  write_npy(path("limit.npy"), tensor_data("", {2, 3, 3}, heads_.data()));
  const json value = heads("limit.npy --values fidelity")["layers"][0]["values"][0];
  const json& best = value.at("best_weights");
  EXPECT_NEAR(best.at("value").get<double>(), 0.9, 1e-9);
  EXPECT_TRUE(best.at("limit").get<bool>());
  EXPECT_GT(best.at("weights")[0].get<double>(), 0.0);
  EXPECT_LT(best.at("weights")[0].get<double>(), 1e-9);
  const std::string report = run("heads limit.npy --values fidelity --quiet --verbose").out;
  EXPECT_NE(report.find("the value is a limit"), std::string::npos);
  EXPECT_NE(report.find("e-"), std::string::npos);  // a weight that is not 0 is not printed as 0

  const std::vector<double> mixed = {1, 0, 0, 0.5, 0.5, 0, 0.5, 0.5, 0,  //
                                     1, 0, 0, 1,   0,   0, 0,   1,   0};
  write_npy(path("mixed.npy"), tensor_data("", {2, 3, 3}, mixed.data()));
  EXPECT_FALSE(
      heads("mixed.npy --values fidelity")["layers"][0]["values"][0]["best_weights"]["limit"]
          .get<bool>());
}

TEST_F(HeadsCommand, RefusesEmptyValues) {
  for (const std::string command : {"heads a.npy", "analyze a.npy", "graph --example 1"})
    for (const std::string option : {" --weights ''", " --weights="}) {
      const auto outcome = run(command + option);
      EXPECT_EQ(outcome.status, 2) << command << option;
      EXPECT_NE(outcome.err.find("--weights: the value is empty"), std::string::npos)
          << outcome.err;
    }
}

TEST_F(HeadsCommand, GivesTheVectors) {
  const json expected = expected_vectors();
  std::vector<double> weights;
  for (const auto& layer : expected.at("weights"))
    for (const double weight : layer) weights.push_back(weight);
  write_npy(path("weights.npy"), tensor_data("", {2, 5}, weights.data()));
  const json document = heads(std::string(SYNERGRAPH_TEST_DATA) +
                              "/subsets/heads.npy --axes layer,head,query,key --weights "
                              "weights.npy --stack --weight-samples 0");
  EXPECT_EQ(document.at("schema"), "synergraph.heads");
  for (std::size_t l = 0; l < 2; ++l)
    for (const json& value : document.at("layers").at(l).at("values")) {
      const json& reference = expected.at("layers").at(l).at(value.at("value"));
      expect_close(value.at("all"), reference.at("all"), "all");
      for (std::size_t h = 0; h < 5; ++h) {
        expect_close(value.at("heads").at(h).at("shapley"), reference.at("shapley").at(h),
                     "shapley");
        expect_close(value.at("heads").at(h).at("banzhaf"), reference.at("banzhaf").at(h),
                     "banzhaf");
      }
      std::size_t k = 0;
      for (const json& pair : value.at("pairs")) {
        const json& set = pair.at("heads");
        const std::string key =
            std::to_string(set.at(0).get<int>()) + "," + std::to_string(set.at(1).get<int>());
        expect_close(pair, reference.at("interaction_pairs").at(key), key);
        ++k;
      }
      EXPECT_EQ(k, 10U);
      for (const json& best : reference.at("best_subsets"))
        EXPECT_NEAR(value.at("pruning").at("best").at(best.at(0).get<std::size_t>()).at("value"),
                    best.at(2).get<double>(), 1e-14);
    }
  const json& stack = expected.at("stack");
  expect_close(document.at("stack").at("fidelity"), stack.at("fidelity"), "stack fidelity");
  expect_close(document.at("stack").at("effective_tokens"), stack.at("effective_tokens"), "tokens");
  for (std::size_t l = 0; l < 2; ++l) {
    const json& flow = document.at("stack").at("layers").at(l);
    const json& through = stack.at("through_heads_then_residual").at(l);
    for (std::size_t h = 0; h < 5; ++h) expect_close(flow.at("heads").at(h), through.at(h), "flow");
    expect_close(flow.at("residual"), through.at(5), "residual");
  }
}

// Three samples of three heads; most ascents end at head 0 alone, 10 % below.
TEST_F(HeadsCommand, ProvesTheBestWeightsThatSamplesShare) {
  const json document = heads(std::string(SYNERGRAPH_TEST_DATA) +
                              "/subsets/shared_weights.npy --convention published");
  const json& best = document.at("layers").at(0).at("values").at(0).at("best_weights");
  EXPECT_NEAR(best.at("value").get<double>(), 0.0918616020996, 1e-12);  // of a grid, refined
  EXPECT_TRUE(best.at("optimal").get<bool>());
  EXPECT_NEAR(best.at("weights").at(0).get<double>(), 0.8354873657, 1e-8);
}

TEST_F(HeadsCommand, ReadsGraphsAndWritesItsOutputs) {
  write("graph.txt",
        "nodes a b c d\nhead fast\na -> d\nb -> d\nc -> d\nhead slow\na -> b\nb -> c\nc -> d\n");
  const testing_support::Outcome outcome =
      run("heads graph.txt --quiet --verbose --csv heads.csv --json heads.json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("fast"), std::string::npos);
  EXPECT_NE(read("heads.csv").find("fidelity,slow"), std::string::npos);
  const json document = json::parse(read("heads.json"));
  EXPECT_EQ(document.at("source"), "graph");
  const json graph = json::parse(run("graph graph.txt --json").out);
  EXPECT_NEAR(document.at("layers").at(0).at("values").at(0).at("all").at("mean").get<double>(),
              graph.at("combined").at("minimax_fidelity").at("value").get<double>(), 1e-15);
}

TEST_F(HeadsCommand, RunsACheckpointThroughItsLayers) {
  Model model({.vocabulary = 9, .length = 6, .width = 8, .heads = 2, .layers = 3, .hidden = 8});
  initialise(model, 3);
  std::vector<TensorData> tensors;
  for (const ParameterInfo& p : model.layout().tensors())
    tensors.push_back(tensor_data(p.name, p.shape, model.values().data() + p.offset));
  write_safetensors(path("model.safetensors"), tensors, {{"heads", "2"}});
  const std::string arguments = "model.safetensors --task copy --samples 5 --stack --threads ";
  const json document = heads(arguments + "1");
  EXPECT_EQ(document.dump(), heads(arguments + "3").dump());
  EXPECT_EQ(document.at("stack").at("layers").size(), 3U);
  for (const json& layer : document.at("layers")) {
    double sum = 0.0;
    for (const json& head : layer.at("loss").at("shapley")) sum += head.get<double>();
    EXPECT_NEAR(sum, layer.at("loss").at("won").get<double>(), 1e-12);
    EXPECT_TRUE(layer.at("loss").at("rank_correlation").contains("speed"));
  }
  // All indices of the loss are those of one game: of two heads, by the definitions.
  for (const std::string ablation : {"zero", "mean"}) {
    const json valued = heads("model.safetensors --task copy --samples 5 --ablation " + ablation);
    const json loss = valued.at("layers").at(1).at("loss");
    EXPECT_EQ(loss.at("ablation"), ablation);
    EXPECT_EQ(loss == document.at("layers").at(1).at("loss"), ablation == "mean");
    const json& value = loss.at("value");
    const auto of = [&](std::size_t head, const char* index) {
      return value.at("heads").at(head).at(index).at("mean").get<double>();
    };
    const double all = loss.at("won").get<double>();
    const double pair = value.at("pairs").at(0).at("mean").get<double>();
    EXPECT_EQ(value.at("all").at("mean"), loss.at("won"));
    EXPECT_NEAR(pair, all - of(0, "alone") - of(1, "alone"), 1e-12);
    for (const std::size_t head : {0U, 1U}) {
      EXPECT_NEAR(of(head, "shapley"), of(head, "alone") + pair / 2, 1e-12);
      EXPECT_EQ(of(head, "shapley"), loss.at("shapley").at(head).get<double>());
      EXPECT_NEAR(of(head, "banzhaf"), of(head, "shapley"), 1e-12);
      EXPECT_NEAR(of(head, "dropped"), all - of(1 - head, "alone"), 1e-12);
    }
    EXPECT_EQ(value.at("pruning").at("best").at(1).at("value").get<double>(),
              std::max(of(0, "alone"), of(1, "alone")));
    const json& accuracy = loss.at("accuracy");
    EXPECT_NEAR(
        accuracy.at("shapley").at(0).get<double>() + accuracy.at("shapley").at(1).get<double>(),
        accuracy.at("won").get<double>(), 1e-12);
  }
  // The loss is of the model, whatever its edges are.
  const auto loss = [&](const std::string& edges) {
    return heads("model.safetensors --task copy --samples 5 --loss yes" +
                 edges)["layers"][1]["loss"]
        .at("shapley");
  };
  EXPECT_EQ(loss(" --edges norm"), loss(""));
  EXPECT_EQ(loss(" --device cpu"), loss(""));
  EXPECT_FALSE(
      heads("model.safetensors --task copy --loss no").at("layers").at(0).contains("loss"));
  EXPECT_EQ(
      run("heads model.safetensors --task copy --samples 2 --quiet --to 5,::2 --from 0").status,
      1);  // token 0 is its own sink
  const json sinks =
      heads("model.safetensors --task copy --samples 4 --to 3,5 --from 1 --loss no --threads 1");
  EXPECT_EQ(sinks.at("layers").at(0).at("samples"), 8);
  EXPECT_EQ(
      sinks.dump(),
      heads("model.safetensors --task copy --samples 4 --to 3,5 --from 1 --loss no --threads 3")
          .dump());
  const json analysis =
      json::parse(run("analyze model.safetensors --task copy --samples 5 --quiet --json -").out);
  for (std::size_t l = 0; l < 3; ++l)
    EXPECT_NEAR(document.at("layers").at(l).at("values").at(0).at("all").at("mean").get<double>(),
                analysis.at("conventions")
                    .at(0)
                    .at("layers")
                    .at(l)
                    .at("combined")
                    .at("minimax_fidelity")
                    .at("mean")
                    .get<double>(),
                1e-15);
}

// Each sink measures the sequence up to it; of several, numbers are means.
TEST_F(HeadsCommand, AnswersFromWhomToWhom) {
  const std::string file = std::string(SYNERGRAPH_TEST_DATA) +
                           "/subsets/heads.npy --axes layer,head,query,key --values fidelity "
                           "--weight-samples 0 --from 2";
  const auto shapley = [](const json& document, std::size_t head) {
    const json& value = document.at("layers").at(1).at("values").at(0);
    return value.at("heads").at(head).at("shapley").at("mean").get<double>();
  };
  const json both = heads(file + " --to 4,6");
  const json four = heads(file + " --to 4");
  const json six = heads(file + " --sink 6");
  EXPECT_EQ(both.at("sequences").size(), 2U);
  EXPECT_EQ(both.at("settings").at("from_tokens"), "2");
  for (std::size_t h = 0; h < 5; ++h)
    EXPECT_NEAR(shapley(both, h), (shapley(four, h) + shapley(six, h)) / 2, 1e-15);
  const json analysis = json::parse(
      run("analyze " + std::string(SYNERGRAPH_TEST_DATA) +
          "/subsets/heads.npy --axes layer,head,query,key --from 2 --to 6 --quiet --json -")
          .out);
  EXPECT_NEAR(analysis.at("conventions")
                  .at(0)
                  .at("layers")
                  .at(1)
                  .at("combined")
                  .at("minimax_fidelity")
                  .at("mean")
                  .get<double>(),
              six.at("layers").at(1).at("values").at(0).at("all").at("mean").get<double>(), 1e-15);
  for (const char* wrong : {" --to 2", " --to 1", " --to 999", " --to -999"})
    EXPECT_EQ(run("heads " + file + wrong).status, 1) << wrong;
  EXPECT_EQ(run("heads " + file + " --to 1.5").status, 2);
  EXPECT_EQ(run("heads " + file + " --to 4,6 --range 1:").status, 2);
}

// Through the layers, too, the chosen tokens alone count.
TEST_F(HeadsCommand, FollowsTheChosenTokensThroughTheLayers) {
  const std::string file = std::string(SYNERGRAPH_TEST_DATA) +
                           "/subsets/heads.npy --axes layer,head,query,key --values fidelity "
                           "--weight-samples 0 --stack";
  const json all = heads(file).at("stack");
  const auto signal = [&](std::size_t token) {
    return all.at("signal").at(token).at("mean").get<double>();
  };
  const json two = heads(file + " --from 2,4").at("stack");
  EXPECT_EQ(two.at("signal"), all.at("signal"));
  EXPECT_EQ(two.at("fidelity").at("mean").get<double>(), std::min(signal(2), signal(4)));
  EXPECT_EQ(two.at("weakest").at(signal(2) <= signal(4) ? 2 : 4), 1);
  const json one = heads(file + " --from 4").at("stack");
  EXPECT_EQ(one.at("layers"), heads(file + " --follow 4").at("stack").at("layers"));
  EXPECT_EQ(one.at("shares"), one.at("layers"));
  EXPECT_NE(one.at("shares"), all.at("shares"));
  EXPECT_EQ(run("heads " + file + " --from 4 --verbose").out.find("weakest token"),
            std::string::npos);
}

TEST_F(HeadsCommand, RefusesWhatDoesNotFit) {
  write("graph.txt", "nodes a b\nhead x\na -> b\n");
  EXPECT_EQ(run("heads graph.txt --residual 0.2").status, 2);
  EXPECT_EQ(run("heads graph.txt --tokens graph.txt").status, 2);
  EXPECT_EQ(run("heads graph.txt --stack --follow 7").status, 1);
  EXPECT_EQ(run("heads graph.txt --values beauty").status, 2);
  EXPECT_EQ(run("heads graph.txt --loss yes").status, 1);
  EXPECT_EQ(run("heads graph.txt --loss maybe").status, 2);
  EXPECT_EQ(run("heads graph.txt --ablation zero").status, 1);
  EXPECT_EQ(run("heads graph.txt --ablation zero --loss no").status, 2);
  EXPECT_EQ(run("heads graph.txt --ablation median").status, 2);
  EXPECT_EQ(run("heads missing.npy").status, 1);
  EXPECT_EQ(run("heads graph.txt --json graph.txt").status, 2);
}

}  // namespace
}  // namespace synergraph
