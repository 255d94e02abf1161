#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "synergraph/analysis/model_attention.h"
#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/study/cell_file.h"
#include "synergraph/study/findings.h"
#include "synergraph/study/measure_subsets.h"
#include "synergraph/subsets/subset_values.h"
#include "synergraph/train/checkpoint.h"
#include "tests/support/invented_results.h"

namespace synergraph {
namespace {

using testing::ElementsAre;
using testing_support::invented_result;
using testing_support::invented_subsets;
using enum SubsetNumber;

/// An untrained model of four heads and two layers.
Cell small_cell() {
  Cell cell;
  cell.train.model = {
      .vocabulary = 12, .length = 8, .width = 8, .heads = 4, .layers = 2, .hidden = 8};
  cell.train.sequences = 10;
  cell.measure.samples = 10;
  cell.measure.subset_samples = 3;
  return cell;
}

TEST(MeasuresSubsets, OfSeveralHeadsAndNotTooMany) {
  Cell cell = small_cell();
  EXPECT_TRUE(measures_subsets(cell));
  for (const int heads : {1, 21}) {
    cell.train.model.heads = heads;
    EXPECT_FALSE(measures_subsets(cell)) << heads;
  }
  cell = small_cell();
  cell.measure.subset_samples = 0;
  EXPECT_FALSE(measures_subsets(cell));
}

/// Means over samples of every subset's value, [layer][subset].
std::vector<std::vector<double>> tables_of(const Model& model, const Sequences& sequences,
                                           HeadValue value) {
  ModelAttention source(model, sequences, nullptr, {});
  const LayerWeights weights = weights_of_model(model);
  std::vector<std::vector<double>> tables(weights.size(), std::vector<double>(16, 0.0));
  const auto reader = source.reader({});
  for (const AttentionPiece& piece : source.pieces(0, sequences.count)) {
    reader->open(piece);
    reader->visit([&](int layer, HeadSource& heads) {
      const auto l = static_cast<std::size_t>(layer);
      const SubsetValues values = subset_values(heads, weights[l]);
      for (std::size_t s = 0; s < 16; ++s)
        tables[l][s] +=
            (value == HeadValue::kFidelity ? values.fidelity : values.speed)[s] / sequences.count;
    });
  }
  return tables;
}

TEST(MeasureSubsets, AgreesWithTheTableOfAllSubsets) {
  const Cell cell = small_cell();
  const Model model = new_run(cell.train).state.model;
  const Sequences sequences = random_sequences(1, 3, 8, 12);
  const std::vector<LayerSubsets> layers = measure_subsets(model, sequences, cell.measure, {});
  ASSERT_EQ(layers.size(), 2U);
  for (const HeadValue value : {HeadValue::kFidelity, HeadValue::kSpeed}) {
    const auto tables = tables_of(model, sequences, value);
    for (std::size_t l = 0; l < 2; ++l) {
      const std::vector<double>& table = tables[l];
      const ValueSubsets& numbers = layers[l][value];
      const double all = table[15];
      EXPECT_NEAR(numbers[kAll], all, 1e-12);
      EXPECT_NEAR(numbers[kBestHead], std::max({table[1], table[2], table[4], table[8]}), 1e-12);
      EXPECT_NEAR(numbers[kBestSubset], *std::max_element(table.begin(), table.end()), 1e-12);
      int sufficient = 4;
      int dispensable = 0;
      for (unsigned s = 1; s < 16; ++s) {
        if (table[s] >= 0.95 * all) sufficient = std::min(sufficient, __builtin_popcount(s));
        if (__builtin_popcount(s) == 3 && table[s] >= all) ++dispensable;
      }
      EXPECT_EQ(numbers[kSufficient], sufficient);
      EXPECT_EQ(numbers[kDispensable], dispensable);
      EXPECT_EQ(numbers.synergy(), numbers[kBestSubset] > numbers[kBestHead]);
      EXPECT_GE(numbers[kBestWeights], std::max(all, numbers[kEqualWeights]));
      EXPECT_GE(numbers[kBound], numbers[kBestWeights]);
    }
  }
}

/// Three heads: the first carries, the second adds, the third harms.
ValueOfHeads invented_head_value() {
  ValueOfHeads layer_value;
  layer_value.all.mean = 0.5;
  layer_value.heads.resize(3);
  layer_value.heads[0].shapley.mean = 0.375;
  layer_value.heads[0].dropped.mean = 0.25;
  layer_value.heads[1].dropped.mean = 0.125;
  layer_value.heads[2].dropped.mean = -0.25;
  layer_value.pairs = {{{0, 1}, {-0.5, 0.125}}, {{0, 2}, {0.5, 0.0625}}, {{1, 2}, {0.25, 0.125}}};
  layer_value.pruning.best = {{{}, 0.0}, {{0}, 0.5}, {{0, 1}, 0.75}, {{0, 1, 2}, 0.5}};
  layer_value.smallest = {{0}, 0.5};
  BestWeights& weights = layer_value.weights.emplace();
  weights.value = 0.875;
  weights.equal_value = 0.25;
  weights.bound = 1.0;
  return layer_value;
}

TEST(SubsetNumbers, AreReadOffAValue) {
  ValueOfHeads layer_value = invented_head_value();
  const ValueSubsets numbers = subset_numbers(layer_value, 5);
  EXPECT_THAT(numbers.numbers,
              ElementsAre(0.5, 0.5, 0.75, 0.25, 0.875, 1.0, 0.75, 2, 1, 2, 1, 1, 1));
  // A single sample says nothing of chance.
  EXPECT_EQ(subset_numbers(layer_value, 1)[kRedundantPairs], 0.0);
  // What is not certified may be no synergy.
  layer_value.gap = 0.5;
  EXPECT_FALSE(subset_numbers(layer_value, 5).synergy());
  EXPECT_EQ(subset_numbers(layer_value, 5)[kComplementaryPairs], 0.0);
}

TEST(SubsetNumbers, OfHeadsThatCarryNothing) {
  ValueOfHeads layer_value = invented_head_value();
  for (HeadSet& set : layer_value.pruning.best) set.value = 0.0;
  const ValueSubsets numbers = subset_numbers(layer_value, 5);
  EXPECT_TRUE(std::isnan(numbers[kLargestShare]));
  EXPECT_EQ(numbers[kBestSize], 1.0);
  EXPECT_FALSE(numbers.synergy());
}

TEST(CellFile, KeepsSubsetsAndRefusesDamagedOnes) {
  const Cell cell = small_cell();
  LayerSummary layer;
  for (const Quantity& quantity : cell_quantities(cell.measure))
    layer.numbers.emplace(quantity, summarise(std::vector<double>(10, 0.5)));
  LayerSubsets subsets{invented_subsets(1.0 / 3.0, 3, 2), invented_subsets(0.5, 1, 0)};
  subsets.speed[kLargestShare] = std::nan("");
  AttentionControl control;
  control.without_layer.resize(2);
  const CellResult whole{.cell = cell,
                         .loss = 0.1,
                         .accuracy = 0.75,
                         .control = control,
                         .exact = {layer, layer},
                         .published = {layer, layer},
                         .subsets = {subsets, subsets}};
  const std::string path = testing::TempDir() + "/subsets_cell.json";
  write_result(path, whole);
  const CellResult back = read_result(path, cell).value();
  EXPECT_EQ(back.subsets[1].fidelity.numbers, subsets.fidelity.numbers);
  EXPECT_EQ(back.subsets[0].speed[kSufficient], 1.0);
  EXPECT_TRUE(std::isnan(back.subsets[0].speed[kLargestShare]));

  const auto expect_refused = [&](const auto& damage) {
    CellResult damaged = whole;
    damage(damaged.subsets);
    write_result(path, damaged);
    EXPECT_THROW(read_result(path, cell), InputError);
  };
  using Layers = std::vector<LayerSubsets>;
  expect_refused([](Layers& layers) { layers.pop_back(); });
  expect_refused([](Layers& layers) { layers.clear(); });
  for (const SubsetNumber number :
       {kAll, kBestHead, kBestSubset, kEqualWeights, kBestWeights, kBound, kBestSize, kSufficient,
        kSynergySize, kDispensable, kRedundantPairs, kComplementaryPairs})
    for (const double wrong : {std::nan(""), HUGE_VAL, -1.0}) {
      SCOPED_TRACE(name_of(number));
      expect_refused([&](Layers& layers) { layers[1].speed[number] = wrong; });
    }
  for (const SubsetNumber number : {kAll, kBestHead, kBestSubset, kEqualWeights, kBestWeights}) {
    SCOPED_TRACE(name_of(number));
    expect_refused([&](Layers& layers) { layers[1].speed[number] = 1.001; });
  }
  expect_refused([](Layers& layers) { layers[0].fidelity[kSufficient] = 5; });
  expect_refused([](Layers& layers) { layers[0].fidelity[kDispensable] = 0.5; });
  expect_refused([](Layers& layers) { layers[0].fidelity[kRedundantPairs] = 7; });
  expect_refused([](Layers& layers) { layers[0].fidelity[kLargestShare] = HUGE_VAL; });
  const std::string text = [&] {
    write_result(path, whole);
    return read_file(path);
  }();
  for (const auto& [number, name] : kNamesOf<SubsetNumber>) {
    std::string other = text;
    other.replace(other.find('"' + std::string(name) + '"') + 1, 1, "X");
    write_file(path, other);
    EXPECT_THROW(read_result(path, cell), InputError) << name;
  }
  std::filesystem::remove(path);
}

/// A model of two layers.
CellResult model_with_subsets(int heads, unsigned seed, const ValueSubsets& first,
                              const ValueSubsets& second) {
  CellResult result =
      invented_result("copy", heads, seed, {{2, 0.5, 0.25, 50}, {2, 0.5, 0.25, 50}});
  result.subsets = {{first, first}, {second, second}};
  return result;
}

TEST(SubsetFindings, SummariseOverSeeds) {
  const std::vector<CellResult> results = {
      model_with_subsets(4, 2, invented_subsets(0.5, 3, 2), invented_subsets(0.25, 1, 0)),
      model_with_subsets(4, 1, invented_subsets(0.25, 2, 4), invented_subsets(0.0, 0, 0))};
  const Findings findings = derive_findings(results);
  ASSERT_EQ(findings.subsets.size(), 6U);  // two layers and both, by two values
  const SubsetSummary& layer = findings.subsets[0];
  EXPECT_EQ(layer.layer, 0);
  EXPECT_EQ(layer.samples, 5);
  EXPECT_THAT(layer.numbers.at(kSufficient).values, ElementsAre(2, 3));  // by seed
  EXPECT_EQ(layer[kSufficient].estimate, 2.5);
  EXPECT_EQ(layer[kSufficient].high, mean_interval({2, 3}).high);
  EXPECT_EQ(layer.learned_share.mean.estimate, 0.5);
  EXPECT_EQ(layer.equal_share.mean.estimate, 0.25);
  EXPECT_EQ(layer.proven_share.mean.estimate, 0.25);
  EXPECT_EQ(layer.synergy.successes, 2);
  EXPECT_EQ(layer.fewer_synergy.successes, 1);  // the other needs all four
  EXPECT_EQ(layer.fewer_synergy.trials, 2);

  const SubsetSummary& second = findings.subsets[1];
  EXPECT_EQ(second.synergy.successes, 0);
  EXPECT_TRUE(std::isnan(second[kSynergySize].estimate));
  EXPECT_THAT(second.learned_share.values, ElementsAre(testing::IsNan(), 0.5));  // 0 of 0

  const SubsetSummary& both = findings.subsets[2];
  EXPECT_EQ(both.layer, SubsetSummary::kAllLayers);
  EXPECT_THAT(both.numbers.at(kSufficient).values, ElementsAre(1, 2));
  EXPECT_THAT(both.numbers.at(kSynergySize).values, ElementsAre(4, 2));  // where there is any
  EXPECT_EQ(both.synergy.trials, 4);
  EXPECT_THAT(subsets_of_models(findings, "copy", HeadValue::kFidelity), ElementsAre(&both));
}

TEST(SubsetFindings, AreNoneWhereAModelHasNone) {
  std::vector<CellResult> results = {
      model_with_subsets(4, 1, invented_subsets(0.5, 3, 2), invented_subsets(0.25, 1, 0)),
      invented_result("copy", 4, 2, {{2, 0.5, 0.25, 50}, {2, 0.5, 0.25, 50}}),
      invented_result("copy", 1, 1, {{2, 0.5, 0.5, 0}, {2, 0.5, 0.5, 0}})};
  EXPECT_TRUE(derive_findings(results).subsets.empty());
}

}  // namespace
}  // namespace synergraph
