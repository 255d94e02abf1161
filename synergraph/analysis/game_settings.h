#pragma once

#include <cstdint>

#include "synergraph/analysis/layer_head_values.h"
#include "synergraph/core/setting.h"

namespace synergraph {

/// How games are played whose every value is expensive, such as a pass of a large model.
struct GameSettings {
  double keep = 0.95;
  int exact_heads = 10;
  double precision = 0.01;
  std::int64_t orders = 256;
  std::int64_t seed = 0;
  bool pairs = false;

  HeadValueOptions options() const {
    HeadValueOptions options;
    options.keep = keep;
    options.exact_heads = exact_heads;
    options.sampling.precision = precision;
    options.sampling.max_permutations = orders;
    options.sampling.seed = static_cast<std::uint64_t>(seed);
    options.sampling.pairs = pairs;
    options.sampling.least_batches = 4;
    options.sampling.batch = 1;  // the precision is checked after every 2 orders per head
    return options;
  }
};

/// See Setting.
template <class Visit>
void visit_settings(GameSettings& settings, Visit&& visit) {
  constexpr const char* kGroup = "Games on the loss";
  visit(Setting{"keep", kGroup, "share of the value of all heads that the smallest subset keeps"},
        settings.keep, NumberRange<double>{0.0, 1.0});
  visit(
      Setting{"exact_heads", kGroup,
              "largest number of heads for which all subsets of a layer are run; larger layers are "
              "sampled"},
      settings.exact_heads, NumberRange<int>{1, kMaxExactHeads});
  visit(Setting{"precision", kGroup,
                "standard error by orders at which sampling stops, as a share of the value of all "
                "heads"},
        settings.precision, NumberRange<double>{0.0, 1.0, true});
  visit(Setting{"orders", kGroup,
                "limit on the random orders of heads drawn for a sampled layer (drawn in whole "
                "balanced sets of 2 orders per head, at least four sets)"},
        settings.orders, NumberRange<std::int64_t>{1, 1000000000});
  visit(Setting{"seed", kGroup, "seed of the random orders"}, settings.seed,
        NumberRange<std::int64_t>{});
  visit(Setting{"pairs", kGroup,
                "also estimate interactions of pairs in sampled layers, with two to three times as "
                "many passes"},
        settings.pairs);
}

}  // namespace synergraph
