#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "synergraph/weights/simplex_program.h"

namespace synergraph {

/// A part of the simplex of weights: all weightings of its corners. Bounds are of what is to be
/// maximised: times have a minus.
struct Part {
  std::vector<std::vector<double>> corners;  ///< as many as heads
  double bound = std::numeric_limits<double>::infinity();
  std::vector<double> shares;           ///< of the corners, where the bound is attained
  std::vector<double> centre;           ///< some weights in it, by shares of the corners
  std::vector<std::vector<int>> nodes;  ///< of each system, that decide the bound
  int cuts = 0;                         ///< that led to it

  /// The weights that give the corners such shares.
  std::vector<double> weights_at(const std::vector<double>& of_corners) const;
};

/// All of it, centred at some weights.
Part whole_simplex(const std::vector<double>& centre);

/// Two halves, cut at an edge that is long and near to where the bound is attained: to one end of
/// it, or to both.
enum class Near { kOneEnd, kBothEnds };
std::pair<Part, Part> halves(const Part& part, Near near);

/// The parts around a part's centre, each with the centre for one of its corners. One, itself, if
/// the centre is a corner.
std::vector<Part> fan(const Part& part);

/// Lowers a part's bound to max over shares b of the mean over groups of the least of its rows,
/// functions of b as corner_pairs.h has them, or somewhat above.
void bound_by_rows(Part& part, const std::vector<WeightPiece>& rows, std::size_t groups);

}  // namespace synergraph
