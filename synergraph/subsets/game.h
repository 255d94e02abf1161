#pragma once

#include <span>
#include <vector>

#include "synergraph/subsets/subset.h"

#pragma GCC visibility push(default)
namespace synergraph {

// Indices of a game: a table v of the values of all 2^H subsets, see heads_of_table() (theory:
// "Subsets of heads"). Of sets of one size there is an index each, in the order of
// subsets_of_size().

/// Harsanyi dividends, in place: m(S) = sum over T in S of (-1)^(|S| - |T|) v(T), what S adds
/// beyond all its parts.
void moebius_transform(std::span<double> values);
/// The way back: v(S) = sum over T in S of m(T).
void inverse_moebius_transform(std::span<double> dividends);

/// The highest order of interactions.
inline constexpr int kMaxInteractionOrder = 3;

/// What a table says of heads, pairs and triples.
struct GameIndices {
  std::vector<double> shapley;  ///< sum to v(all) - v(none)
  std::vector<double> banzhaf;
  std::vector<double> pairs;    ///< Shapley interaction index: positive, they complement each other
  std::vector<double> triples;  ///< negative, they are redundant
};

/// All of them up to `order`, 1 to 3; the rest is left empty. In one pass: 5, 11 or 19 additions
/// a value of the table for order 1, 2 or 3, and no weight before the last sum.
GameIndices game_indices(std::span<const double> values, int order = kMaxInteractionOrder);

/// phi_h = sum over S without h of |S|! (H-|S|-1)! / H! (v(S+h) - v(S)).
std::vector<double> shapley_values(std::span<const double> values);

/// The same with weight 2^(1-H) for every S.
std::vector<double> banzhaf_values(std::span<const double> values);

/// Shapley interaction indices of all sets of `order` heads, 1 to 3: with d_A v(S) = sum over T in
/// A of (-1)^(|A|-|T|) v(S+T), I(A) = sum over S without A of (H-a-|S|)! |S|! / (H-a+1)! d_A v(S).
std::vector<double> shapley_interactions(std::span<const double> values, int order);

/// Shapley-Taylor indices of all sets of 1 to `order` heads, smaller sets first: dividends below
/// `order`, k/H sum over S without A of d_A v(S) / C(H-1, |S|) at k = `order`, 1 to 3. They sum to
/// v(all) - v(none).
std::vector<double> shapley_taylor_interactions(std::span<const double> values, int order);

}  // namespace synergraph
#pragma GCC visibility pop
