#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/setting.h"
#include "synergraph/core/ties.h"
#include "synergraph/heads/quantity_rows.h"
#include "synergraph/report/head_numbers.h"
#include "synergraph/report/heads_facts.h"
#include "synergraph/report/heads_names.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/report/heads_summary.h"
#include "synergraph/report/input_parts.h"
#include "synergraph/report/statements.h"

namespace synergraph {
namespace {

constexpr std::size_t kEveryLayer = 12;  // layers; of more only a row each is shown
constexpr std::size_t kPairs = 3;        // of each kind
constexpr std::size_t kMostClauses = 8;  // of a layer in the summary
constexpr std::size_t kLabel = 16;       // what the lines of a value begin with

/// "0.1234 ± 0.0012": as many decimals as the error has.
std::string cell(const Estimate& estimate) {
  if (std::isnan(estimate.error) || std::isnan(estimate.mean)) return human(estimate.mean);
  constexpr double kDecimals = 5.0;
  const double decimals = 1.0 - std::floor(std::log10(estimate.error));
  return fmt::format("{} ± {}",
                     decimals >= 0.0 && decimals <= kDecimals
                         ? fixed(estimate.mean, static_cast<int>(decimals))
                         : human(estimate.mean),
                     human(estimate.error, 2));
}

std::string percent_cell(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f}", 100.0 * share);
}

/// Four digits; a smaller weight keeps its leading ones, since the value may depend on it.
std::string weight_cell(double weight) {
  constexpr double kLeastFixed = 5e-5;
  return weight > 0.0 && weight < kLeastFixed ? human(weight, 3) : fixed(weight, 4);
}

/// Heads and what each is worth for every value.
std::string head_table(const HeadsReport& report, const HeadsNames& names, std::size_t l,
                       std::size_t columns) {
  const LayerHeadValues& layer_value = report.head_values.layer_values[l];
  Table table{{"head"}, {}};
  if (!report.ablated) table.header.emplace_back(row_of("weight").heading);
  for (const ValueOfHeads& value : layer_value.values) {
    if (value.value == HeadValue::kLoss) {
      table.header.insert(table.header.end(), {"Shapley", "alone", "rise without it"});
      continue;
    }
    for (const auto& [key, number] : kHeadNumbers)
      if (row_of(key).column)
        table.header.push_back(fmt::format("{} {}", name_of(value.value), row_of(key).heading));
  }
  for (const ValueOfHeads& value : layer_value.values)
    if (value.weights) table.header.push_back(fmt::format("{} weight", name_of(value.value)));
  if (report.moved) table.header.emplace_back("moves");
  if (report.loss) table.header.emplace_back("loss Shapley");
  const std::vector<double>& weights = report.head_values.weights[l];
  for (std::size_t h = 0; h < weights.size(); ++h) {
    std::vector<std::string>& row =
        table.rows.emplace_back(std::vector<std::string>{names.head(static_cast<int>(h))});
    if (!report.ablated) row.push_back(human(weights[h]));
    for (const ValueOfHeads& value : layer_value.values) {
      const ValueOfHead& head = value.heads[h];
      for (const auto& [key, number_of] : kHeadNumbers) {
        if (!row_of(key).column) continue;
        Estimate number = head.*number_of;
        if (std::abs(number.mean) <= kTie * value.all.mean) number.mean = 0.0;
        row.push_back(cell(number));
      }
    }
    for (const ValueOfHeads& value : layer_value.values)
      if (value.weights) row.push_back(weight_cell(value.weights->weights[h]));
    if (report.moved) row.push_back(human((*report.moved)[l][h], 3));
    if (report.loss) row.push_back(human((*report.loss)[l].shapley[h], 3));
  }

  return format_text(table, columns);
}

/// The strongest pairs of one sign.
std::string pair_list(const ValueOfHeads& value, const HeadsNames& names, double sign) {
  std::vector<const Interaction*> pairs;
  for (const Interaction& pair : value.pairs)
    if (sign * pair.index.mean > 0.0) pairs.push_back(&pair);
  std::stable_sort(pairs.begin(), pairs.end(), [&](const Interaction* a, const Interaction* b) {
    return sign * a->index.mean > sign * b->index.mean;
  });
  pairs.resize(std::min(pairs.size(), kPairs));
  std::string text;
  for (const Interaction* pair : pairs)
    text += fmt::format("{}{} and {} ({})", text.empty() ? "" : ", ", names.head(pair->heads[0]),
                        names.head(pair->heads[1]), cell(pair->index));
  return text.empty() ? "none" : text;
}

std::string weights_line(const ValueOfHeads& value, const HeadsNames& names) {
  const BestWeights& best = *value.weights;
  std::string text =
      fmt::format("{} (with the weights in use {}), ", human(best.value), human(best.given_value));
  if (best.optimal)
    text += "optimal";
  else
    text += fmt::format("no weights can exceed {} (gap {})", human(best.bound),
                        human(best.bound - best.value, 2));
  if (best.limit)
    text += "; the value is a limit: the smallest weights tend to 0, and at 0 the value is lower";
  text += fmt::format("; on {}", counted(value.weight_samples, "sample"));
  if (best.adaptive_probability > 0.0)
    text += fmt::format("; all on {}, the paper's choice: {}", names.heads({best.adaptive_head}),
                        human(best.adaptive_value));
  return text;
}

/// The fewest heads that keep a share of the value of all heads, where these are worth something.
std::string smallest_set(const ValueOfHeads& value, bool exact, double keep,
                         const HeadsNames& names) {
  if (is_harmful(value)) return "none: the model is better without the heads of this layer";
  if (!(value.all.mean > 0.0))
    return value.value == HeadValue::kLoss ? "none: the loss is not lower with all heads"
                                           : "none: all heads together are worth nothing";
  const HeadSet& smallest = value.smallest;
  return fmt::format("{} of {} heads{} keep{} {:.4g} %: {} ({})", smallest.heads.size(),
                     value.heads.size(),
                     exact || smallest_is_certified(value) ? "" : " (best found)",
                     smallest.heads.size() == 1 ? "s" : "", 100.0 * keep,
                     names.set(smallest.heads, value.heads.size()), human(smallest.value));
}

/// What a value says beside the tables.
std::string findings(const HeadsReport& report, const HeadsNames& names, std::size_t l,
                     const ValueOfHeads& value) {
  const LayerHeadValues& layer_value = report.head_values.layer_values[l];
  const std::size_t heads = value.heads.size();
  const auto line = [](const char* label, const std::string& text) {
    return fmt::format("{:{}}{}\n", label, kLabel, text);
  };
  std::string text = line("all heads", cell(value.all));
  if (value.gap > 0.0)
    text += line("not certified", fmt::format("a set may have up to {} more", human(value.gap, 2)));
  if (heads > 1) {
    if (value.pairs.empty()) {
      text += line("pairs", "not measured (option pairs)");
    } else {
      text += line("complementary", pair_list(value, names, 1.0));
      text += line("redundant", pair_list(value, names, -1.0));
    }
    text += line("smallest set",
                 smallest_set(value, layer_value.exact, report.head_values.options.keep, names));
    if (value.better)
      text += line("above all heads",
                   fmt::format("{}{}, the best: {} ({})",
                               counted(static_cast<std::int64_t>(value.beating), "set"),
                               layer_value.exact ? "" : " of the best found",
                               names.set(value.better->heads, heads), human(value.better->value)));
    if (value.pruning.samples < report.head_values.layers[l].samples)
      text += line("sets measured", "on " + counted(value.pruning.samples, "sample"));
  }
  if (value.weights) text += line("best weights", weights_line(value, names));
  return text;
}

/// What ± stands for in tables; empty where there is none.
std::string errors_text(const HeadValues& head_values) {
  const bool several =
      std::any_of(head_values.layers.begin(), head_values.layers.end(),
                  [](const AttentionLayer& layer) { return layer.samples > layer.sinks; });
  const bool sampled = std::any_of(head_values.layer_values.begin(), head_values.layer_values.end(),
                                   [](const LayerHeadValues& value) { return !value.exact; });
  if (several) return "± is the standard error of the mean over samples\n";
  return sampled ? "± is the standard error of sampling orders of heads\n" : "";
}

/// The summary and what it is about. Not verbose: of as many clauses as fit the screen.
std::string summary_text(const HeadsReport& report, std::size_t columns, const std::string& about) {
  constexpr std::size_t kScreenColumns = 80;
  constexpr std::ptrdiff_t kScreenLines = 23;  // and one for the prompt
  for (std::size_t clauses = kMostClauses;; --clauses) {
    std::string text;
    for (const std::string& line : heads_summary(report, clauses)) text += line + '\n';
    text += '\n' + about;
    const std::string shown = wrapped(text, std::min(columns, kScreenColumns), 2);
    if (report.verbose || clauses == 0 ||
        std::count(shown.begin(), shown.end(), '\n') <= kScreenLines)
      return wrapped(text, columns, 2);
  }
}

/// Sizes of sets that a table shows: all, or of many heads some.
std::vector<std::size_t> shown_sizes(std::size_t heads) {
  constexpr double kGrowth = 1.25;
  std::vector<std::size_t> sizes;
  for (std::size_t k = 1; k < heads;) {
    sizes.push_back(k);
    const auto next = static_cast<std::size_t>(kGrowth * static_cast<double>(k));
    k = heads <= kMaxExactHeads ? k + 1 : std::max(k + 1, next);
  }
  sizes.push_back(heads);
  return sizes;
}

std::string pruning_table(const HeadsNames& names, const ValueOfHeads& value, std::size_t columns) {
  const Pruning& pruning = value.pruning;
  Table table{
      {"left", "best heads", std::string(name_of(value.value)), "added", "removed", "by Shapley"},
      {}};
  table.left_columns = 2;
  const std::size_t heads = value.heads.size();
  for (const std::size_t k : shown_sizes(heads))
    table.rows.push_back(
        {fmt::format("{}", k),
         names.set(pruning.best[k].heads, heads) + (pruning.certified[k] ? "" : " (found)"),

         human(pruning.best[k].value), human(pruning.addition.value[k]),
         human(pruning.removal.value[k]), human(pruning.shapley.value[k])});
  return format_text(table, columns);
}

/// How a layer was measured.
std::string layer_title(const HeadsReport& report, const HeadsNames& names, std::size_t l) {
  const LayerHeadValues& layer_value = report.head_values.layer_values[l];
  const AttentionLayer& layer = report.head_values.layers[l];
  std::string text = names.layer(l);
  if (!text.empty()) text += ": ";
  text += counted(layer.heads, "head");
  if (layer_value.exact)
    text += fmt::format(", all {:.0f} sets", std::exp2(layer.heads));
  else
    text += fmt::format(", sampled: {} of the heads{}; sets are the best found",
                        counted(layer_value.permutations, "order"),
                        layer_value.precise ? "" : ", fewer than the precision wanted needs");
  return text + '\n';
}

std::string layer_tables(const HeadsReport& report, const HeadsNames& names, std::size_t l,
                         std::size_t columns) {
  const LayerHeadValues& layer_value = report.head_values.layer_values[l];
  std::string text = '\n' + wrapped(layer_title(report, names, l), columns, 2) +
                     head_table(report, names, l, columns);
  for (const ValueOfHeads& value : layer_value.values) {
    text += fmt::format("\n{}\n", name_of(value.value)) +
            wrapped(findings(report, names, l, value), columns, kLabel);
    if (value.heads.size() > 1) text += '\n' + pruning_table(names, value, columns);
  }
  return text;
}

/// What the values of an ablation are.
std::string loss_text(const HeadsReport& report) {
  const AblatedLoss& loss = *report.ablated;
  const std::vector<AttentionLayer>& layers = report.head_values.layers;
  std::string text = fmt::format(
      "{}: {}; with every head of every layer off: {}{}\n", loss.name, cell(loss.intact),
      cell(loss.without_attention),
      is_clear(loss.needed) ? "" : "; this loss does not show that the model needs attention");
  text += fmt::format(
      "{}, {}; values are the loss without any head of the layer minus the loss with these heads; "
      "heads that are off give {}\n",
      counted(static_cast<std::int64_t>(layers.size()), "layer"),
      counted(layers.front().samples, "sample"),
      loss.kind == Ablation::kMean ? "their mean over tokens and samples" : "zero");
  return text;
}

/// A row a layer.
std::string overview(const HeadsReport& report, const HeadsNames& names, std::size_t value,
                     std::size_t columns) {
  const HeadValues& head_values = report.head_values;
  const std::vector<ValueFacts> facts = value_facts(head_values, value);
  Table table{{"layer", std::string(name_of(head_values.options.values[value])), "carried by",
               fmt::format("keep {:.4g} %", 100.0 * head_values.options.keep), "best", "its heads",
               "redundant", "complementary", "better without"},
              {}};
  const auto pair = [&](const HeldOutClaim* found) {
    return found ? fmt::format("{} {}", names.head(found->heads[0]), names.head(found->heads[1]))
                 : std::string("-");
  };
  for (std::size_t l = 0; l < facts.size(); ++l) {
    const ValueOfHeads& layer_value = head_values.layer_values[l].values[value];
    const std::size_t heads = layer_value.heads.size();
    const auto best =
        std::max_element(layer_value.pruning.best.begin(), layer_value.pruning.best.end(),
                         [](const HeadSet& a, const HeadSet& b) { return a.value < b.value; });
    std::vector<int> harmful = facts[l].harmful;
    std::sort(harmful.begin(), harmful.end());
    table.rows.push_back(
        {head_values.layers[l].name, cell(layer_value.all),
         facts[l].carriers.empty() ? "-" : names.set(facts[l].carriers, heads),
         facts[l].decided ? fmt::format("{} of {}", layer_value.smallest.heads.size(), heads)
         : is_harmful(layer_value)               ? "heads harm"
         : layer_value.value == HeadValue::kLoss ? "not clear"
                                                 : "not certified",
         human(best->value), names.set(best->heads, heads), pair(facts[l].redundant),
         pair(facts[l].complementary), harmful.empty() ? "-" : names.set(harmful, heads)});
  }
  return '\n' + format_text(table, columns);
}

std::string flow_table(const StackAnalysis& stack, const std::vector<LayerFlow>& flows,
                       const HeadsNames& names, std::size_t columns) {
  std::size_t heads = 0;
  for (const LayerFlow& flow : flows) heads = std::max(heads, flow.heads.size());
  Table table{{"layer", "residual"}, {}};
  for (std::size_t h = 0; h < heads; ++h) table.header.push_back(names.head(static_cast<int>(h)));
  for (std::size_t l = 0; l < flows.size(); ++l) {
    std::vector<std::string>& row = table.rows.emplace_back(
        std::vector<std::string>{stack.layers[l].name, percent_cell(flows[l].residual.mean)});
    for (const Estimate& head : flows[l].heads) row.push_back(percent_cell(head.mean));
  }
  return format_text(table, columns);
}

/// `by_row`: weights follow from what heads move, so that shares of all that arrives say something.
/// So they do where sources are chosen.
std::string stack_text(const StackAnalysis& stack, bool by_row, const HeadsNames& names,
                       std::size_t columns) {
  std::string text = fmt::format(
      "through all layers, {} passing beside the heads: fidelity {}, effective tokens {}\n",
      stack.measured_residual ? "the measured share"
                              : fmt::format("{:.4g} %", 100.0 * stack.options.residual),
      cell(stack.fidelity), cell(stack.effective_tokens));
  if (const auto least = least_flow(stack))
    text += fmt::format("maximum flow to the sink: least {}, from {}\n", cell(stack.flow[*least]),
                        names.node(static_cast<int>(*least)));
  const TokenChoice& from = stack.options.from;
  text += fmt::format("where the signal of {} passes each layer, in %",
                      stack.options.token ? names.node(*stack.options.token)
                      : from.single()     ? from.described()
                      : from.empty()      ? "each sample's weakest token"
                                          : "each sample's weakest of " + from.described());
  if (stack.without_signal > 0)
    text += fmt::format(" ({} of {} samples have none)", stack.without_signal, stack.samples);
  text = wrapped(text + '\n', columns, 2);
  if (!stack.flows.empty()) text += flow_table(stack, stack.flows, names, columns);
  const bool same = from.single() && !stack.options.token;  // as what was followed
  if ((by_row || !from.empty()) && !same && !stack.shares.empty())
    text += fmt::format("what passes each layer of all that reaches the sink{}, in %\n",
                        from.empty() ? "" : " from " + from.described()) +
            flow_table(stack, stack.shares, names, columns);
  return '\n' + text;
}

}  // namespace

std::string format_report(const HeadsReport& report, std::size_t columns) {
  const HeadValues& head_values = report.head_values;
  const HeadsNames names(report);
  std::string about = report.ablated
                          ? loss_text(report)
                          : input_text(report, head_values.layers) +
                                convention_text(report.convention, head_values.options.convention);
  if (!head_values.measured_on.empty())
    about += fmt::format("subsets measured on {}\n", head_values.measured_on);
  about += report.verbose
               ? errors_text(head_values)
               : fmt::format("tables of every head and pair: {}, {} or {}\n",
                             option_mark("verbose"), option_mark("csv"), option_mark("json"));
  std::string text = summary_text(report, columns, about);
  if (!report.verbose) return text;
  const std::size_t layers = head_values.layer_values.size();
  if (layers > 1)
    for (std::size_t v = 0; v < head_values.options.values.size(); ++v)
      text += overview(report, names, v, columns);
  for (std::size_t l = 0; l < layers && layers <= kEveryLayer; ++l)
    text += layer_tables(report, names, l, columns);
  if (layers > kEveryLayer)
    text += '\n' + wrapped(fmt::format("the heads of every layer: {} and {}\n", option_mark("csv"),
                                       option_mark("json")),
                           columns, 2);
  if (report.stack)
    text += stack_text(*report.stack, report.edges != EdgeKind::kAttention, names, columns);
  return text;
}

}  // namespace synergraph
