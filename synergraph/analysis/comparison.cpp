#include "synergraph/analysis/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/special_values.h"
#include "synergraph/core/terminal.h"
#include "synergraph/statistics/rank_tests.h"

namespace synergraph {
namespace {

constexpr Quantity::Kind kUsual[] = {Quantity::kTruncatedHittingMean, Quantity::kMinimaxFidelity,
                                     Quantity::kSynergy};

/// The results of both sides by the first convention that both have.
std::pair<const ComparedResult*, const ComparedResult*> common(const ComparedSide& a,
                                                               const ComparedSide& b) {
  for (const ComparedResult& one : a.results)
    for (const ComparedResult& other : b.results)
      if (one.convention == other.convention) return {&one, &other};
  throw InputError(fmt::format("{} and {} were measured by different conventions, {} and {}",
                               printable(a.name), printable(b.name), a.results.front().convention,
                               b.results.front().convention));
}

/// Layers that belong together, by name, or by number where no name is the same.
using LayerPairs = std::vector<std::pair<const ComparedLayer*, const ComparedLayer*>>;

LayerPairs matched_layers(const std::vector<ComparedLayer>& a, const std::vector<ComparedLayer>& b,
                          std::vector<std::string>& notes) {
  LayerPairs pairs;
  std::map<std::string, const ComparedLayer*> by_name;
  for (const ComparedLayer& layer : b) by_name.emplace(layer.name, &layer);
  for (const ComparedLayer& layer : a)
    if (const auto found = by_name.find(layer.name); found != by_name.end())
      pairs.emplace_back(&layer, found->second);
  if (pairs.empty()) {
    if (a.size() != b.size())
      throw InputError(fmt::format(
          "A has {} layers and B has {}, and no layer of A has the name of one of B: {} and {}; "
          "choose the layers to compare when you measure",
          a.size(), b.size(), quoted_text(a.front().name), quoted_text(b.front().name)));
    notes.push_back("layers have different names: they are compared in their order");
    for (std::size_t l = 0; l < a.size(); ++l) pairs.emplace_back(&a[l], &b[l]);
  } else if (pairs.size() < std::max(a.size(), b.size())) {
    notes.push_back(fmt::format(
        "layers without a counterpart of the same name are left out: {} of {} of A, {} of {} of B",
        a.size() - pairs.size(), a.size(), b.size() - pairs.size(), b.size()));
  }
  return pairs;
}

/// Why samples cannot be paired; empty if they can.
std::string unpaired_because(const ComparedSide& a, const ComparedSide& b,
                             const LayerPairs& layers) {
  for (const ComparedSide* side : {&a, &b})
    if (!side->by_sample)
      return fmt::format("{} has means only; a table of samples (analyze --per-sample) has more",
                         printable(side->name));
  for (const auto& [one, other] : layers) {
    if (one->samples != other->samples)
      return fmt::format("A has {} and B has {}",
                         counted(static_cast<std::int64_t>(one->samples), "sample"),
                         other->samples);
    if (one->tokens && other->tokens && *one->tokens != *other->tokens)
      return fmt::format("samples of A have {} tokens and those of B {}", *one->tokens,
                         *other->tokens);
  }
  return {};
}

NumberComparison compared(const ComparedNumber& a, const ComparedNumber& b, bool paired,
                          double level) {
  NumberComparison result{{}, kNan, a.never, b.never};
  if (paired) {
    std::vector<double> first;
    std::vector<double> second;
    for (std::size_t s = 0; s < a.values.size(); ++s)
      if (std::isfinite(a.values[s]) && std::isfinite(b.values[s])) {
        first.push_back(a.values[s]);
        second.push_back(b.values[s]);
      }
    result.numbers = paired_difference(first, second, level);
  } else {
    result.numbers = unpaired_difference(a.finite, b.finite, level);
  }
  return result;
}

/// The quantities that were asked for, of those that both have.
class Wanted {
 public:
  explicit Wanted(const std::vector<std::string>& keys) {
    all_ = keys.size() == 1 && keys.front() == "all";
    if (keys.empty()) named_.insert(std::begin(kUsual), std::end(kUsual));
    if (keys.empty() || all_) return;
    for (const std::string& key : keys) {
      const std::optional<Quantity> quantity = parse_quantity(key);
      if (!quantity)
        throw UsageError(
            fmt::format("{}: {} is no quantity; `synergraph schema quantities` lists the keys",
                        option_mark("quantities"), quoted_text(key)));
      named_.insert(*quantity);
    }
    asked_ = named_;
  }

  NumberComparisons compare(const ComparedNumbers& a, const ComparedNumbers& b, bool paired,
                            double level) {
    NumberComparisons found;
    for (const auto& [quantity, number] : a) {
      const auto other = b.find(quantity);
      if (other == b.end() || !(all_ || named_.contains(quantity))) continue;
      asked_.erase(quantity);
      found.emplace(quantity, compared(number, other->second, paired, level));
    }
    return found;
  }

  /// UsageError for a quantity that was asked for by name and not found.
  void check() const {
    if (!asked_.empty())
      throw UsageError(
          fmt::format("{}: not both results have {}; measure each head's walk if it is "
                      "a number of walks",
                      option_mark("quantities"), key_of(*asked_.begin())));
  }

 private:
  bool all_ = false;
  std::set<Quantity> named_;
  std::set<Quantity> asked_;
};

/// Corrects the p-values of some comparisons together, and counts them.
std::size_t correct(const std::vector<NumberComparison*>& all) {
  std::vector<double> p;
  p.reserve(all.size());
  for (const NumberComparison* one : all) p.push_back(one->numbers.p);
  const std::vector<double> corrected = holm(p);
  std::size_t tests = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k]->corrected = corrected[k];
    tests += std::isnan(p[k]) ? 0 : 1;
  }
  return tests;
}

}  // namespace

ComparedNumber compared_number(std::vector<double> values) {
  ComparedNumber number;
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
    number.never += std::isinf(value) ? 1 : 0;
  }
  number.finite = moments_of(finite);
  number.values = std::move(values);
  return number;
}

Comparison compare(const ComparedSide& a, const ComparedSide& b,
                   const ComparisonSettings& settings) {
  for (const ComparedSide* side : {&a, &b})
    if (side->results.empty() || side->results.front().layers.empty())
      throw InputError(fmt::format("{}: there is nothing to compare", printable(side->name)));
  const auto [one, other] = common(a, b);
  for (const auto& [key, value] : one->settings)
    if (const auto found = other->settings.find(key);
        found != other->settings.end() && found->second != value)
      throw InputError(fmt::format("{} was measured with {} {} and {} with {}; measure one again",
                                   printable(a.name), printable(key), printable(value),
                                   printable(b.name), printable(found->second)));
  Comparison result;
  result.a = a.name;
  result.b = b.name;
  result.convention = one->convention;
  result.level = settings.level;
  const LayerPairs layers = matched_layers(one->layers, other->layers, result.notes);
  const std::string obstacle = unpaired_because(a, b, layers);
  if (settings.pairing == Pairing::kSamples && !obstacle.empty())
    throw InputError(
        fmt::format("{}: samples cannot be paired: {}", option_mark("pairing"), obstacle));
  result.paired = settings.pairing != Pairing::kNone && obstacle.empty();
  result.why = result.paired                        ? "sample k of A with sample k of B"
               : settings.pairing == Pairing::kNone ? "as asked"
                                                    : obstacle;
  Wanted wanted(settings.quantities);
  const ComparedSide* without_heads = nullptr;
  std::size_t other_heads = 0;
  for (const auto& [first, second] : layers) {
    LayerComparison& layer = result.layers.emplace_back();
    layer.name = first->name;
    layer.name_b = second->name;
    layer.all = wanted.compare(first->all, second->all, result.paired, settings.level);
    if (first->heads.empty() || second->heads.empty()) {
      without_heads = first->heads.empty() ? &a : &b;
      continue;
    }
    if (first->heads.size() != second->heads.size()) {
      ++other_heads;
      continue;
    }
    for (std::size_t h = 0; h < first->heads.size(); ++h)
      layer.heads.push_back(
          wanted.compare(first->heads[h], second->heads[h], result.paired, settings.level));
  }
  wanted.check();
  if (without_heads != nullptr)
    result.notes.push_back(
        fmt::format("single heads are not compared, because {} has no numbers of them; measure "
                    "with --per-head, in Python with per_head=True",
                    printable(without_heads->name)));
  if (other_heads > 0)
    result.notes.push_back(
        fmt::format("{} have other numbers of heads in A and B: single heads of "
                    "these are not compared",
                    counted(static_cast<std::int64_t>(other_heads), "layer")));
  std::vector<NumberComparison*> of_layers;
  std::vector<NumberComparison*> of_heads;
  for (LayerComparison& layer : result.layers) {
    for (auto& [quantity, number] : layer.all) of_layers.push_back(&number);
    for (NumberComparisons& head : layer.heads)
      for (auto& [quantity, number] : head) of_heads.push_back(&number);
  }
  if (of_layers.empty())
    throw InputError(
        fmt::format("{} and {} have no quantity in common", printable(a.name), printable(b.name)));
  result.layer_tests = correct(of_layers);
  result.head_tests = correct(of_heads);
  return result;
}

}  // namespace synergraph
