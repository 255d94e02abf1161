#include "synergraph/report/compare_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/compare_input.h"
#include "synergraph/statistics/rank_tests.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

constexpr const char* kHeader =
    "convention,layer,sample,head,weight,truncated_hitting_mean,hitting_mean,minimax_fidelity,"
    "minimax_node,best_head,synergy\n";

/// A table of two samples of two heads in a layer, and one that has this hitting time and fidelity.
std::string table(const std::string& layer, double add) {
  std::string text = kHeader;
  for (int sample = 0; sample < 4; ++sample) {
    const double value = 2.0 + 0.5 * sample * sample + add * (1.0 + 0.25 * sample);
    for (const char* head : {"0", "1"})
      text += "exact," + layer + "," + std::to_string(sample) + "," + head + ",0.5,," +
              (sample == 1 ? "inf" : "7") + "," + std::to_string(value / 10.0) + ",0,,\n";
    text += "exact," + layer + "," + std::to_string(sample) + ",combined,1," +
            std::to_string(value) + ",9," + std::to_string(value / 5.0) + ",0,1,1.5\n";
  }
  return text;
}

Comparison compared(const std::string& a, const std::string& b,
                    const ComparisonSettings& settings = {}) {
  return compare(parse_result(a, "a.csv"), parse_result(b, "b.csv"), settings);
}

TEST(CompareReport, PairsSamplesOfTables) {
  const Comparison of = compared(table("L", 0.0), table("L", 1.0));
  EXPECT_TRUE(of.paired);
  const MeanDifference time = of.layers.front().all.at(Quantity::kTruncatedHittingMean).numbers;
  EXPECT_NEAR(time.difference, 1.375, 1e-12);  // 1, 1.25, 1.5, 1.75: the rest of a sample cancels
  EXPECT_NEAR(time.high - time.low, 2 * 3.182446305284 * 0.3227486121839514 / 2, 1e-9);
  EXPECT_EQ(of.layers.front().heads.size(), 2U);
  EXPECT_EQ(of.layer_tests, 3U);  // synergy is the same on all samples: p = 1
  EXPECT_EQ(of.layers.front().all.at(Quantity::kSynergy).numbers.p, 1.0);
  EXPECT_EQ(of.head_tests, 2U);
  const Comparison back = compared(table("L", 1.0), table("L", 0.0));
  EXPECT_NEAR(back.layers.front().all.at(Quantity::kTruncatedHittingMean).numbers.low, -time.high,
              1e-12);
}

TEST(CompareReport, CorrectsByHolmOverLayersAndOverHeads) {
  const Comparison of = compared(table("L", 0.0), table("L", 1.0));
  std::vector<double> p;
  std::vector<double> corrected;
  for (const auto& [quantity, one] : of.layers.front().all) {
    p.push_back(one.numbers.p);
    corrected.push_back(one.corrected);
  }
  EXPECT_EQ(corrected, holm(p));
}

TEST(CompareReport, ComparesMeansWhereSamplesDiffer) {
  const std::string longer = table("L", 1.0) + "exact,L,4,0,0.5,,7,0.5,0,,\n" +
                             "exact,L,4,1,0.5,,7,0.5,0,,\nexact,L,4,combined,1,6,9,0.5,0,1,1.5\n";
  const Comparison of = compared(table("L", 0.0), longer);
  EXPECT_FALSE(of.paired);
  EXPECT_EQ(of.why, "A has 4 samples and B has 5");
  ComparisonSettings asked;
  asked.pairing = Pairing::kSamples;
  EXPECT_THROW(compared(table("L", 0.0), longer, asked), InputError);
  asked.pairing = Pairing::kNone;
  EXPECT_EQ(compared(table("L", 0.0), table("L", 1.0), asked).why, "as asked");
}

TEST(CompareReport, LeavesInfiniteNumbersOutAndCountsThem) {
  ComparisonSettings settings;
  settings.quantities = {"hitting_mean"};
  const Comparison of = compared(table("L", 0.0), table("L", 1.0), settings);
  const NumberComparison& head = of.layers.front().heads[1].at(Quantity::kHittingMean);
  EXPECT_EQ(head.never_a, 1U);
  EXPECT_EQ(head.numbers.count_a, 3U);
  settings.quantities = {"fidelity"};
  EXPECT_THROW(compared(table("L", 0.0), table("L", 1.0), settings), UsageError);
  settings.quantities = {"mixing_time_0.25"};
  EXPECT_THROW(compared(table("L", 0.0), table("L", 1.0), settings), UsageError);
}

TEST(CompareReport, MatchesLayersByNameOrElseByNumber) {
  EXPECT_THAT(compared(table("L", 0.0), table("M", 1.0)).notes,
              testing::ElementsAre(HasSubstr("compared in their order")));
  const std::string two = table("L", 0.0) + table("M", 0.0).substr(std::string(kHeader).size());
  EXPECT_THAT(compared(two, table("M", 1.0)).notes,
              testing::ElementsAre(HasSubstr("left out: 1 of 2 of A, 0 of 1 of B")));
  EXPECT_THROW(compared(two, table("N", 1.0)), InputError);
}

/// A table of layers alone, and the document of the same result.
std::string result_of(int tokens, const std::string& settings, const std::string& more = "") {
  const std::string summary = R"({"mean": 2, "std": 1, "never": 0, "samples": 4})";
  std::string text = R"({"schema": "synergraph.analyze", "schema_version": 3)" + more +
                     R"(, "conventions": [{"convention": "exact", "settings": )" + settings +
                     R"(, "layers": [{"name": "L", "samples": 4, "tokens": )" +
                     std::to_string(tokens) + R"(, "combined": {"hitting_mean": )" + summary +
                     R"(}, "heads": [{}]}]}]})";
  text += "\nconvention,layer,sample,head,hitting_mean\n";
  for (const char* row : {"0,combined,1", "1,combined,4", "2,combined,2", "3,combined,7"})
    text += std::string("exact,L,") + row + "\n";
  return text;
}

TEST(CompareReport, DocumentsSayHowTablesWereMeasured) {
  const std::string one = result_of(6, R"({"cutoff": 100})");
  const ComparisonSettings all{.quantities = {"all"}};
  const Comparison same = compared(one, one, all);
  EXPECT_TRUE(same.paired);
  EXPECT_EQ(same.layers[0].all.at(Quantity::kHittingMean).numbers.a, 3.5);  // of the table
  EXPECT_THAT(same.notes, testing::ElementsAre(HasSubstr("single heads are not compared")));
  EXPECT_THAT(compared(one, result_of(7, R"({"cutoff": 100})"), all).why,
              HasSubstr("samples of A have 6 tokens and those of B 7"));
  const auto refused = [&](const std::string& other) -> std::string {
    try {
      (void)compared(one, other, all);
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(refused(result_of(6, R"({"cutoff": 7})")), HasSubstr("cutoff 100 and b.csv with 7"));
  EXPECT_THAT(refused(result_of(6, R"({"cutoff": 100})", R"(, "edges": "norm")")),
              HasSubstr("edges attention and b.csv with norm"));
  EXPECT_THAT(refused(one + "exact,M,0,combined,1\n"), HasSubstr("not of one result"));
  EXPECT_THAT(refused(one.substr(1)), HasSubstr("neither a document"));
}

TEST(CompareReport, MeansOverSinksAreSamples) {
  const ComparedSide side = parse_result(table("L", 0.0), "a.csv", 2);
  const ComparedNumber& time =
      side.results.front().layers.front().all.at(Quantity::kTruncatedHittingMean);
  EXPECT_EQ(time.values, (std::vector<double>{2.25, 5.25}));  // of 2, 2.5, 4, 6.5
  EXPECT_THROW(parse_result(table("L", 0.0), "a.csv", 3), InputError);
}

TEST(CompareReport, IsADocumentATableAndText) {
  const CompareReport report{compared(table("=L", 0.0), table("=L", 1.0)), false};
  const auto json = nlohmann::json::parse(json_report(report));
  EXPECT_EQ(json["schema"], "synergraph.compare");
  EXPECT_TRUE(json["paired"]);
  EXPECT_EQ(json["layers"][0]["heads"].size(), 2U);
  EXPECT_EQ(json["layers"][0]["combined"]["minimax_fidelity"]["samples_a"], 4);
  EXPECT_EQ(csv_table(report).rows.size(), 5U);  // fidelity of two heads, three numbers of all
  const std::string text = format_report(report, 80);
  EXPECT_THAT(text, HasSubstr("sample k of A with sample k of B"));
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    EXPECT_LE(display_width(text.substr(begin, end - begin)), 80U)
        << text.substr(begin, end - begin);
  }
}

TEST(CompareInput, DamagedTextIsAResultOrAnInputError) {
  const std::string number =
      R"({"mean": 1.5, "std": 0.5, "min": 1, "median": 1, "max": 2, "never": 0, "samples": 4})";
  const std::string document =
      R"({"schema": "synergraph.analyze", "schema_version": 3, "conventions": [{"convention": )"
      R"("exact", "settings": {"cutoff": 100}, "layers": [{"name": "L", "samples": 4, "tokens": 5, )"
      R"("combined": {"minimax_fidelity": )" +
      number + R"(}, "synergy": )" + number + R"(, "heads": [{"head": 0, "minimax_fidelity": )" +
      number + "}]}]}]}";
  const ComparedSide whole = parse_result(document, "whole");
  EXPECT_EQ(whole.results.front().layers.front().all.size(), 2U);
  std::uint64_t state = 1;
  const auto draw = [&](std::size_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state >> 33U) % below;
  };
  constexpr char kBytes[] = "{}[]\",:0-9.einfa\n\r\x80";
  int read = 0;
  for (const std::string& text : {document, table("L", 0.0)})
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = text;
      for (std::size_t edits = 1 + draw(3); edits > 0; --edits) {
        const std::size_t at = draw(damaged.size());
        if (draw(3) == 0)
          damaged.erase(at, 1 + draw(20));
        else
          damaged[at] = kBytes[draw(sizeof kBytes - 1)];
      }
      try {
        const ComparedSide side = parse_result(damaged, "damaged");
        (void)compare(side, whole);
        ++read;
      } catch (const Error&) {
      }
    }
  EXPECT_GT(read, 100);  // some damage is to numbers alone
}

TEST(CompareInput, RefusesWhatIsNoResult) {
  const auto refused = [](const std::string& text, const std::string& why) {
    try {
      parse_result(text, "x");
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("x: ")) << text;
      EXPECT_THAT(error.what(), HasSubstr(why)) << text;
    }
  };
  const std::string header = kHeader;
  refused("", "neither a document");
  refused("[1]", "neither a document");
  refused("{\"schema\": \"synergraph.heads\"}", "expected synergraph.analyze");
  refused("{\"schema\": \"synergraph.analyze\", \"schema_version\": 99}", "reads 2 to 3");
  refused("{\"schema\": \"synergraph.analyze\", \"schema_version\": 3}", "conventions is missing");
  refused(header, "no rows");
  refused(header + "exact,L\n", "line 2: 2 cells, expected 11");
  refused(header + "exact,L,1,combined,1,2,3,0.5,0,0,1\n", "sample 0 is expected");
  refused(header + "exact,L,0,1,1,2,3,0.5,0,0,1\n", "head 0 is expected");
  refused(header + "exact,L,0,99999999999999999999,1,2,3,0.5,0,0,1\n", "column head");
  refused(header + "exact,L,0,combined,1,two,3,0.5,0,0,1\n", "is no number");
  refused(header + "exact,\"L,0\n", "not closed");
  refused(header + "exact,\"L\"x,0,combined,1,2,3,0.5,0,0,1\n", "follows a quotation mark");
  refused(header + "exact,L,0,0,1,2,3,0.5,0,0,1\n", "misses heads");
  EXPECT_TRUE(begins_like_result(" {\"schema\""));
  EXPECT_TRUE(begins_like_result(header));
  EXPECT_FALSE(begins_like_result("\x93NUMPY"));
}

}  // namespace
}  // namespace synergraph
