#include "synergraph/report/importance_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "synergraph/core/ties.h"
#include "synergraph/statistics/intervals.h"

namespace synergraph {
namespace {

/// Decides which of so many numbers are clear of chance.
class Chance {
 public:
  Chance(const ValueCredit& credit, int samples, std::size_t candidates) {
    const double best =
        credit.pruning.best.empty()
            ? 0.0
            : std::max_element(credit.pruning.best.begin(), credit.pruning.best.end(),
                               [](const HeadSet& a, const HeadSet& b) { return a.value < b.value; })
                  ->value;
    least_ = kNotable * std::max(credit.all.mean, best);
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

void find_carriers(const ValueCredit& credit, CreditFacts& facts) {
  if (!(credit.all.mean > 0.0)) return;
  std::vector<double> shapley;
  shapley.reserve(credit.heads.size());
  for (const HeadCredit& head : credit.heads) shapley.push_back(head.shapley.mean);
  for (const int h : falling_order(shapley)) {
    facts.carriers.push_back(h);
    facts.carried += shapley[static_cast<std::size_t>(h)] / credit.all.mean;
    if (reaches(facts.carried, kCarriedShare)) break;
  }
  std::sort(facts.carriers.begin(), facts.carriers.end());
}

void find_pairs(const ValueCredit& credit, const Chance& chance, CreditFacts& facts) {
  const double slack = 2.0 * credit.gap;  // a pair is a difference of differences
  for (const Interaction& pair : credit.pairs) {
    if (chance.clear(pair.index, 1.0, slack) &&
        (!facts.complementary || pair.index.mean > facts.complementary->index.mean))
      facts.complementary = &pair;
    if (chance.clear(pair.index, -1.0, slack) &&
        (!facts.redundant || pair.index.mean < facts.redundant->index.mean))
      facts.redundant = &pair;
  }
}

}  // namespace

double all_on_sets(const ValueCredit& credit) {
  return credit.pruning.best.empty() ? credit.all.mean : credit.pruning.best.back().value;
}

bool smallest_is_certified(const ValueCredit& credit) {
  if (!(all_on_sets(credit) > 0.0) && credit.all.mean > 0.0) return false;
  const std::vector<bool>& certified = credit.pruning.certified;
  const auto size = static_cast<std::ptrdiff_t>(credit.smallest.heads.size());
  return std::all_of(certified.begin(), certified.begin() + size, [](bool known) { return known; });
}

CreditFacts credit_facts(const ValueCredit& credit, int samples) {
  CreditFacts facts;
  facts.heads = credit.heads.size();
  facts.decided = credit.gap <= kNotable * credit.all.mean;
  if (facts.decided) find_carriers(credit, facts);
  find_pairs(credit, Chance(credit, samples, credit.pairs.size()), facts);
  const Chance chance(credit, samples, facts.heads);
  for (std::size_t h = 0; h < facts.heads && facts.heads > 1; ++h)
    if (chance.clear(credit.heads[h].dropped, -1.0, credit.gap))
      facts.harmful.push_back(static_cast<int>(h));
  const auto dropped = [&](int h) {
    return credit.heads[static_cast<std::size_t>(h)].dropped.mean;
  };
  std::stable_sort(facts.harmful.begin(), facts.harmful.end(),
                   [&](int a, int b) { return dropped(a) < dropped(b); });
  const double enough = (1.0 + kNotable) * all_on_sets(credit) + credit.gap;
  if (credit.better && credit.better->value > enough) facts.better = &*credit.better;
  if (credit.weights && credit.weights->given_value > 0.0 && facts.decided)
    facts.reweighted = credit.weights->value / credit.weights->given_value;
  return facts;
}

std::vector<CreditFacts> credit_facts(const Importance& importance, std::size_t value) {
  std::vector<CreditFacts> facts;
  for (std::size_t l = 0; l < importance.credits.size(); ++l)
    facts.push_back(
        credit_facts(importance.credits[l].values[value], importance.layers[l].samples));
  return facts;
}

}  // namespace synergraph
