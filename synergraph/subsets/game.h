#pragma once

#include <span>
#include <vector>

#include "synergraph/subsets/subset.h"

#pragma GCC visibility push(default)
namespace synergraph {

// These functions compute the indices of a game. A game is a table v of the values of all 2^H
// subsets; see heads_of_table() (theory: "Subsets of heads"). Each set of a given size has one
// index; the sets have the order of subsets_of_size().

/// Computes Harsanyi dividends in place: m(S) = sum over T in S of (-1)^(|S| - |T|) v(T). The
/// dividend m(S) is what S adds beyond all its parts.
void moebius_transform(std::span<double> values);
/// Inverts moebius_transform(): v(S) = sum over T in S of m(T).
void inverse_moebius_transform(std::span<double> dividends);

/// The highest supported order of interactions.
inline constexpr int kMaxInteractionOrder = 3;

/// The indices of single heads, pairs and triples in one game.
struct GameIndices {
  std::vector<double> shapley;  ///< the Shapley values; they sum to v(all) - v(none)
  std::vector<double> banzhaf;
  /// Shapley interaction indices of pairs; positive: the heads complement each other.
  std::vector<double> pairs;
  /// Shapley interaction indices of triples; negative: the heads are redundant.
  std::vector<double> triples;
};

/// Computes all indices up to `order`, 1 to 3, and leaves the other vectors empty. One pass needs
/// 5, 11 or 19 additions per table value for order 1, 2 or 3. The function applies no weight before
/// the last sum.
GameIndices game_indices(std::span<const double> values, int order = kMaxInteractionOrder);

/// Shapley values: phi_h = sum over S without h of |S|! (H-|S|-1)! / H! (v(S+h) - v(S)).
std::vector<double> shapley_values(std::span<const double> values);

/// Banzhaf values: the Shapley formula with weight 2^(1-H) for every S.
std::vector<double> banzhaf_values(std::span<const double> values);

/// Shapley interaction indices of all sets of `order` heads, 1 to 3. With d_A v(S) = sum over T in
/// A of (-1)^(|A|-|T|) v(S+T), the index is I(A) = sum over S without A of (H-a-|S|)! |S|! /
/// (H-a+1)! d_A v(S), a = |A|.
std::vector<double> shapley_interactions(std::span<const double> values, int order);

/// Shapley-Taylor indices of all sets of 1 to `order` heads, smaller sets first; `order` is 1 to 3.
/// A set of fewer than `order` heads has its dividend as its index. A set A of k = `order` heads
/// has the index k/H sum over S without A of d_A v(S) / C(H-1, |S|). The indices sum to v(all) -
/// v(none).
std::vector<double> shapley_taylor_interactions(std::span<const double> values, int order);

}  // namespace synergraph
#pragma GCC visibility pop
