#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/model/evaluate.h"
#include "synergraph/subsets/subset.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What replaces the output of a head that is switched off.
enum class Ablation {
  kZero,  ///< zero
  kMean,  ///< the mean output of that head over all tokens of all sequences
};

template <>
inline constexpr NameTable<Ablation, 2> kNamesOf<Ablation>{
    {{Ablation::kZero, "zero"}, {Ablation::kMean, "mean"}}};

/// Loss and accuracy of a model for every subset of one layer's heads (theory: "Games on the
/// loss"). Entry S belongs to the subset S: its heads are on, the other heads of the layer are off,
/// and all other layers are unchanged.
struct LossGame {
  int heads = 0;
  std::vector<double> loss;      ///< 2^heads mean cross-entropies, in nats
  std::vector<double> accuracy;  ///< 2^heads shares of correct positions

  /// v(S) = loss of no head - loss of S: a game for game_indices() and best_subsets().
  std::vector<double> loss_values() const;
  /// v(S) = accuracy of S - accuracy of no head.
  std::vector<double> accuracy_values() const;
};

struct LossGameOptions {
  Ablation ablation = Ablation::kMean;
  Execution execution = {};  ///< Stopped if it was asked to stop before the last subset
  /// Called with the number of subsets that were just evaluated, over all sequences; from several
  /// threads, one at a time.
  std::function<void(std::uint64_t count)> subsets_done = nullptr;
};

/// Measures every subset of the heads of `layer`. The state before the layer and the contribution
/// of each head are computed once per sequence; a subset then costs one addition and the rest of
/// the network. The result does not depend on the number of threads. InputError where the sequences
/// do not fit the model, there is no such layer, or it has more than kMaxExactHeads heads.
LossGame loss_game(const Model& model, const Sequences& inputs, const Sequences& targets, int layer,
                   const LossGameOptions& options = {});

/// InputError, as loss_game(), unless there is such a game.
void require_game(const ModelConfig& config, const Sequences& inputs, const Sequences& targets,
                  int layer);

/// Does the task need attention at all? The model as it is, with all heads of all layers off, and
/// with all heads of one layer off.
struct AttentionControl {
  Evaluation intact;
  Evaluation without_attention;
  std::vector<Evaluation> without_layer;  ///< one per layer
};
/// Is the model as accurate without any head, to a thousandth of all positions?
inline bool needs_no_attention(const AttentionControl& control) {
  return control.without_attention.accuracy >= control.intact.accuracy - 1e-3;
}
AttentionControl attention_control(const Model& model, const Sequences& inputs,
                                   const Sequences& targets, Ablation ablation = Ablation::kZero,
                                   const Execution& execution = {});
/// InputError, as attention_control(), unless the sequences fit the model and each other.
void require_pairs(const ModelConfig& config, const Sequences& inputs, const Sequences& targets);

/// Games on the loss of one model, on some device.
class LossGames {
 public:
  LossGames() = default;
  LossGames(const LossGames&) = delete;
  LossGames& operator=(const LossGames&) = delete;
  virtual ~LossGames() = default;

  /// See loss_game().
  virtual LossGame play(const Sequences& inputs, const Sequences& targets, int layer,
                        const LossGameOptions& options) = 0;
  /// See attention_control().
  virtual AttentionControl control(const Sequences& inputs, const Sequences& targets,
                                   Ablation ablation, const Execution& execution) = 0;
};

/// Makes the games of one model.
using LossGamesFactory = std::function<std::unique_ptr<LossGames>()>;

/// Those on the CPU. The model must outlive the games.
LossGamesFactory cpu_loss_games(const Model& model);

}  // namespace synergraph
#pragma GCC visibility pop
