#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/layer_head_values.h"
#include "synergraph/core/setting.h"
#include "synergraph/model/loss_game.h"

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

/// What an ablation is of: sg_ablation().
struct AblationSettings {
  GameSettings game;
  Ablation kind = Ablation::kMean;
  std::string loss = "loss";
  std::vector<double> intact;
  std::vector<double> without_attention;
  std::vector<std::string> layers;
  std::vector<int> heads;
  int tokens = 0;
};

/// See Setting.
template <class Visit>
void visit_settings(AblationSettings& settings, Visit&& visit) {
  constexpr const char* kGroup = "Losses";
  const auto in_c = [&](std::string_view key, std::string_view help) {
    return Setting{.key = key, .group = kGroup, .help = help, .faces = face::kC};
  };
  constexpr NumberRange<double> kAny{};
  visit_settings(settings.game, visit);
  visit(in_c("kind", "what heads that are off give: their mean over tokens and samples, or zero"),
        settings.kind);
  visit(in_c("loss", "name of the loss, for reports"), settings.loss);
  visit(in_c("intact", "loss of each sample, with all heads on"), settings.intact, kAny);
  visit(in_c("without_attention", "loss of each sample, with every head of every layer off"),
        settings.without_attention, kAny);
  visit(in_c("layers", "names of the layers"), settings.layers);
  visit(in_c("heads", "number of heads of each layer"), settings.heads,
        NumberRange<int>{1, 1 << 16});
  visit(in_c("tokens", "number of tokens of a sample, for reports"), settings.tokens,
        NumberRange<int>{});
}

/// How numbers of heads are compared: sg_agreement().
struct AgreementSettings {
  std::string reference = "the reference";
  std::vector<std::string> names;
  std::vector<std::string> layers;
  std::optional<std::int64_t> seed;
};

/// See Setting.
template <class Visit>
void visit_settings(AgreementSettings& settings, Visit&& visit) {
  constexpr const char* kGroup = "Agreement";
  const auto in_c = [&](std::string_view key, std::string_view help) {
    return Setting{.key = key, .group = kGroup, .help = help, .faces = face::kC};
  };
  visit(in_c("reference", "name of the numbers to agree with"), settings.reference);
  visit(in_c("names", "name of each set of numbers that is compared"), settings.names);
  visit(in_c("layers", "names of the layers (default: numbers from 0)"), settings.layers);
  visit(in_c("seed", "seed of the permutation tests (default: 1)"), settings.seed,
        NumberRange<std::int64_t>{});
}

}  // namespace synergraph
