#include "synergraph/report/heads_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "synergraph/core/terminal.h"
#include "synergraph/report/heads_facts.h"
#include "synergraph/report/heads_names.h"
#include "synergraph/report/table.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

constexpr std::size_t kLineEach = 8;    // layers; of more, what stands out is said
constexpr std::size_t kShort = 3;       // clauses of a short line
constexpr std::size_t kBothValues = 2;  // likewise; of more, the second value is said together

std::string percent(double share) {
  return fixed(100.0 * share, std::abs(share) < 0.0995 ? 1 : 0) + " %";
}

/// Sentences about one value.
class ValueSummary {
 public:
  ValueSummary(const HeadsReport& report, const HeadsNames& names, std::size_t value)
      : head_values_(report.head_values),
        names_(names),
        value_(value),
        facts_(value_facts(head_values_, value)) {}

  /// A layer in a line of at most so many clauses.
  std::string layer(std::size_t l, std::size_t clauses) const {
    const ValueOfHeads& layer_value = this->layer_value(l);
    const ValueFacts& facts = facts_[l];
    std::string line = names_.layer(l);
    const bool loss = layer_value.value == HeadValue::kLoss;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ",
                        !loss                         ? name_of(layer_value.value)
                        : layer_value.all.mean >= 0.0 ? "loss lower by"
                                                      : "loss higher by",
                        human(loss ? std::abs(layer_value.all.mean) : layer_value.all.mean, 3));
    if (layer_value.gap > 0.0)
      line += fmt::format(" to {}", human(layer_value.all.mean + layer_value.gap, 3));
    std::vector<std::string> said;
    if (facts.heads == 1) said.emplace_back("a single head");
    if (!facts.decided && loss)
      said.emplace_back(is_clear({-layer_value.all.mean, layer_value.all.error})
                            ? "the model is better without the heads of this layer"
                            : "not clear of chance: this loss does not show that the model needs "
                              "the heads of this layer");
    else if (!facts.decided && facts.heads > 1)
      said.emplace_back("not certified, so that little can be said of its heads");
    std::array order = {&ValueSummary::carriers,      &ValueSummary::smallest,
                        &ValueSummary::redundant,     &ValueSummary::harmful,
                        &ValueSummary::complementary, &ValueSummary::reweighted};
    if (clauses == kShort) std::swap(order[2], order[3]);
    for (const auto clause : order) {
      if (facts.heads == 1 || said.size() == clauses) break;
      if (!facts.decided && (clause == order[0] || clause == order[1])) continue;
      if (std::string text = (this->*clause)(l); !text.empty()) said.push_back(std::move(text));
    }
    for (std::size_t k = 0; k < said.size(); ++k) line += (k == 0 ? ": " : "; ") + said[k];
    return line;
  }

  /// How large it is, and how many heads it needs.
  std::string range() const {
    std::vector<double> all;
    std::vector<double> kept;
    std::size_t heads = 0;
    for (std::size_t l = 0; l < facts_.size(); ++l) {
      all.push_back(layer_value(l).all.mean);
      kept.push_back(static_cast<double>(layer_value(l).smallest.heads.size()));
      heads = std::max(heads, facts_[l].heads);
    }
    const bool one = *std::max_element(kept.begin(), kept.end()) == 1.0;
    std::string text =
        fmt::format("{} in {} layers: {}", name(), facts_.size(), spread(std::move(all)));
    if (heads > 1)
      text += fmt::format("; {} of {}{} heads keep{} {}", spread(std::move(kept)),
                          same_heads() ? "" : "up to ", heads, one ? "s" : "", kept_share());
    return text;
  }

  /// Where few heads do most of the work.
  std::string concentrated() const {
    std::vector<std::size_t> order(facts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t l) {
      return facts_[l].carriers.empty() || 2 * facts_[l].carriers.size() > facts_[l].heads;
    });
    if (order.empty())
      return fmt::format("{}: in no layer do half of the heads carry {}", name(),
                         percent(kCarriedShare));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const ValueFacts& x = facts_[a];
      const ValueFacts& y = facts_[b];
      return x.carriers.size() != y.carriers.size() ? x.carriers.size() < y.carriers.size()
                                                    : x.carried > y.carried;
    });
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> named;
    for (std::size_t k = 0; k < std::min(kNamed, order.size()); ++k)
      named.push_back(fmt::format("{} ({})", names_.layer(order[k]), carriers(order[k])));
    return fmt::format("{} rests on few heads in {}", name(), listed(named));
  }

  std::string harmful_heads() const {
    return notable(
        "dropping a head raises it",
        [&](std::size_t l) {
          const std::vector<int>& heads = facts_[l].harmful;
          return heads.empty() ? 0.0 : -share(l, dropped(l, heads.front()));
        },
        [&](std::size_t l, double size) {
          return fmt::format("{}, by {}", names_.heads({facts_[l].harmful.front()}), percent(size));
        });
  }

  std::string pairs() const {
    const auto pairs_of = [&](const char* what, const Interaction* ValueFacts::*kind) {
      return notable(
          what,
          [&](std::size_t l) {
            const Interaction* pair = facts_[l].*kind;
            return pair ? std::abs(share(l, pair->index.mean)) : 0.0;
          },
          [&](std::size_t l, double) {
            const Interaction& pair = *(facts_[l].*kind);
            return fmt::format("{}, {}", names_.heads(pair.heads), signed_part(l, pair));
          });
    };
    std::string text = pairs_of("redundant pairs", &ValueFacts::redundant);
    const std::string others = pairs_of("complementary ones", &ValueFacts::complementary);
    if (text.empty() || others.empty()) return text + others;
    return text + "; " + others;
  }

  std::string better_sets() const {
    return notable(
        "fewer heads reach more than all",
        [&](std::size_t l) {
          return facts_[l].better ? set_share(l, facts_[l].better->value) : 0.0;
        },
        [&](std::size_t l, double size) {
          return fmt::format("{} of them {}", facts_[l].better->heads.size(), percent(size));
        });
  }

  std::string better_weights() const {
    return notable(
        "other weights raise it",
        [&](std::size_t l) {
          const double gain = facts_[l].reweighted - 1.0;
          return gain >= kNotable ? gain : 0.0;
        },
        [](std::size_t, double size) { return "by " + percent(size); });
  }

  /// The clause with the name of the value before it.
  std::string named(const std::string& clause) const {
    return clause.empty() ? clause : fmt::format("{}: {}", name(), clause);
  }

 private:
  const ValueOfHeads& layer_value(std::size_t l) const {
    return head_values_.layer_values[l].values[value_];
  }
  std::string kept_share() const {
    return fmt::format("{:.4g} %", 100.0 * head_values_.options.keep);
  }
  std::string name() const { return std::string(name_of(layer_value(0).value)); }
  double dropped(std::size_t l, int head) const {
    return layer_value(l).heads[static_cast<std::size_t>(head)].dropped.mean;
  }
  /// A part of the value of all heads; where that is 0, of 1.
  double share(std::size_t l, double number) const {
    const double all = layer_value(l).all.mean;
    return all > 0.0 ? number / all : number;
  }
  std::string part(std::size_t l, double number) const {
    return layer_value(l).all.mean > 0.0 ? percent(share(l, number)) : human(number, 3);
  }
  /// The same of a set, on the samples that sets were measured on.
  double set_share(std::size_t l, double number) const {
    const double all = all_on_sets(layer_value(l));
    return all > 0.0 ? number / all : number;
  }
  std::string set_part(std::size_t l, double number) const {
    return all_on_sets(layer_value(l)) > 0.0 ? percent(set_share(l, number)) : human(number, 3);
  }
  std::string signed_part(std::size_t l, const Interaction& pair) const {
    return (pair.index.mean > 0.0 ? "+" : "") + part(l, pair.index.mean);
  }
  bool same_heads() const {
    return std::all_of(facts_.begin(), facts_.end(),
                       [&](const ValueFacts& f) { return f.heads == facts_.front().heads; });
  }

  /// "2 to 12 (median 5)".
  static std::string spread(std::vector<double> numbers) {
    std::sort(numbers.begin(), numbers.end());
    std::string low = human(numbers.front(), 3);
    const std::string high = human(numbers.back(), 3);
    if (low == high) return low;
    const std::size_t size = numbers.size();
    return fmt::format("{} to {} (median {})", low, high,
                       human(0.5 * (numbers[(size - 1) / 2] + numbers[size / 2]), 3));
  }

  std::string carriers(std::size_t l) const {
    const ValueFacts& facts = facts_[l];
    if (facts.carriers.empty()) return "all heads together are worth nothing";
    if (facts.carriers.size() == facts.heads) return "all heads carry it";
    return fmt::format("{} {} {}", names_.few(facts.carriers, facts.heads),
                       facts.carriers.size() == 1 ? "carries" : "carry", percent(facts.carried));
  }

  std::string smallest(std::size_t l) const {
    const std::size_t heads = facts_[l].heads;
    const std::size_t kept = layer_value(l).smallest.heads.size();
    const bool exact = head_values_.layer_values[l].exact || smallest_is_certified(layer_value(l));
    if (!(layer_value(l).all.mean > 0.0)) return better(l);
    const int samples = layer_value(l).pruning.samples;
    std::string found = exact ? "" : "best found";
    if (samples < head_values_.layers[l].samples)
      found += fmt::format("{}on {}", exact ? "" : " ", counted(samples, "sample"));
    const std::string some = fmt::format("{} of {} heads{}", kept, heads,
                                         found.empty() ? "" : fmt::format(" ({})", found));
    const HeadSet* above = facts_[l].better;
    if (above && above->heads.size() == kept)
      return fmt::format("{} reach{} {}", some, kept == 1 ? "es" : "", set_part(l, above->value));
    const std::string keep = kept_share();
    const std::string text =
        kept == heads
            ? fmt::format("no smaller set{} keeps {}", found.empty() ? "" : " that was found", keep)
            : fmt::format("{} keep{} {}", some, kept == 1 ? "s" : "", keep);
    return above ? text + ", " + better(l) : text;
  }

  std::string better(std::size_t l) const {
    const HeadSet* set = facts_[l].better;
    if (!set) return {};
    const std::size_t size = set->heads.size();
    return size == 1 ? fmt::format("the best alone reaches {}", set_part(l, set->value))
                     : fmt::format("the best {} reach {}", size, set_part(l, set->value));
  }

  std::string pair(std::size_t l, const Interaction* pair, const char* relation) const {
    if (!pair) return {};
    return fmt::format("{} {} ({})", names_.heads(pair->heads), relation, signed_part(l, *pair));
  }
  std::string redundant(std::size_t l) const {
    return pair(l, facts_[l].redundant, "are redundant");
  }
  std::string complementary(std::size_t l) const {
    return pair(l, facts_[l].complementary, "complement each other");
  }

  std::string harmful(std::size_t l) const {
    const std::vector<int>& heads = facts_[l].harmful;
    if (heads.empty()) return {};
    const std::string by = part(l, -dropped(l, heads.front()));
    if (heads.size() == 1)
      return fmt::format("dropping {} raises it by {}", names_.heads(heads), by);
    return fmt::format("dropping any of {} heads raises it, {} most (by {})", heads.size(),
                       names_.heads({heads.front()}), by);
  }

  std::string reweighted(std::size_t l) const {
    const double gain = facts_[l].reweighted - 1.0;
    if (!(gain >= kNotable)) return {};
    return fmt::format("{} raise it by {}",
                       layer_value(l).weights->optimal ? "the best weights" : "other weights",
                       percent(gain));
  }

  /// In how many layers something is so, where most, and what there: `size` is 0 where it is not.
  std::string notable(const char* what, const std::function<double(std::size_t)>& size,
                      const std::function<std::string(std::size_t, double)>& detail) const {
    std::size_t count = 0;
    std::size_t most = 0;
    for (std::size_t l = 0; l < facts_.size(); ++l) {
      if (!(size(l) > 0.0)) continue;
      if (count++ == 0 || size(l) > size(most)) most = l;
    }
    if (count == 0) return {};
    return fmt::format("{} in {} of {} layers, most in {} ({})", what, count, facts_.size(),
                       names_.layer(most), detail(most, size(most)));
  }

  const HeadValues& head_values_;
  const HeadsNames& names_;
  std::size_t value_;
  std::vector<ValueFacts> facts_;
};

std::string stack_line(const HeadsReport& report, const HeadsNames& names) {
  const StackAnalysis& stack = *report.stack;
  const int nodes = stack.layers.front().nodes();
  const std::string sink = report.token_names.empty() ? "the last token" : names.node(nodes - 1);
  const auto weakest = static_cast<int>(
      std::max_element(stack.weakest.begin(), stack.weakest.end()) - stack.weakest.begin());
  const int times = stack.weakest.empty() ? 0 : stack.weakest[static_cast<std::size_t>(weakest)];
  std::string text = fmt::format("through all layers: {} hears {} of {} tokens in effect", sink,
                                 human(stack.effective_tokens.mean, 3), nodes);
  if (times > 0)
    text += fmt::format(
        ", the weakest ({}{}) with a share of {}", names.node(weakest),
        times == stack.samples ? "" : fmt::format(" in {} of {} samples", times, stack.samples),
        human(stack.fidelity.mean, 2));
  std::size_t layer = 0;
  std::size_t head = 0;
  double most = 0.0;
  for (std::size_t l = 0; l < stack.flows.size(); ++l)
    for (std::size_t h = 0; h < stack.flows[l].heads.size(); ++h)
      if (stack.flows[l].heads[h].mean > most) {
        most = stack.flows[l].heads[h].mean;
        layer = l;
        head = h;
      }
  if (most > 0.0)
    text +=
        fmt::format("; of all heads, {} passes most through {}{} ({})",
                    stack.options.token ? names.node(*stack.options.token) : "its signal",
                    names.heads({static_cast<int>(head)}),
                    names.layer(layer).empty() ? "" : " of " + names.layer(layer), percent(most));
  return text;
}

}  // namespace

std::vector<std::string> heads_summary(const HeadsReport& report) {
  const HeadValues& head_values = report.head_values;
  const HeadsNames names(report);
  const std::size_t layers = head_values.layer_values.size();
  std::vector<std::string> lines;
  const std::size_t values = layers == 0 ? 0 : head_values.layer_values.front().values.size();
  for (std::size_t v = 0; v < values; ++v) {
    const ValueSummary summary(report, names, v);
    if (layers <= (v == 0 ? kLineEach : kBothValues)) {
      for (std::size_t l = 0; l < layers; ++l)
        lines.push_back(summary.layer(l, layers <= kBothValues ? SIZE_MAX
                                         : layers <= 4         ? 4
                                                               : kShort));
      continue;
    }
    if (v == 0) {
      for (const std::string& line :
           {summary.range(), summary.concentrated(), summary.named(summary.harmful_heads()),
            summary.named(summary.pairs()), summary.named(summary.better_sets()),
            summary.named(summary.better_weights())})
        lines.push_back(line);
      continue;
    }
    std::string line = summary.range();
    if (const std::string harmful = summary.harmful_heads(); !harmful.empty())
      line += "; " + harmful;
    lines.push_back(line);
  }
  if (report.stack) lines.push_back(stack_line(report, names));
  if (report.head_names.empty() &&
      std::all_of(head_values.layers.begin(), head_values.layers.end(),
                  [](const AttentionLayer& layer) { return layer.samples == 1; }))
    lines.emplace_back(
        std::all_of(head_values.layer_values.begin(), head_values.layer_values.end(),
                    [](const LayerHeadValues& layer_value) { return layer_value.exact; })
            ? "one sample: no standard errors, others may differ"
            : "one sample: errors are those of sampling orders, others may differ");
  std::erase(lines, std::string());
  return lines;
}

}  // namespace synergraph
