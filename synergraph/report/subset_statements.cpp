#include "synergraph/report/subset_statements.h"

#include <fmt/core.h>

#include <cmath>

#include "synergraph/core/terminal.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

using enum SubsetNumber;
using Summaries = std::vector<const SubsetSummary*>;

/// "3.2 [2.9, 3.5]", with `unit` after the number: "75 % [71, 79]".
std::string with_interval(const Interval& interval, int decimals, const std::string& unit = "") {
  std::string text = fixed(interval.estimate, decimals) + unit;
  if (!std::isnan(interval.low))
    text += fmt::format(" [{}, {}]", fixed(interval.low, decimals), fixed(interval.high, decimals));
  return text;
}

std::string percent(const Interval& share) {
  return with_interval({100.0 * share.estimate, 100.0 * share.low, 100.0 * share.high}, 0, " %");
}

/// "3.2 of 4 heads, 5.0 of 8 and 7.1 of 16": of the head counts that define the number.
std::string of_heads(const Summaries& summaries, SubsetNumber number) {
  std::vector<std::string> parts;
  for (const SubsetSummary* summary : summaries) {
    const Interval& mean = (*summary)[number];
    if (!std::isnan(mean.estimate))
      parts.push_back(fmt::format("{} of {}{}", with_interval(mean, 1), summary->heads,
                                  parts.empty() ? " heads" : ""));
  }
  return listed(parts);
}

/// "75 % with 4 heads and 71 % with 8", or without the head counts.
std::string shares(const Summaries& summaries, const SeedNumber SubsetSummary::*share, bool named) {
  std::vector<std::string> parts;
  for (const SubsetSummary* summary : summaries) {
    const Interval& mean = (summary->*share).mean;
    if (std::isnan(mean.estimate)) continue;
    parts.push_back(percent(mean));
    if (named)
      parts.back() += fmt::format(" with {}{}", summary->heads, parts.size() == 1 ? " heads" : "");
  }
  return listed(parts);
}

Share total(const Summaries& summaries, const Share SubsetSummary::*share) {
  Share sum;
  for (const SubsetSummary* summary : summaries) sum += summary->*share;
  return sum;
}

std::string of_layers(const Share& share) {
  return fmt::format("{} of {}", share.successes, counted(share.trials, "layer"));
}

std::string synergy_statement(const Summaries& summaries) {
  const Share synergy = total(summaries, &SubsetSummary::synergy);
  if (synergy.successes == 0)
    return fmt::format("no subset is more faithful than the best single head in any of {}",
                       counted(synergy.trials, "layer"));
  return fmt::format(
      "some subset is more faithful than the best single head in {}, and fewer than all heads are "
      "enough for that in {} of these: {} in the mean",
      of_layers(synergy), total(summaries, &SubsetSummary::fewer_synergy).successes,
      of_heads(summaries, kSynergySize));
}

std::string redundancy_statement(const Summaries& summaries) {
  return fmt::format(
      "95 % of the fidelity of all heads is kept by {}; {} could each be left out without loss, "
      "and some subset is more faithful than all heads in {}",
      of_heads(summaries, kSufficient), of_heads(summaries, kDispensable),
      of_layers(total(summaries, &SubsetSummary::better)));
}

/// Empty where every fidelity is 0.
std::string weights_statement(const Summaries& summaries) {
  const std::string learned = shares(summaries, &SubsetSummary::learned_share, true);
  if (learned.empty()) return {};
  return fmt::format(
      "the learned weights have {} of the fidelity of the best weights found; equal weights have "
      "{}. Of what no weights can exceed, the learned ones have {}",
      learned, shares(summaries, &SubsetSummary::equal_share, false),
      shares(summaries, &SubsetSummary::proven_share, false));
}

}  // namespace

std::vector<std::string> subset_statements(const Findings& findings, const std::string& task) {
  const Summaries summaries = subsets_of_models(findings, task, HeadValue::kFidelity);
  if (summaries.empty()) return {};
  std::vector<std::string> texts;
  for (const std::string& text : {synergy_statement(summaries), redundancy_statement(summaries),
                                  weights_statement(summaries)})
    if (!text.empty())
      texts.push_back(fmt::format("{}, subsets of heads on {} of each model: {}.", task,
                                  counted(summaries.front()->samples, "sample"), text));
  return texts;
}

Table subset_overview(const Findings& findings, const std::vector<std::string>& tasks) {
  Table table;
  table.header = {"", "keep 95 %", "best subset", "dispensable", "beat the best", "weights"};
  for (const std::string& task : tasks)
    for (const SubsetSummary* summary : subsets_of_models(findings, task, HeadValue::kFidelity)) {
      std::vector<std::string> row = {fmt::format("{}, {}", task, counted(summary->heads, "head"))};
      for (const SubsetNumber number : {kSufficient, kBestSize, kDispensable, kSynergySize}) {
        const double mean = (*summary)[number].estimate;
        row.push_back(std::isnan(mean) ? "-" : fixed(mean, 1));
      }
      const double learned = summary->learned_share.mean.estimate;
      row.push_back(std::isnan(learned) ? "-" : fixed(100.0 * learned, 0) + " %");
      table.rows.push_back(std::move(row));
    }
  return table;
}

}  // namespace synergraph
