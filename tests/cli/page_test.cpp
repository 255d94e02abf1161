#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/model/parameters.h"
#include "tests/support/page_parts.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_support::page_arrays;
using testing_support::page_data;

class PageOption : public testing_support::ProgramTest {
 protected:
  /// The page of a command, which must succeed.
  std::string page(const std::string& arguments, const std::string& note = "") const {
    const auto outcome = run(arguments + " --page page.html --quiet");
    EXPECT_EQ(outcome.status, 0) << arguments << outcome.err;
    EXPECT_EQ(outcome.err, note) << arguments;
    return read("page.html");
  }
  json document(const std::string& arguments) const {
    const auto outcome = run(arguments + " --json - --quiet");
    EXPECT_EQ(outcome.status, 0) << arguments << outcome.err;
    return json::parse(outcome.out);
  }
  /// Uniform attention (samples, 2, 3, 3) in single precision.
  void write_uniform(const std::string& name, std::int64_t samples) const {
    const float third = 1.0F / 3.0F;
    std::vector<float> values;
    for (std::int64_t k = 0; k < 2 * samples; ++k)
      for (const float value : {1.0F, 0.0F, 0.0F, 0.5F, 0.5F, 0.0F, third, third, third})
        values.push_back(value);
    write_npy(path(name), tensor_data("", {samples, 2, 3, 3}, values.data()));
  }
};

TEST_F(PageOption, OfAnalyzeHasTheDocumentWithEveryHeadAndTheAttention) {
  write_uniform("a.npy", 2);
  const std::string text = page("analyze a.npy --weights 1,3 --convention both");
  const json data = page_data(text);
  EXPECT_EQ(data.at("command"), "analyze");
  EXPECT_EQ(data.at("title"), "a.npy");
  EXPECT_EQ(data.at("document"),
            document("analyze a.npy --weights 1,3 --convention both --per-head"));
  EXPECT_EQ(data.at("program"), data.at("document").at("program"));
  const json& layer = data.at("attention").at("layers")[0];
  EXPECT_EQ(layer.at("weights"), json::array({0.25, 0.75}));
  EXPECT_TRUE(layer.at("learned_weights").is_null());
  const std::vector<unsigned char> arrays = page_arrays(text);
  ASSERT_EQ(arrays.size(), 2U * 2U * 6U * sizeof(float));
  float last = 0.0F;
  std::memcpy(&last, arrays.data() + arrays.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 1.0F / 3.0F);
  // Beside other outputs, which are what they are without it but for the mixing synergy.
  const std::string csv = run("analyze a.npy --per-sample - --quiet").out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const auto both = run("analyze a.npy --per-sample - --page page.html --quiet");
  EXPECT_EQ(std::count(both.out.begin(), both.out.end(), '\n'), 3);
  // Whole, into a pipe as well.
  EXPECT_EQ(run("analyze a.npy --page - --quiet | cat").out, page("analyze a.npy"));
  EXPECT_EQ(page_arrays(run("analyze - --page - --quiet < a.npy").out), arrays);
}

TEST_F(PageOption, SaysWhatIsLeftOut) {
  write_uniform("a.npy", 12);
  const std::string ten =
      "the page has the attention of 10 of 12 samples (--page-samples says how many)";
  const json data = page_data(page("analyze a.npy", ten + '\n'));
  EXPECT_EQ(data.at("left_out"), ten);
  EXPECT_EQ(data.at("attention").at("samples").size(), 10U);
  EXPECT_EQ(data.at("document").at("conventions")[0].at("layers")[0].at("samples"), 12);
  EXPECT_TRUE(page_data(page("heads a.npy --page-samples 12")).at("left_out").is_null());
  EXPECT_TRUE(page_data(page("heads a.npy --page-samples 0")).at("attention").is_null());
}

TEST_F(PageOption, NamesTokensAsTold) {
  write_uniform("a.npy", 1);
  write("names.txt", "the\r\n</script>\nthe");
  const auto labels = [&](const std::string& arguments) -> json {
    return page_data(page(arguments)).at("attention").at("labels");
  };
  EXPECT_TRUE(labels("analyze a.npy").is_null());
  for (const std::string command : {"analyze", "heads"}) {
    EXPECT_EQ(labels(command + " a.npy --page-tokens names.txt"),
              json::array({"the", "</script>", "the"}));
    write("two.txt", "a\nb\n");
    EXPECT_EQ(labels(command + " a.npy --range 1:3 --page-tokens two.txt"),
              json::array({"a", "b"}));
    expect_refusal(command + " a.npy --page x.html --page-tokens two.txt", 1,
                   "two.txt: 2 names for 3 tokens");
    expect_refusal(command + " a.npy --page names.txt --page-tokens names.txt", 2,
                   "would overwrite --page-tokens, which is read");
    expect_refusal(command + " a.npy --page x.html --page-tokens none.txt", 1, "none.txt");
    expect_refusal(command + " a.npy --page-tokens names.txt", 2, "--page-tokens");
  }
  EXPECT_EQ(labels("analyze a.npy --missing-mass node --page-tokens names.txt")[0], "missing mass");
  write("g.txt", "nodes 2\nhead\n0 -> 1\n");
  expect_refusal("heads g.txt --page x.html --page-tokens two.txt", 2, "names of its own");
}

TEST_F(PageOption, NamesTheTokensOfEverySample) {
  write_uniform("a.npy", 2);
  const json first = {"the", "cat", "sat"};
  const json second = {"a", "</script>", "b"};
  write("lists.json", json::array({first, second}).dump(2));
  write("lists.jsonl", first.dump() + "\r\n" + second.dump() + '\n');
  for (const std::string command : {"analyze", "heads"})
    for (const std::string file : {"lists.json", "lists.jsonl"}) {
      const json attention =
          page_data(page(command + " a.npy --page-tokens " + file)).at("attention");
      EXPECT_TRUE(attention.at("labels").is_null());
      EXPECT_EQ(attention.at("samples")[0].at("labels"), first);
      EXPECT_EQ(attention.at("samples")[1].at("labels"), second);
    }
  // One list is of all samples, in JSON as well; of samples that are not in the page, none is.
  for (const std::string file : {"one.json", "one.jsonl"}) {
    write(file, first.dump());
    const json attention = page_data(page("analyze a.npy --page-tokens " + file)).at("attention");
    EXPECT_EQ(attention.at("labels"), first);
    EXPECT_FALSE(attention.at("samples")[0].contains("labels"));
  }
  const std::string note =
      "the page has the attention of 1 of 2 samples (--page-samples says how many)\n";
  EXPECT_EQ(page_data(page("analyze a.npy --page-samples 1 --page-tokens lists.json", note))
                .at("attention")
                .at("samples"),
            json::array({{{"number", 0}, {"labels", first}}}));
  EXPECT_EQ(page_data(page("analyze a.npy --missing-mass node --page-tokens lists.json"))
                .at("attention")
                .at("samples")[1]
                .at("labels")[0],
            "missing mass");
}

TEST_F(PageOption, RefusesNamesThatDoNotFit) {
  write_uniform("a.npy", 2);
  const auto refuses = [&](const std::string& file, const std::string& text,
                           const std::string& line) {
    write(file, text);
    expect_refusal("analyze a.npy --page x.html --page-tokens " + file, 1, line);
  };
  refuses("n.json", R"([["a","b","c"],["a","b","c"],["a","b","c"]])",
          "n.json: 3 lists of names for 2 samples; give one list, or one for every sample");
  refuses("n.json", R"([["a","b","c"],["a","b"]])", "n.json: list 1: 2 names for 3 tokens");
  refuses("n.json", R"(["a","b"])", "n.json: 2 names for 3 tokens");
  refuses("n.json", R"([["a","b","c"],["a",7,"c"]])", "n.json: list 1: name 1 is not a string");
  refuses("n.json", R"([["a","b","c"],"d"])", "n.json: list 1: expected a JSON list of names");
  for (const std::string text : {"", "[", R"({"a":1})", "7"})
    refuses("n.json", text, "n.json: expected a JSON list of names");
  refuses("n.json", "[]", "n.json: 0 names for 3 tokens");
  refuses("n.jsonl", "", "n.jsonl: 0 lists of names for 2 samples");
  refuses("n.jsonl", "[\"a\",\"b\",\"c\"]\n\n", "n.jsonl: line 2: expected a JSON list of names");
  // Nobody writes into this pipe: it must not be waited for, but for a moment.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refusal("analyze a.npy --page x.html --page-tokens pipe", 1, "pipe: ");
}

TEST_F(PageOption, TokensMayBeBehindALink) {
  write_uniform("a.npy", 2);
  write("names.txt", "a\nb\nc\n");
  std::filesystem::create_symlink("names.txt", directory_ / "link.txt");
  EXPECT_EQ(page_data(page("analyze a.npy --page-tokens link.txt")).at("attention").at("tokens"),
            page_data(page("analyze a.npy --page-tokens names.txt")).at("attention").at("tokens"));
}

TEST_F(PageOption, HoldsTheDocumentsOfBothCommands) {
  write_uniform("a.npy", 2);
  const json layers = document("analyze a.npy --weights 1,3 --per-head");
  const json heads = document("heads a.npy --weights 1,3");
  const json of_heads = page_data(page("heads a.npy --weights 1,3"));
  EXPECT_EQ(of_heads.at("document"), heads);
  EXPECT_EQ(of_heads.at("also"), json::array({layers}));
  const json both = page_data(page("analyze a.npy --weights 1,3 --page-heads"));
  EXPECT_EQ(both.at("document"), layers);
  EXPECT_EQ(both.at("also"), json::array({heads}));
  EXPECT_EQ(page_data(page("analyze a.npy")).at("also"), json::array());
  // By the convention, and of the tokens, that the command has.
  const json published = page_data(page("heads a.npy --convention published --range 1:3"));
  EXPECT_EQ(published.at("also")[0],
            document("analyze a.npy --convention published --range 1:3 --per-head"));
  EXPECT_EQ(page_data(page("analyze a.npy --convention both --page-heads")).at("also")[0],
            document("heads a.npy"));
  // By several workers, too.
  const auto shared = run("heads a.npy --weights 1,3 --shard-dir d --page page.html --quiet");
  EXPECT_EQ(shared.status, 0) << shared.err;
  EXPECT_EQ(page_data(read("page.html")).at("also"), json::array({layers}));
  expect_refusal("analyze a.npy --page x.html --page-heads --shard-dir e", 2,
                 "--page-heads and --shard-dir exclude each other");
  expect_refusal("analyze a.npy --page-heads", 2, "--page-heads");
}

TEST_F(PageOption, OfACheckpointHasLearnedWeightsBesideThoseInUse) {
  Model model({.vocabulary = 9, .length = 6, .width = 8, .heads = 2, .layers = 2, .hidden = 8});
  initialise(model, 3);
  std::vector<TensorData> tensors;
  for (const ParameterInfo& p : model.layout().tensors())
    tensors.push_back(tensor_data(p.name, p.shape, model.values().data() + p.offset));
  write_safetensors(path("m.safetensors"), tensors, {{"heads", "2"}});
  const std::string text = page("analyze m.safetensors --task copy --samples 3 --weights uniform");
  const json data = page_data(text);
  EXPECT_EQ(data.at("document").at("task").at("name"), "copy");
  EXPECT_EQ(data.at("published"), json::array());  // another size than the paper's
  const json& layer = data.at("attention").at("layers")[1];
  EXPECT_EQ(layer.at("weights"), json::array({0.5, 0.5}));
  EXPECT_EQ(layer.at("learned_weights"),
            page_data(page("analyze m.safetensors --task copy --samples 3"))
                .at("attention")
                .at("layers")[1]
                .at("weights"));
  // Its task is judged once, whatever else is measured on it.
  const std::string heads = "heads m.safetensors --task copy --samples 3 --weight-samples 0";
  const json also = page_data(page(heads));
  EXPECT_EQ(also.at("document"), document(heads));
  EXPECT_EQ(also.at("also")[0],
            document("analyze m.safetensors --task copy --samples 3 --per-head"));
  // What the model computes, in its own precision: rows of softmax.
  EXPECT_EQ(layer.at("samples")[2].at("heads")[1].at("dtype"), "float32");
  const std::vector<unsigned char> arrays = page_arrays(text);
  std::vector<float> head(21);
  ASSERT_EQ(arrays.size(), 2U * 3U * 2U * 21U * sizeof(float));
  std::memcpy(head.data(),
              arrays.data() + layer.at("samples")[2].at("heads")[1].at("offset").get<std::size_t>(),
              21 * sizeof(float));
  for (std::size_t i = 0, at = 0; i < 6; at += ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j <= i; ++j) sum += head[at + j];
    EXPECT_NEAR(sum, 1.0, 1e-6) << i;
  }
}

TEST_F(PageOption, OfAGraphHasItsTextWithTheWeightsThatWereMeasured) {
  const std::string hostile = "</script><!-- &";
  const std::string last = " -> \"" + hostile + "\"\n";
  write("g.txt", "nodes a b \"" + hostile + "\"\nhead one\na -> b\nb" + last +
                     "head two weight 3\na" + last + "b" + last);
  for (const std::string weights : {"", " --weights 2,0.5"}) {
    auto outcome = run("graph g.txt --page page.html --json" + weights);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json data = page_data(read("page.html"));
    EXPECT_EQ(data.at("document"), json::parse(outcome.out));
    EXPECT_EQ(data.at("document").at("nodes")[2], hostile);
    EXPECT_EQ(data.at("document").at("combined").at("node_fidelity").size(), 3U);
    EXPECT_TRUE(data.at("attention").is_null());
    write("again.txt", data.at("graphs"));
    EXPECT_EQ(run("graph again.txt --json").out, outcome.out);
    const json heads = page_data(page("heads g.txt" + weights));
    EXPECT_EQ(heads.at("document"), document("heads g.txt" + weights));
    EXPECT_TRUE(heads.at("attention").is_null());
    write("again.txt", heads.at("graphs"));
    EXPECT_EQ(json::parse(run("graph again.txt --json").out).at("combined"),
              data.at("document").at("combined"));
  }
  const auto example = run("graph --example 1 --page page.html");
  EXPECT_EQ(example.out, run("graph --example 1").out);
  EXPECT_EQ(page_data(read("page.html")).at("title"), "Worked example 1");
}

TEST_F(PageOption, IsCheckedBeforeAnyWork) {
  write_uniform("a.npy", 1);
  for (const std::string command : {"analyze", "heads"}) {
    expect_refusal(command + " a.npy --page a.npy", 2, "would overwrite FILE, which is read");
    expect_refusal(command + " a.npy --page x.html --json x.html", 2, "--page: 'x.html' is the");
    expect_refusal(command + " a.npy --page none/x.html", 1, "none/x.html: cannot write");
    expect_refusal(command + " a.npy --page ''", 2, "--page: the value is empty");
    expect_refusal(command + " a.npy --page - --json -", 2, "only one output can go to standard");
    expect_refusal(command + " a.npy --page-samples 3", 2, "--page-samples");
    expect_refusal(command + " a.npy --page x.html --page-samples -1", 2, "--page-samples");
    expect_refusal(command + " none.npy --page x.html", 1, "none.npy");
  }
  expect_refusal("graph --example 1 --page . ", 1, "cannot write");
  EXPECT_EQ(run("graph --example 1 --page /dev/full").status, 1);
}

}  // namespace
}  // namespace synergraph
