#include "synergraph/report/heads_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "synergraph/core/terminal.h"
#include "synergraph/core/ties.h"
#include "synergraph/report/heads_facts.h"
#include "synergraph/report/heads_names.h"
#include "synergraph/report/table.h"
#include "synergraph/report/words.h"

namespace synergraph {
namespace {

constexpr std::size_t kLineEach = 8;    // layers; of more, what stands out is said
constexpr std::size_t kShort = 3;       // clauses of a short line
constexpr std::size_t kBothValues = 2;  // likewise; of more, the second value is said together
constexpr std::size_t kNamedHeads = 4;  // one by one; more in ranges

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return 0.5 * (numbers[(numbers.size() - 1) / 2] + numbers[numbers.size() / 2]);
}

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
      said.emplace_back(is_harmful(layer_value)
                            ? "the model is better without the heads of this layer"
                            : "not clear of chance: this loss does not show that the model needs "
                              "the heads of this layer");
    else if (!facts.decided && facts.heads > 1)
      said.emplace_back("not certified, so that little can be said of its heads");
    if (facts.decided && facts.heads > 1) said = shares(l);
    if (said.size() > clauses)  // how few heads keep the value is said last
      said.erase(said.begin(), said.end() - static_cast<std::ptrdiff_t>(clauses));
    for (const std::string& text : claims(l))
      if (said.size() < clauses) said.push_back(text);
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
    std::string text =
        fmt::format("{} in {} layers: {}", name(), facts_.size(), spread(std::move(all)));
    if (heads > 1)
      text += fmt::format("; keeping {} takes {} of {}{} heads", kept_share(),
                          spread(std::move(kept)), same_heads() ? "" : "up to ", heads);
    return text;
  }

  /// Where few heads account for most of it.
  std::string concentrated() const {
    std::vector<std::size_t> order(facts_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t l) {
      return facts_[l].carriers.empty() || 2 * facts_[l].carriers.size() > facts_[l].heads;
    });
    if (order.empty())
      return fmt::format("{}: in no layer do half of the heads account for {}", name(),
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
      named.push_back(fmt::format("{} ({}: {})", names_.layer(order[k]),
                                  names_.few(facts_[order[k]].carriers, facts_[order[k]].heads),
                                  percent(facts_[order[k]].carried)));
    return fmt::format("{} rests on few heads in {}", name(), listed(named));
  }

  /// Of each kind of claim: in how many layers it holds, and where most.
  std::vector<std::string> notable_claims() const {
    std::vector<std::string> lines;
    for (const Kind& kind : kKinds)
      if (const std::vector<std::size_t> held = layers_of(kind); !held.empty())
        lines.push_back(fmt::format("{}: {} in {} of {} layers, most in {}: {}", name(), kind.what,
                                    held.size(), facts_.size(), names_.layer(held.front()),
                                    claim_text(kind, held.front())));
    return lines;
  }

  /// The same in one line, without where; empty without claims.
  std::string counted_claims() const {
    std::vector<std::string> said;
    for (const Kind& kind : kKinds)
      if (const std::size_t count = layers_of(kind).size(); count > 0)
        said.push_back(fmt::format("{} in {}", kind.what, count));
    return said.empty() ? std::string()
                        : fmt::format("{}, of {} layers: {}", name(), facts_.size(), listed(said));
  }

 private:
  struct Kind {
    const HeldOutClaim* ValueFacts::*claim;
    const char* what;  ///< of many layers
    const char* text;  ///< of one: heads, then size
  };
  static constexpr std::array<Kind, 5> kKinds = {
      {{&ValueFacts::redundant, "redundant pairs", "{} are redundant ({})"},
       {&ValueFacts::complementary, "complementary pairs", "{} complement each other ({})"},
       {&ValueFacts::better_set, "a better subset", "{} alone reach {}"},
       {&ValueFacts::better_without, "a head in the way", "without {} it is {} higher"},
       {&ValueFacts::other_weights, "better weights", "other weights raise it by {1}"}}};

  static constexpr const char* kAloneKeeps = " alone keeps";

  /// The layers that a kind of claim holds in; the first is where it is largest.
  std::vector<std::size_t> layers_of(const Kind& kind) const {
    std::vector<std::size_t> held;
    for (std::size_t l = 0; l < facts_.size(); ++l)
      if (facts_[l].*kind.claim) held.push_back(l);
    const auto size = [&](std::size_t l) { return std::abs((facts_[l].*kind.claim)->size); };
    if (!held.empty())
      std::iter_swap(held.begin(),
                     std::max_element(held.begin(), held.end(), [&](std::size_t a, std::size_t b) {
                       return size(a) < size(b);
                     }));
    return held;
  }

  const ValueOfHeads& layer_value(std::size_t l) const {
    return head_values_.layer_values[l].values[value_];
  }
  std::string kept_share() const {
    return fmt::format("{:.4g} %", 100.0 * head_values_.options.keep);
  }
  std::string name() const { return std::string(name_of(layer_value(0).value)); }
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
    return fmt::format("{} to {} (median {})", low, high, human(median(std::move(numbers)), 3));
  }

  /// Which heads account for most of the value, and how few keep it. Where fewer heads keep nearly
  /// all than account for most, heads stand in for each other: then only the former is said.
  std::vector<std::string> shares(std::size_t l) const {
    const ValueFacts& facts = facts_[l];
    const ValueOfHeads& value = layer_value(l);
    if (!(value.all.mean > 0.0)) return {"all heads together are worth nothing"};
    const std::vector<int>& kept = value.smallest.heads;
    const std::string keep = kept_share();
    std::string found;
    if (value.pruning.samples < head_values_.layers[l].samples)
      found = fmt::format(" on {}", counted(value.pruning.samples, "sample"));
    const bool exact = head_values_.layer_values[l].exact || smallest_is_certified(value);
    if (kept.empty())
      found = fmt::format("no head is needed to keep {}{}", keep, found);
    else if (kept.size() == facts.heads)
      found =
          fmt::format("no smaller set{} keeps {}{}", exact ? "" : " that was found", keep, found);
    else if (!exact)
      found = fmt::format("the smallest set found{} has {} ({}) and keeps {}", found,
                          counted(static_cast<std::int64_t>(kept.size()), "head"), ranges(kept, l),
                          keep);
    else if (kept.size() == 1)
      found = fmt::format("{} {}{}", single_heads(l), keep, found);
    else
      found = fmt::format("any set needs at least {} heads ({}) to keep {}{}", kept.size(),
                          ranges(kept, l), keep, found);
    if (kept.size() < facts.carriers.size()) return {found};
    // Another head that does as well alone contradicts that this one carries the value.
    if (kept.size() == 1 && exact && single_heads(l) != names_.heads(facts.carriers) + kAloneKeeps)
      return {found};
    if (facts.carriers.size() == facts.heads)
      return {"all heads are needed to account for " + percent(kCarriedShare), found};
    return {
        fmt::format("{} {} for {}", set(facts.carriers, l),
                    facts.carriers.size() == 1 ? "accounts" : "account", percent(facts.carried)),
        found};
  }

  /// "0-3, 5, 7" or "all but 5, 6".
  std::string ranges(const std::vector<int>& heads, std::size_t l) const {
    std::string text = names_.set(heads, facts_[l].heads);
    constexpr std::string_view kAllBut = "all but ";
    const std::size_t first = text.starts_with(kAllBut) ? kAllBut.size() : 0;
    for (std::size_t at = text.find(' ', first); at != text.npos; at = text.find(' ', at + 2))
      if (text[at - 1] != ',') text.insert(at, 1, ',');
    return text;
  }

  /// "heads 0, 2 and 7", "heads 0-3, 5, 7" or "all heads but 5, 6".
  std::string set(const std::vector<int>& heads, std::size_t l) const {
    if (heads.size() <= kNamedHeads) return names_.heads(heads);
    const std::string text = ranges(heads, l);
    return text.starts_with("all but ") ? "all heads but " + text.substr(8) : "heads " + text;
  }

  /// The heads that each keep enough alone: which of them comes first may be chance.
  std::string single_heads(std::size_t l) const {
    const ValueOfHeads& value = layer_value(l);
    std::vector<int> enough;
    for (std::size_t h = 0; h < value.heads.size(); ++h)
      if (reaches(value.heads[h].alone.mean, head_values_.options.keep * value.all.mean))
        enough.push_back(static_cast<int>(h));
    if (enough.size() <= 1) return names_.heads(value.smallest.heads) + kAloneKeeps;
    if (enough.size() == value.heads.size()) return std::string("any head") + kAloneKeeps;
    std::string named = set(enough, l);
    constexpr std::string_view kAllHeads = "all heads but ";
    if (named.starts_with(kAllHeads))
      return fmt::format("each head but {}{}", named.substr(kAllHeads.size()), kAloneKeeps);
    return fmt::format("each of {}{}", named, kAloneKeeps);
  }

  std::string claim_text(const Kind& kind, std::size_t l) const {
    const HeldOutClaim& claim = *(facts_[l].*kind.claim);
    std::string size = percent(claim.size);
    if (kind.claim == &ValueFacts::better_set)
      size = percent(1.0 + claim.size);
    else if (kind.claim == &ValueFacts::complementary)
      size = "+" + size;
    const std::string heads = claim.heads.empty() ? std::string() : set(claim.heads, l);
    std::string text = fmt::format(fmt::runtime(kind.text), heads, size);
    if (kind.claim == &ValueFacts::better_set && claim.heads.size() == 1)
      text = fmt::format("{} alone reaches {}", heads, size);
    return text;
  }

  std::vector<std::string> claims(std::size_t l) const {
    std::vector<std::string> said;
    for (const Kind& kind : kKinds)
      if (facts_[l].*kind.claim) said.push_back(claim_text(kind, l));
    return said;
  }

  const HeadValues& head_values_;
  const HeadsNames& names_;
  std::size_t value_;
  std::vector<ValueFacts> facts_;
};

/// What the model needs, and whether structure agrees: in each layer, or `brief`.
std::string loss_line(const HeadsReport& report, const HeadsNames& names, bool brief) {
  if (report.control && needs_no_attention(*report.control))
    return "loss: no head matters, the model needs no attention for this task";
  const std::vector<LossOfHeads>& losses = *report.loss;
  std::size_t most = 0;
  for (std::size_t l = 0; l < losses.size(); ++l)
    if (losses[l].won > losses[most].won) most = l;
  const auto needed = std::max_element(losses[most].shapley.begin(), losses[most].shapley.end());
  std::string text = fmt::format(
      "loss{}: heads matter most in {}, {} nats of loss, {} most ({}); {}",
      losses[most].ablation == Ablation::kZero ? " with zeroed outputs" : "", names.layer(most),
      human(losses[most].won, 3),
      names.heads({static_cast<int>(needed - losses[most].shapley.begin())}), human(*needed, 3),
      brief ? "median rank correlation with structure"
            : "rank correlation of structure with loss within layers");
  for (std::size_t v = 0; v < report.head_values.options.values.size(); ++v) {
    std::vector<double> known;
    std::vector<std::string> each;
    each.reserve(losses.size());
    for (const LossOfHeads& loss : losses) {
      if (!std::isnan(loss.agreement[v])) known.push_back(loss.agreement[v]);
      each.push_back(std::isnan(loss.agreement[v]) ? "none" : fixed(loss.agreement[v], 2));
    }
    if (brief) each = {known.empty() ? "none" : fixed(median(known), 2)};
    text += fmt::format("{} {} {}", v == 0 ? ":" : ",",
                        name_of(report.head_values.options.values[v]), listed(each));
  }
  return text;
}

/// How the claims were judged, or why there are none.
std::string judgement(const HeadsReport& report) {
  const HeadValues& head_values = report.head_values;
  int most = 0;     // samples
  int heads = 1;    // of a layer
  int judged = -1;  // the fewest samples that judged a layer
  for (std::size_t l = 0; l < head_values.layer_values.size(); ++l) {
    most = std::max(most, head_values.layers[l].samples / head_values.layers[l].sinks);
    heads = std::max(heads, head_values.layers[l].heads);
    for (const ValueOfHeads& value : head_values.layer_values[l].values)
      if (value.held_out)
        judged = judged < 0 ? value.held_out->samples : std::min(judged, value.held_out->samples);
  }
  if (heads == 1 || (report.ablated && most > 1)) return {};
  if (!report.head_names.empty()) return "the pairs and sets of this graph: --verbose";
  if (most == 1)
    return "one sample: nothing can be said of redundant or complementary heads, nor of other "
           "samples";
  if (judged < 0) return "pairs, better sets and other weights were not judged (null samples: 0)";
  if (const int needed = samples_for_claims(possible_claims(head_values)); judged < needed)
    return fmt::format(
        "{} samples are too few to tell pairs, better sets and other weights from chance: at least "
        "{} are needed",
        judged, needed);
  return fmt::format(
      "pairs, better sets and other weights were chosen on half of {} samples, judged on the other "
      "half against permuted rows, and named only if clear (chance of any false one: at most {})",
      judged, percent(kFalseClaims));
}

/// Which heads move most, by L1 contribution. It comes first: of all numbers of the study in
/// docs/validity.md that need no loss, contributions order heads most like the loss does, and
/// fidelity and speed do not. Of contribution edges these are shares among the heads, otherwise
/// beside the residual: of so many layers, or of those where a head stands out most. `few`: one
/// head of each layer.
std::string movers(const HeadsReport& report, const HeadsNames& names, std::size_t most_layers,
                   bool few) {
  constexpr std::size_t kHeads = 3;
  const MovedShares& weights = report.moved ? *report.moved : report.head_values.weights;
  const auto largest = [&](std::size_t l) {
    return *std::max_element(weights[l].begin(), weights[l].end());
  };
  std::vector<std::size_t> layers;
  for (std::size_t l = 0; l < weights.size(); ++l)
    if (weights[l].size() > 1) layers.push_back(l);
  if (layers.empty()) return {};
  const bool some = layers.size() > most_layers;
  if (some) {
    std::stable_sort(layers.begin(), layers.end(),
                     [&](std::size_t a, std::size_t b) { return largest(a) > largest(b); });
    layers.resize(most_layers);
  }
  std::string text;
  for (const std::size_t l : layers) {
    std::vector<int> order(weights[l].size());
    std::iota(order.begin(), order.end(), 0);
    const auto weight = [&](int h) { return weights[l][static_cast<std::size_t>(h)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return weight(a) > weight(b); });
    order.resize(std::min(order.size(), some || few ? std::size_t{1} : kHeads));
    std::vector<std::string> named(order.size());
    std::transform(order.begin(), order.end(), named.begin(), [&](int h) {
      return fmt::format("{} ({})", names.head(h), percent(weight(h)));
    });
    text += fmt::format("{}{}{}{} {}", text.empty() ? "" : "; ", names.layer(l),
                        names.layer(l).empty() ? "" : ", ", named.size() == 1 ? "head" : "heads",
                        listed(named));
  }
  return fmt::format("most is moved (L1 contribution) by {}", text);
}

std::string stack_line(const HeadsReport& report, const HeadsNames& names) {
  const StackAnalysis& stack = *report.stack;
  const int nodes = stack.layers.front().nodes();
  const std::string sink = report.token_names.empty() ? "the last token" : names.node(nodes - 1);
  const auto weakest = static_cast<int>(
      std::max_element(stack.weakest.begin(), stack.weakest.end()) - stack.weakest.begin());
  const int times = stack.weakest.empty() ? 0 : stack.weakest[static_cast<std::size_t>(weakest)];
  std::string text = fmt::format("through all layers: {} hears {} of {} tokens in effect", sink,
                                 human(stack.effective_tokens.mean, 3), nodes);
  const TokenChoice& from = stack.options.from;
  if (from.single())
    text +=
        fmt::format(", {} with a share of {}", names.node(weakest), human(stack.fidelity.mean, 2));
  else if (times > 0)
    text += fmt::format(
        ", the weakest{} ({}{}) with a share of {}", from.empty() ? "" : " of " + from.described(),
        names.node(weakest),
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
  if (const auto least = least_flow(stack))
    text += fmt::format("; maximum flow to the sink: least {} ({})",
                        human(stack.flow[*least].mean, 2), names.node(static_cast<int>(*least)));
  return text;
}

}  // namespace

std::vector<std::string> heads_summary(const HeadsReport& report, std::size_t clauses) {
  const HeadValues& head_values = report.head_values;
  const HeadsNames names(report);
  const std::size_t layers = head_values.layer_values.size();
  clauses = std::min(clauses, layers <= kBothValues ? SIZE_MAX : layers <= 4 ? 4 : kShort);
  const bool brief = layers > kBothValues && clauses <= 1;
  std::vector<std::string> lines;
  if (report.moved || report.edges == EdgeKind::kContribution)
    lines.push_back(movers(report, names, clauses == 0 ? 2 : 4, brief));
  const std::size_t values = layers == 0 ? 0 : head_values.layer_values.front().values.size();
  for (std::size_t v = 0; v < values; ++v) {
    const ValueSummary summary(report, names, v);
    if (layers <= (v == 0 && clauses > 0 ? kLineEach : kBothValues)) {
      for (std::size_t l = 0; l < layers; ++l)
        lines.push_back(summary.layer(l, std::max(clauses, std::size_t{1})));
      continue;
    }
    lines.push_back(summary.range());
    if (v > 0) continue;
    if (clauses == 0) {
      lines.push_back(summary.counted_claims());
      continue;
    }
    lines.push_back(summary.concentrated());
    for (std::string& line : summary.notable_claims()) lines.push_back(std::move(line));
  }
  if (report.loss) lines.push_back(loss_line(report, names, brief || layers > kLineEach));
  if (report.stack) lines.push_back(stack_line(report, names));
  lines.push_back(judgement(report));
  std::erase(lines, std::string());
  return lines;
}

}  // namespace synergraph
