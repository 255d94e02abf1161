#include <algorithm>
#include <limits>
#include <utility>

#include "capi/arrays.h"
#include "synergraph/report/head_numbers.h"

namespace synergraph::capi {
namespace {

/// Arrays over the layers of a report, some of which have fewer heads than others.
class LayerArrays {
 public:
  explicit LayerArrays(const HeadValues& head_values)
      : head_values_(head_values), layers_(head_values.layer_values.size()) {
    for (const std::vector<double>& weights : head_values.weights)
      heads_ = std::max(heads_, weights.size());
  }

  std::size_t heads() const { return heads_; }

  /// of(layer) for every layer.
  template <class Of>
  void add(const std::string& name, const Of& of) {
    NamedArray array = start(name, {});
    for (std::size_t l = 0; l < layers_; ++l) put(array, of(l));
    arrays.push_back(std::move(array));
  }

  /// of(layer), a list, for every layer, filled up to the extent of the axis.
  template <class Of>
  void add_lists(const std::string& name, const char* axis, std::size_t extent, const Of& of) {
    NamedArray array = start(name, {{axis, extent}});
    for (std::size_t l = 0; l < layers_; ++l) put_list(array, of(l), extent);
    arrays.push_back(std::move(array));
  }

  /// An estimate for every layer, or a list of them, and its standard error.
  template <class Of>
  void add_estimates(const std::string& name, const Of& of) {
    add(name, [&](std::size_t l) { return of(l).mean; });
    add(name + "_error", [&](std::size_t l) { return of(l).error; });
  }
  template <class Of>
  void add_head_estimates(const std::string& name, const Of& of) {
    for (const auto& [suffix, member] :
         {std::pair("", &Estimate::mean), std::pair("_error", &Estimate::error)})
      add_lists(name + suffix, "head", heads_, [&, at = member](std::size_t l) {
        std::vector<double> numbers;
        for (std::size_t h = 0; h < head_values_.weights[l].size(); ++h)
          numbers.push_back(of(l, h).*at);
        return numbers;
      });
  }

  /// A matrix of the heads for every layer, symmetric, from a list of pairs.
  template <class Of>
  void add_pairs(const std::string& name, const Of& of) {
    for (const auto& [suffix, member] :
         {std::pair("", &Estimate::mean), std::pair("_error", &Estimate::error)}) {
      NamedArray array = start(name + suffix, {{"head", heads_}, {"head", heads_}});
      array.numbers.assign(layers_ * heads_ * heads_, kMissing);
      for (std::size_t l = 0; l < layers_; ++l)
        for (const Interaction& pair : of(l)) {
          const auto a = static_cast<std::size_t>(pair.heads[0]);
          const auto b = static_cast<std::size_t>(pair.heads[1]);
          array.numbers[(l * heads_ + a) * heads_ + b] = pair.index.*member;
          array.numbers[(l * heads_ + b) * heads_ + a] = pair.index.*member;
        }
      arrays.push_back(std::move(array));
    }
  }

  std::vector<NamedArray> arrays;

 private:
  static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

  NamedArray start(const std::string& name,
                   const std::vector<std::pair<const char*, std::size_t>>& axes) const {
    NamedArray array{name, "layer", {static_cast<std::int64_t>(layers_)}, {}, {}};
    for (const auto& [axis, extent] : axes) {
      array.axes += " " + std::string(axis);
      array.shape.push_back(static_cast<std::int64_t>(extent));
    }
    return array;
  }

  static void put(NamedArray& array, double number) { array.numbers.push_back(number); }
  static void put(NamedArray& array, std::int64_t count) { array.counts.push_back(count); }

  template <class Number>
  static void put_list(NamedArray& array, const std::vector<Number>& list, std::size_t extent) {
    for (std::size_t k = 0; k < extent; ++k) {
      if constexpr (std::is_same_v<Number, double>)
        put(array, k < list.size() ? list[k] : kMissing);
      else
        put(array, k < list.size() ? std::int64_t{list[k]} : std::int64_t{-1});
    }
  }

  const HeadValues& head_values_;
  std::size_t layers_;
  std::size_t heads_ = 0;
};

/// Which of the heads are in a set: 1 or 0.
std::vector<int> members(const std::vector<int>& set, std::size_t heads) {
  std::vector<int> in(heads, 0);
  for (const int head : set) in[static_cast<std::size_t>(head)] = 1;
  return in;
}

/// One value; `layer_value(l)` is that of a layer.
template <class LayerValue>
void add_value(const std::string& name, const HeadValues& head_values,
               const LayerValue& layer_value, LayerArrays& layers) {
  layers.add_estimates(name + "all", [&](std::size_t l) { return layer_value(l).all; });
  layers.add(name + "gap", [&](std::size_t l) { return layer_value(l).gap; });
  for (const auto& [key, number] : kHeadNumbers)
    layers.add_head_estimates(name + std::string(key),
                              [&layer_value, member = number](std::size_t l, std::size_t h) {
                                return layer_value(l).heads[h].*member;
                              });
  layers.add_pairs(name + "pairs", [&](std::size_t l) -> const std::vector<Interaction>& {
    return layer_value(l).pairs;
  });

  const std::size_t sizes = layers.heads() + 1;
  layers.add_lists(name + "best", "size", sizes, [&](std::size_t l) {
    std::vector<double> numbers;
    for (const HeadSet& set : layer_value(l).pruning.best) numbers.push_back(set.value);
    return numbers;
  });
  const auto add_path = [&](const char* of, PruningPath Pruning::*member) {
    layers.add_lists(name + of, "size", sizes,
                     [&, member](std::size_t l) { return (layer_value(l).pruning.*member).value; });
    layers.add_lists(name + of + "_order", "head", layers.heads(),
                     [&, member](std::size_t l) { return (layer_value(l).pruning.*member).order; });
  };
  add_path("greedy_addition", &Pruning::addition);
  add_path("greedy_removal", &Pruning::removal);
  add_path("by_shapley", &Pruning::shapley);
  layers.add_lists(name + "smallest", "head", layers.heads(), [&](std::size_t l) {
    return members(layer_value(l).smallest.heads, head_values.weights[l].size());
  });
  layers.add(name + "beating",
             [&](std::size_t l) { return static_cast<std::int64_t>(layer_value(l).beating); });
}

/// The best weights of one value.
template <class LayerValue>
void add_weights(const std::string& name, const LayerValue& layer_value, LayerArrays& layers) {
  const auto sought = [&](std::size_t l) { return layer_value(l).weights.value_or(BestWeights()); };
  layers.add_lists(name + "best_weights", "head", layers.heads(),
                   [&](std::size_t l) { return sought(l).weights; });
  layers.add(name + "best_weights_value", [&](std::size_t l) { return sought(l).value; });
  layers.add(name + "best_weights_bound", [&](std::size_t l) { return sought(l).bound; });
  layers.add(name + "best_weights_optimal",
             [&](std::size_t l) { return std::int64_t{sought(l).optimal}; });
}

void add_stack(const StackAnalysis& stack, LayerArrays& layers) {
  const auto add = [&](const char* name, const char* axis, const std::vector<Estimate>& list) {
    for (const auto& [suffix, member] :
         {std::pair("", &Estimate::mean), std::pair("_error", &Estimate::error)}) {
      NamedArray array{std::string("stack/") + name + suffix, axis, {}, {}, {}};
      if (*axis != '\0') array.shape.push_back(static_cast<std::int64_t>(list.size()));
      for (const Estimate& one : list) array.numbers.push_back(one.*member);
      layers.arrays.push_back(std::move(array));
    }
  };
  add("fidelity", "", {stack.fidelity});
  add("effective_tokens", "", {stack.effective_tokens});
  add("signal", "token", stack.signal);
  if (!stack.flow.empty()) add("flow", "token", stack.flow);
  layers.arrays.push_back({"stack/weakest",
                           "token",
                           {static_cast<std::int64_t>(stack.weakest.size())},
                           {},
                           {stack.weakest.begin(), stack.weakest.end()}});
  layers.add_head_estimates("stack/share_heads",
                            [&](std::size_t l, std::size_t h) { return stack.shares[l].heads[h]; });
  layers.add_estimates("stack/share_residual",
                       [&](std::size_t l) { return stack.shares[l].residual; });
  if (stack.flows.empty()) return;
  layers.add_head_estimates("stack/heads",
                            [&](std::size_t l, std::size_t h) { return stack.flows[l].heads[h]; });
  layers.add_estimates("stack/residual", [&](std::size_t l) { return stack.flows[l].residual; });
}

}  // namespace

std::vector<NamedArray> arrays_of(const HeadsReport& report) {
  const HeadValues& head_values = report.head_values;
  LayerArrays layers(head_values);
  layers.add_lists("weights", "head", layers.heads(),
                   [&](std::size_t l) { return head_values.weights[l]; });
  layers.add("exact",
             [&](std::size_t l) { return std::int64_t{head_values.layer_values[l].exact}; });
  layers.add("permutations",
             [&](std::size_t l) { return head_values.layer_values[l].permutations; });
  layers.add("precise",
             [&](std::size_t l) { return std::int64_t{head_values.layer_values[l].precise}; });
  for (std::size_t v = 0; v < head_values.options.values.size(); ++v) {
    const std::string name = std::string(name_of(head_values.options.values[v])) + "/";
    const auto layer_value = [&](std::size_t l) -> const ValueOfHeads& {
      return head_values.layer_values[l].values[v];
    };
    add_value(name, head_values, layer_value, layers);
    if (head_values.options.weight_samples != 0) add_weights(name, layer_value, layers);
  }
  if (report.loss) {
    const std::vector<LossOfHeads>& losses = *report.loss;
    add_value(
        "loss/", head_values, [&](std::size_t l) -> const ValueOfHeads& { return losses[l].value; },
        layers);
    layers.add("accuracy/all", [&](std::size_t l) { return losses[l].accuracy_won; });
    layers.add_lists("accuracy/shapley", "head", layers.heads(),
                     [&](std::size_t l) { return losses[l].accuracy_shapley; });
  }
  if (report.moved)
    layers.add_lists("moved", "head", layers.heads(),
                     [&](std::size_t l) { return (*report.moved)[l]; });
  if (report.stack) add_stack(*report.stack, layers);
  return std::move(layers.arrays);
}

}  // namespace synergraph::capi
