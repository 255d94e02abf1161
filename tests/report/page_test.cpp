#include "synergraph/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "synergraph/analysis/attention_file.h"
#include "synergraph/core/error.h"
#include "synergraph/core/random.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/report/embedded_page.h"
#include "synergraph/report/placed_attention.h"
#include "tests/support/page_parts.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_support::page_arrays;
using testing_support::page_data;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// A source of layers whose heads are what a function says.
class InventedSource : public AttentionSource {
 public:
  explicit InventedSource(std::vector<AttentionLayer> layers) { layers_ = std::move(layers); }

  std::vector<AttentionPiece> pieces(int begin, int end) const override {
    std::vector<AttentionPiece> all;
    for (int s = begin; s < std::min(end, layers_.front().samples); ++s) all.push_back({s});
    return all;
  }
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& /*memory*/) override {
    return nullptr;
  }
  FloatType element_type(int /*layer*/) const override { return FloatType::kFloat16; }
  void copy_heads(const AttentionPiece& piece, const HeadCopy& copy) override {
    if (piece.sample == fails_) throw InputError("cannot be read");
    for (int l = 0; l < static_cast<int>(layers_.size()); ++l) {
      const AttentionLayer& layer = layers_[static_cast<std::size_t>(l)];
      const auto n = static_cast<std::size_t>(layer.nodes());
      const std::vector<std::byte> head(n * (n + 1));
      for (int h = 0; h < layer.heads; ++h) copy(l, h, head);
    }
  }

  int fails_ = -1;
};

PageAttention attention_of(AttentionSource& source, std::optional<int> samples = {}) {
  return {&source, uniform_weights(source.layers()), {}, samples};
}

std::string left_out(AttentionSource& source, std::optional<int> samples = {}) {
  const PageAttention attention = attention_of(source, samples);
  return PlacedAttention(attention).left_out();
}

class PageTest : public testing_support::ProgramTest {
 protected:
  /// The page that is written; empty: nothing.
  std::string written(const Page& page) const {
    write_page(path("page.html"), page);
    return read("page.html");
  }

  /// Opens elements of any bits as attention of layers named `names`.
  std::unique_ptr<AttentionSource> open_random(FloatType type, const Shape& shape,
                                               const std::vector<std::string>& names) {
    const DType dtype = *parse_name<DType>(name_of(type));
    RandomSequence draws(31, Purpose::kTest, static_cast<std::uint32_t>(type));
    std::vector<TensorData> tensors;
    for (const std::string& name : names) {
      std::vector<unsigned char>& bits =
          bits_.emplace_back(static_cast<std::size_t>(*element_count(shape)) * item_size(type));
      for (unsigned char& byte : bits) byte = static_cast<unsigned char>(draws.below(256));
      tensors.push_back({{name, dtype, shape}, bits.data()});
    }
    write_safetensors(path("random.safetensors"), tensors);
    return open_attention_file(TensorFile::open(path("random.safetensors")), {});
  }

  std::vector<std::vector<unsigned char>> bits_;  // of the tensors that were written
};

TEST(EmbeddedPage, HasOnePlaceForDataAndOneForArrays) {
  const std::string_view page = embedded_page();
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0U);
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(count(page, kPageData), 1U);
  EXPECT_EQ(count(page, kPageArrays), 1U);
  EXPECT_LT(page.find(kPageData), page.find(kPageArrays));
  EXPECT_THAT(std::string(page), HasSubstr("Content-Security-Policy"));
}

TEST_F(PageTest, IsTheEmbeddedPageWithDataInIt) {
  std::string page = written({"graph", "a graph", R"({"a": [1, 2.5, null]})"});
  const json data = page_data(page);
  EXPECT_EQ(data.at("format"), "synergraph.page");
  EXPECT_EQ(data.at("version"), 1);
  EXPECT_EQ(data.at("command"), "graph");
  EXPECT_EQ(data.at("title"), "a graph");
  EXPECT_EQ(data.at("document"), json::parse(R"({"a": [1, 2.5, null]})"));
  for (const char* none : {"attention", "graphs", "report", "left_out"})
    EXPECT_TRUE(data.at(none).is_null()) << none;
  EXPECT_EQ(data.at("published"), json::array());
  const std::size_t begin = page.find("{\"format\"");
  page.replace(begin, page.find("</script>", begin) - begin, "null");
  EXPECT_EQ(page, embedded_page());
}

TEST_F(PageTest, HostileTextStaysData) {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- <![CDATA[ ]]> & &lt; \"quoted\" 'so' \\ \u2028\u2029 "
      "\x01\x7f\r\n \xff\xc0\xaf \xe2\x80 \xe2\x80\xa8";
  const std::string replaced =
      json::parse(json(hostile).dump(-1, ' ', false, json::error_handler_t::replace));
  ASSERT_THAT(replaced, HasSubstr("\ufffd"));
  Page page{"heads", hostile, json({{replaced, replaced}}).dump()};
  page.graph = hostile;
  Table table{{hostile}, {{hostile}, {"1"}}};
  table.bold = {{1, 0}};
  page.report = {{hostile, {{hostile, hostile, table}}}};
  page.figures = {{hostile, hostile}};
  std::string name = hostile;
  std::erase_if(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  const auto source = open_random(FloatType::kFloat32, {1, 2, 2}, {name});
  page.attention = attention_of(*source);
  const std::string text = written(page);
  for (const char* part : {"<script", "</script", "<!--", "<!", "]]>", "<"})
    EXPECT_EQ(count(text, part), count(embedded_page(), part)) << part;
  const json data = page_data(text);
  EXPECT_EQ(data.at("title"), replaced);
  EXPECT_EQ(data.at("graphs"), replaced);
  EXPECT_EQ(data.at("document"), json({{replaced, replaced}}));
  EXPECT_EQ(data.at("attention").at("layers")[0].at("name"), name);
  const json expected = {{"title", replaced},
                         {"caption", replaced},
                         {"rows", {{replaced}, {replaced}, {"1"}}},
                         {"bold", {{1, 0}}}};
  EXPECT_EQ(data.at("report").at("sections")[0].at("tables"), json::array({expected}));
  EXPECT_EQ(data.at("report").at("figures"),
            json::array({{{"caption", replaced}, {"svg", replaced}}}));
}

TEST_F(PageTest, ArraysAreTheInputBitForBit) {
  constexpr std::size_t kTokens = 5;
  constexpr std::size_t kHeads = 2;
  constexpr std::size_t kSamples = 3;
  for (const FloatType type :
       {FloatType::kFloat16, FloatType::kBFloat16, FloatType::kFloat32, FloatType::kFloat64}) {
    bits_.clear();
    const auto source = open_random(type, {kSamples, kHeads, kTokens, kTokens}, {"a", "b"});
    Page page{"analyze", "random", "{}"};
    page.attention = attention_of(*source);
    page.attention->learned = LayerWeights{{0.25, 0.75}, {1.0, 0.0}};
    const std::string text = written(page);
    const std::vector<unsigned char> arrays = page_arrays(text);
    const json attention = page_data(text).at("attention");
    EXPECT_EQ(attention.at("tokens"), kTokens);
    EXPECT_EQ(attention.at("samples").size(), kSamples);
    const std::size_t item = item_size(type);
    ASSERT_EQ(arrays.size(), 2 * kSamples * kHeads * 15 * item);
    for (std::size_t l = 0; l < 2; ++l) {
      const json& layer = attention.at("layers").at(l);
      EXPECT_EQ(layer.at("name"), l == 0 ? "a" : "b");
      EXPECT_EQ(layer.at("heads"), json::array({"0", "1"}));
      EXPECT_EQ(layer.at("weights"), json::array({0.5, 0.5}));
      EXPECT_EQ(layer.at("learned_weights"), json(page.attention->learned->at(l)));
      ASSERT_EQ(layer.at("samples").size(), kSamples);
      for (std::size_t s = 0; s < kSamples; ++s) {
        const json& sample = layer.at("samples")[s];
        EXPECT_EQ(sample.at("sample"), s);
        for (std::size_t h = 0; h < kHeads; ++h) {
          const json& head = sample.at("heads").at(h);
          EXPECT_EQ(head.at("dtype"), name_of(type));
          EXPECT_EQ(head.at("rows"), "lower");
          std::size_t at = head.at("offset");
          for (std::size_t i = 0; i < kTokens; at += (++i) * item) {
            const std::size_t row = ((s * kHeads + h) * kTokens + i) * kTokens * item;
            EXPECT_EQ(std::memcmp(arrays.data() + at, bits_[l].data() + row, (i + 1) * item), 0)
                << name_of(type) << l << s << h << i;
          }
        }
      }
    }
  }
}

TEST_F(PageTest, WhatIsNotMeasuredAsItIsStoredIsThereAsItIsMeasured) {
  // Query and key swapped in the file, and the first token cut off.
  const std::vector<float> columns = {1.0F, 0.5F, 0.25F, 0.0F, 0.5F, 0.25F, 0.0F, 0.0F, 0.5F};
  write_npy(path("a.npy"), tensor_data("", {3, 3}, columns.data()));
  const TensorFile file = TensorFile::open(path("a.npy"));
  const auto numbers = [&](const AttentionFileOptions& options, const char* type) {
    const auto source = open_attention_file(file, options);
    Page page{"analyze", "a", "{}"};
    page.attention = attention_of(*source);
    const std::string text = written(page);
    EXPECT_EQ(
        page_data(text).at("attention").at("layers")[0].at("samples")[0].at("heads")[0].at("dtype"),
        type);
    return page_arrays(text);
  };
  const auto bytes = [](const auto& values) {
    const auto* begin = reinterpret_cast<const unsigned char*>(values.data());
    return std::vector<unsigned char>(begin, begin + values.size() * sizeof(values[0]));
  };
  const AttentionAxes axes = parse_axes("key,query");
  EXPECT_EQ(numbers({.axes = axes}, "float32"),
            bytes(std::vector<float>{1.0F, 0.5F, 0.5F, 0.25F, 0.25F, 0.5F}));
  EXPECT_EQ(numbers({.range = {1, 3}, .axes = axes}, "float64"),
            bytes(std::vector<double>{1.0, 0.25 / 0.75, 0.5 / 0.75}));
  EXPECT_EQ(numbers({.axes = axes, .missing_mass = MissingMass::kNode}, "float64"),
            bytes(std::vector<double>{1.0, 0.0, 1.0, 0.0, 0.5, 0.5, 0.0, 0.25, 0.25, 0.5}));
}

TEST_F(PageTest, HoldsAsMuchAsIsAskedForAndFits) {
  InventedSource small({{"1", 12, 2, 4}, {"2", 12, 2, 4}});
  EXPECT_EQ(left_out(small),
            "the page has the attention of 10 of 12 samples (--page-samples says how many)");
  EXPECT_EQ(left_out(small, 12), "");
  EXPECT_EQ(left_out(small, 1000), "");
  EXPECT_EQ(left_out(small, 0), "");
  for (const int samples : {0, 1, 12}) {
    Page page{"analyze", "small", "{}"};
    page.attention = attention_of(small, samples);
    const std::string text = written(page);
    EXPECT_EQ(page_arrays(text).size(), 80U * static_cast<std::size_t>(samples));
    EXPECT_EQ(page_data(text).at("attention").is_null(), samples == 0);
  }
  // About 8 MiB a sample.
  InventedSource medium({{"1", 30, 4, 1000}, {"2", 30, 4, 1000}});
  EXPECT_EQ(left_out(medium),
            "the page has the attention of 8 of 30 samples: it holds 64 MiB, and 384 MiB with "
            "--page-samples");
  EXPECT_THAT(left_out(medium, 20), HasSubstr("20 of 30 samples (--page-samples"));
  // 64 MiB a layer.
  InventedSource large({{"1", 3, 8, 2880}, {"2", 3, 8, 2880}});
  EXPECT_THAT(left_out(large), HasSubstr("1 of 3 samples in 1 of 2 layers: it holds 64 MiB"));
  InventedSource huge({{"1", 1, 64, 8192}});
  EXPECT_EQ(left_out(huge, 1),
            "the page has no attention: a layer on one sample takes 4097 MiB; it holds 384 MiB");
  InventedSource other({{"1", 1, 1, 4}, {"2", 1, 1, 5}});
  EXPECT_THAT(left_out(other), HasSubstr("1 of 2 layers: the next has another number of tokens"));
}

TEST_F(PageTest, IsWrittenWholeOrNotAtAll) {
  InventedSource source({{"1", 3, 1, 300}});
  source.fails_ = 2;
  Page page{"analyze", "broken", "{}"};
  page.attention = attention_of(source);
  write("page.html", "old");
  EXPECT_THROW(write_page(path("page.html"), page), InputError);
  EXPECT_EQ(read("page.html"), "old");
  EXPECT_THROW(write_page(path("no/folder/page.html"), page), InputError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(PageTest, HasPublishedValuesAsFractions) {
  Page page{"analyze", "model", "{}"};
  page.published = {{"copy", 4}, {"copy", 5}};
  const json published = page_data(written(page)).at("published");
  ASSERT_EQ(published.size(), 8U);
  for (const json& value : published) {
    EXPECT_EQ(value.at("heads"), 4);
    EXPECT_GE(value.at("layer"), 1);
    EXPECT_LE(value.at("layer"), 4);
    if (value.at("quantity") == "minimax_fidelity")
      EXPECT_LT(value.at("mean"), 0.01);
    else
      EXPECT_GT(value.at("mean"), 1.0);
  }
}

}  // namespace
}  // namespace synergraph
