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

/// No plan has more pieces: one of cells would need terabytes of trained models.
inline constexpr std::size_t kMostPieces = 1'000'000;

/// All pieces of a work, in the order of its results.
struct WorkPlan {
  std::string title;
  std::string unit = "pieces";  ///< what they are called
  std::vector<WorkPiece> pieces;

  /// 16 hexadecimal digits that change with the names of the pieces and of their results.
  std::string key() const;
};

/// Leaves a plan on the board, for those who ask how far it has come, unless it is there.
/// UsageError where it has more than kMostPieces.
void publish(const WorkPlan& plan, const WorkBoard& board);
/// The files of the plans on a board, in the order of their names.
std::vector<std::string> plan_paths(const WorkBoard& board);
/// InputError where it is no plan.
WorkPlan read_plan(const std::string& path);

std::string result_path(const WorkBoard& board, const WorkPiece& piece);
/// A piece that failed has one line here that says why, and one that says where.
std::string failure_path(const WorkBoard& board, const WorkPiece& piece);
/// What that file says, as far as anybody reads it; empty where there is none.
std::string failure_text(const WorkBoard& board, const WorkPiece& piece);

}  // namespace synergraph
#pragma GCC visibility pop
