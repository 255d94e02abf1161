#include "synergraph/report/heads_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/ties.h"
#include "synergraph/statistics/intervals.h"
#include "synergraph/statistics/symmetric_sum.h"

namespace synergraph {
namespace {

/// Decides which of so many numbers are clear of chance.
class Chance {
 public:
  Chance(const ValueOfHeads& layer_value, int samples, std::size_t candidates) {
    const double best =
        layer_value.pruning.best.empty()
            ? 0.0
            : std::max_element(layer_value.pruning.best.begin(), layer_value.pruning.best.end(),
                               [](const HeadSet& a, const HeadSet& b) { return a.value < b.value; })
                  ->value;
    least_ = kNotable * std::max(layer_value.all.mean, best);
    const double degrees = samples > 1 ? samples - 1 : std::numeric_limits<double>::infinity();
    const double level = 1.0 - 0.025 / static_cast<double>(std::max<std::size_t>(candidates, 1));
    errors_ = std::max(2.0, student_quantile(level, degrees));
  }

  /// Is the number on this side of 0, `slack` of it being unknown?
  bool clear(const Estimate& number, double sign, double slack) const {
    const double size = sign * number.mean - slack;
    const double error = std::isnan(number.error) ? 0.0 : number.error;
    return size > 0.0 && size >= least_ && size >= errors_ * error;
  }

 private:
  double least_ = 0.0;
  double errors_ = 2.0;
};

void find_carriers(const ValueOfHeads& layer_value, ValueFacts& facts) {
  if (!(layer_value.all.mean > 0.0)) return;
  std::vector<double> shapley;
  shapley.reserve(layer_value.heads.size());
  for (const ValueOfHead& head : layer_value.heads) shapley.push_back(head.shapley.mean);
  for (const int h : falling_order(shapley)) {
    facts.carriers.push_back(h);
    facts.carried += shapley[static_cast<std::size_t>(h)] / layer_value.all.mean;
    if (reaches(facts.carried, kCarriedShare)) break;
  }
  std::sort(facts.carriers.begin(), facts.carriers.end());
}

constexpr int kKinds = 5;  // of claims

/// The claim, if it is a fact; `slack` of its size is unknown.
const HeldOutClaim* fact(const std::optional<HeldOutClaim>& claim, double slack, int claims) {
  if (!claim || !(std::abs(claim->size) - slack >= kNotable)) return nullptr;
  return claim->chance * claims <= kFalseClaims ? &*claim : nullptr;
}

}  // namespace

bool is_clear(const Estimate& number) {
  return number.mean > (std::isnan(number.error) ? 0.0 : 2.0 * number.error);
}

bool is_harmful(const ValueOfHeads& layer_value) {
  return layer_value.value == HeadValue::kLoss &&
         is_clear({-layer_value.all.mean, layer_value.all.error});
}

double all_on_sets(const ValueOfHeads& layer_value) {
  return layer_value.pruning.best.empty() ? layer_value.all.mean
                                          : layer_value.pruning.best.back().value;
}

bool smallest_is_certified(const ValueOfHeads& layer_value) {
  if (!(all_on_sets(layer_value) > 0.0) && layer_value.all.mean > 0.0) return false;
  const std::vector<bool>& certified = layer_value.pruning.certified;
  const auto size = static_cast<std::ptrdiff_t>(layer_value.smallest.heads.size());
  return std::all_of(certified.begin(), certified.begin() + size, [](bool known) { return known; });
}

int possible_claims(const HeadValues& head_values) {
  int claims = 0;
  for (const LayerHeadValues& layer : head_values.layer_values)
    for (const ValueOfHeads& value : layer.values)
      if (value.held_out) claims += kKinds;
  return claims;
}

int samples_for_claims(int claims) {
  int half = 1;
  while (2.0 * symmetric_sum_chance(half, half) * claims > kFalseClaims) ++half;
  return 2 * half;
}

ValueFacts value_facts(const ValueOfHeads& layer_value, int samples, int claims) {
  ValueFacts facts;
  facts.heads = layer_value.heads.size();
  facts.decided = layer_value.value == HeadValue::kLoss
                      ? is_clear(layer_value.all)
                      : layer_value.gap <= kNotable * layer_value.all.mean;
  if (facts.decided) find_carriers(layer_value, facts);
  const Chance chance(layer_value, samples, facts.heads);
  for (std::size_t h = 0; h < facts.heads && facts.heads > 1; ++h)
    if (chance.clear(layer_value.heads[h].dropped, -1.0, layer_value.gap))
      facts.harmful.push_back(static_cast<int>(h));
  const auto dropped = [&](int h) {
    return layer_value.heads[static_cast<std::size_t>(h)].dropped.mean;
  };
  std::stable_sort(facts.harmful.begin(), facts.harmful.end(),
                   [&](int a, int b) { return dropped(a) < dropped(b); });
  if (!layer_value.held_out) return facts;
  const HeldOutClaims& judged = *layer_value.held_out;
  const double slack =
      layer_value.all.mean > 0.0 ? layer_value.gap / layer_value.all.mean : layer_value.gap;
  facts.redundant = fact(judged.redundant, 2.0 * slack, claims);  // a difference of differences
  facts.complementary = fact(judged.complementary, 2.0 * slack, claims);
  facts.better_without = fact(judged.better_without, slack, claims);
  facts.better_set = fact(judged.better_set, slack, claims);
  if (facts.decided) facts.other_weights = fact(judged.other_weights, slack, claims);
  return facts;
}

std::vector<ValueFacts> value_facts(const HeadValues& head_values, std::size_t value) {
  std::vector<ValueFacts> facts;
  const int claims = possible_claims(head_values);
  for (std::size_t l = 0; l < head_values.layer_values.size(); ++l)
    facts.push_back(value_facts(head_values.layer_values[l].values[value],
                                head_values.layers[l].samples / head_values.layers[l].sinks,
                                claims));
  return facts;
}

std::optional<std::size_t> least_flow(const StackAnalysis& stack) {
  if (stack.flow.empty()) return std::nullopt;
  const auto flow = [&](int token) { return stack.flow[static_cast<std::size_t>(token)].mean; };
  const std::vector<int> sources =
      stack_sources(stack.options, static_cast<int>(stack.flow.size()));
  return *std::min_element(sources.begin(), sources.end(),
                           [&](int a, int b) { return flow(a) < flow(b); });
}

}  // namespace synergraph
