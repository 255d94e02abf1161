#pragma once

#include <string>
#include <vector>

#include "synergraph/cluster/work_board.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A piece of work for one worker.
struct WorkPiece {
  std::string name;    ///< of what only one may work on at a time; changes with its settings
  std::string result;  ///< ending of its result's file, which says that the piece is done
  std::string title;   ///< for people
  double cost = 1.0;   ///< relative to the others'
};

/// All pieces of a work, in the order of its results.
struct WorkPlan {
  std::string title;
  std::string unit = "pieces";  ///< what they are called
  std::vector<WorkPiece> pieces;

  /// 16 hexadecimal digits that change with the names of the pieces and of their results.
  std::string key() const;
};

/// Leaves a plan on the board, for those who ask how far it has come, unless it is there.
void publish(const WorkPlan& plan, const WorkBoard& board);
/// The plans on a board.
std::vector<WorkPlan> published_plans(const WorkBoard& board);

std::string result_path(const WorkBoard& board, const WorkPiece& piece);
/// A piece that failed has one line here that says why, and one that says where.
std::string failure_path(const WorkBoard& board, const WorkPiece& piece);

}  // namespace synergraph
#pragma GCC visibility pop
