#include "synergraph/report/statements.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "synergraph/core/terminal.h"
#include "synergraph/report/control_table.h"
#include "synergraph/report/subset_statements.h"
#include "synergraph/study/published.h"

namespace synergraph {

namespace {

constexpr std::array kConventions = {Convention::kExact, Convention::kPublished};

/// "layer 2", "layers 1, 2 and 4".
std::string named_list(const std::string& noun, const std::vector<std::string>& names) {
  return noun + (names.size() == 1 ? " " : "s ") + listed(names);
}

/// "0.25 to 0.75", or one number where both look alike.
std::string range(double low, double high, int decimals) {
  const std::string a = fixed(low, decimals);
  const std::string b = fixed(high, decimals);
  return a == b ? a : a + " to " + b;
}

std::string p_text(double p) {
  return p < 1e-4 ? fmt::format("{:.1e}", p) : fmt::format("{:.2g}", p);
}

std::string in_percent(double share) {
  return fixed(100.0 * share, 1);
}

std::string prefix(const std::string& task, Convention convention) {
  return fmt::format("{}, {} convention: ", task, name_of(convention));
}

std::string seeds_statement(const std::map<std::string, ResultsByHeads>& groups) {
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (const auto& [task, by_heads] : groups)
    for (const auto& [heads, seeds] : by_heads) {
      least = std::min(least, seeds.size());
      most = std::max(most, seeds.size());
    }
  if (most == 1)
    return "One seed: the spread over seeds is unknown, and a difference between two models may be "
           "chance.";
  if (least == most) return fmt::format("{} seeds for every task and head count.", most);
  return fmt::format("{} to {} seeds, depending on task and head count.", least, most);
}

std::string learning_statement(const std::map<std::string, ResultsByHeads>& groups,
                               std::size_t models) {
  std::size_t failed = 0;
  std::string list;
  for (const auto& [task, by_heads] : groups)
    for (const auto& [heads, results] : by_heads) {
      std::vector<std::string> seeds;
      std::vector<double> accuracies;
      for (const CellResult* result : results) {
        if (has_learned(*result)) continue;
        seeds.push_back(fmt::format("{}", result->cell.train.seed));
        accuracies.push_back(result->accuracy);
      }
      if (seeds.empty()) continue;
      failed += seeds.size();
      const auto [low, high] = std::minmax_element(accuracies.begin(), accuracies.end());
      list += fmt::format("{}{} with {}, {} (accuracy {})", list.empty() ? "" : "; ", task,
                          counted(heads, "head"), named_list("seed", seeds), range(*low, *high, 3));
    }
  if (failed == 0)
    return models == 1 ? "The only model has learned its task."
                       : fmt::format("All {} models have learned their tasks.", models);
  if (models == 1) return fmt::format("The only model has not learned its task: {}.", list);
  return fmt::format("{} of {} models {}: {}.", failed, models,
                     failed == 1 ? "has not learned its task" : "have not learned their tasks",
                     list);
}

/// Whether the tests of a convention could ever decide anything: Holm's correction multiplies the
/// smallest p-value by their number. Empty if they could.
std::string power_statement(const Findings& findings, Convention convention) {
  std::int64_t tests = 0;
  double smallest = 1.0;
  for (const Trend& trend : findings.trends) {
    if (trend.convention != convention) continue;
    ++tests;
    smallest = std::min(smallest, trend.test.smallest_p);
  }
  const double corrected = std::min(1.0, static_cast<double>(tests) * smallest);
  if (tests == 0 || corrected <= kSignificance) return {};
  return fmt::format(
      "No trend can be established by so few models: the smallest p-value that a trend test of "
      "them can give is {} (1/{:.0f}), and {} after correction for {}.",
      p_text(smallest), 1.0 / smallest, p_text(corrected), counted(tests, "test"));
}

/// Statements on both conventions; one where they read the same.
std::vector<std::string> power_statements(const Findings& findings) {
  const std::string exact = power_statement(findings, Convention::kExact);
  const std::string published = power_statement(findings, Convention::kPublished);
  if (exact == published) {
    if (exact.empty()) return {};
    return {exact};
  }
  std::vector<std::string> texts;
  for (const Convention convention : kConventions) {
    const std::string& text = convention == Convention::kExact ? exact : published;
    if (!text.empty())
      texts.push_back(fmt::format("By the {} convention: {}", name_of(convention), text));
  }
  return texts;
}

/// "layers 1 and 2 (Somers' d 0.61 to 0.93, largest corrected p 0.012)"
std::string trend_layers(const std::vector<const Trend*>& trends, bool supported) {
  std::vector<std::string> layers;
  std::vector<double> effects;
  std::vector<double> p_values;
  for (const Trend* trend : trends) {
    layers.push_back(fmt::format("{}", trend->layer + 1));
    effects.push_back(trend->test.effect);
    p_values.push_back(trend->adjusted_p);
  }
  const auto [low, high] = std::minmax_element(effects.begin(), effects.end());
  const auto [least, most] = std::minmax_element(p_values.begin(), p_values.end());
  const std::string which = p_values.size() == 1 ? "" : supported ? "largest " : "smallest ";
  return fmt::format("{} (Somers' d {}, {}corrected p {})", named_list("layer", layers),
                     range(*low, *high, 2), which, p_text(supported ? *most : *least));
}

/// Empty where there are no such trends.
std::string trend_statement(const Findings& findings, const std::string& task,
                            Convention convention, Claim claim) {
  std::vector<const Trend*> supported;
  std::vector<const Trend*> others;
  for (const Trend& trend : findings.trends)
    if (trend.task == task && trend.convention == convention && trend.claim == claim)
      (trend.adjusted_p <= kSignificance ? supported : others).push_back(&trend);
  if (supported.empty() && others.empty()) return {};
  std::string text = prefix(task, convention);
  text += claim == Claim::kFaster ? "that more heads mix faster is "
                                  : "that more heads are more faithful is ";
  if (!supported.empty()) text += "supported in " + trend_layers(supported, true);
  if (!supported.empty() && !others.empty()) text += " and ";
  if (!others.empty()) text += "not supported in " + trend_layers(others, false);
  return text + '.';
}

/// Empty where no model has several heads.
std::string synergy_statement(const Findings& findings, const std::string& task,
                              Convention convention) {
  const TotalSynergy total = total_synergy(findings, task, convention);
  if (total.samples.trials == 0) return {};
  return fmt::format(
      "{}all heads together are more faithful than the best single head in {} of {} of a layer on "
      "a sample ({} %; {} % by head count and layer), and by the means over samples in {} of {}.",
      prefix(task, convention), total.samples.successes,
      counted(total.samples.trials, "measurement"), in_percent(total.samples.value()),
      range(100.0 * total.least, 100.0 * total.greatest, 1), total.seeds.successes,
      counted(total.seeds.trials, "layer"));
}

std::string correlation_statement(const SpeedFidelity& entry) {
  std::string text = prefix(entry.task, entry.convention);
  const double rho = entry.test.effect;
  if (std::isnan(rho)) {
    text += fmt::format("mixing time and fidelity have no rank correlation over {}{}",
                        counted(entry.points, "point"),
                        entry.points > 1 ? ", since one of them does not vary" : "");
  } else {
    text += fmt::format(
        "over {} (head count, seed, layer) mixing time and fidelity have the rank correlation {}",
        counted(entry.points, "point"), fixed(rho, 2));
    if (rho <= -0.005) text += ", faster layers being more faithful";
    if (rho >= 0.005) text += ", slower layers being more faithful";
    text += fmt::format(" (p {}, a rough guide only: points of one model are not independent)",
                        p_text(entry.test.p_value));
  }
  if (!std::isnan(entry.within_cells))
    text += fmt::format("; over the samples of one layer it is {} in the median",
                        fixed(entry.within_cells, 2));
  return text + '.';
}

}  // namespace

std::vector<std::string> general_statements(const Findings& findings,
                                            const std::vector<CellResult>& results) {
  if (results.empty()) return {};
  const std::map<std::string, ResultsByHeads> groups = group_results(results);
  std::vector<std::string> texts = {seeds_statement(groups),
                                    learning_statement(groups, results.size())};
  if (std::any_of(results.begin(), results.end(), [](const CellResult& result) {
        return !has_published_size(result.cell.train.model);
      }))
    texts.emplace_back(
        "Not all of these models have the size of the paper's: its values beside theirs are for "
        "orientation only.");
  for (std::string& text : power_statements(findings)) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> statements(const Findings& findings,
                                    const std::vector<CellResult>& results) {
  const std::map<std::string, ResultsByHeads> groups = group_results(results);
  std::vector<std::string> texts;
  texts.reserve(groups.size());
  for (const auto& [task, by_heads] : groups) texts.push_back(control_statement(task, by_heads));
  for (std::string& text : general_statements(findings, results)) texts.push_back(std::move(text));
  for (const auto& [task, by_heads] : groups) {
    if (by_heads.size() < 2)
      texts.push_back(fmt::format("{}: there is one head count, so no trend can be tested.", task));
    for (const Claim claim : {Claim::kFaster, Claim::kMoreFaithful})
      for (const Convention convention : kConventions)
        texts.push_back(trend_statement(findings, task, convention, claim));
    for (const Convention convention : kConventions)
      texts.push_back(synergy_statement(findings, task, convention));
    for (const SpeedFidelity& entry : findings.speed_fidelity)
      if (entry.task == task) texts.push_back(correlation_statement(entry));
    for (std::string& text : subset_statements(findings, task)) texts.push_back(std::move(text));
  }
  texts.erase(std::remove(texts.begin(), texts.end(), std::string()), texts.end());
  return texts;
}

}  // namespace synergraph
