#pragma once

#include <string>
#include <vector>

#include "synergraph/cluster/work_board.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A piece of work for one worker.
struct WorkPiece {
  /// Unique name that only one worker may hold at a time; changes with the settings.
  std::string name;
  std::string result;  ///< ending of the result file; the piece is done when this file exists
  std::string title;   ///< title for people
  double cost = 1.0;   ///< cost relative to other pieces
};

/// The largest number of pieces in a plan. A larger plan of cells would need terabytes of trained
/// models.
inline constexpr std::size_t kMostPieces = 1'000'000;

/// All pieces of a task, in the order of the results.
struct WorkPlan {
  std::string title;
  std::string unit = "pieces";  ///< noun for the pieces
  std::vector<WorkPiece> pieces;

  /// 16 hexadecimal digits that change with the names of the pieces and of their results.
  std::string key() const;
};

/// Writes a plan to the board, for status queries, unless the plan is there. Throws UsageError for
/// more than kMostPieces pieces.
void publish(const WorkPlan& plan, const WorkBoard& board);
/// The files of the plans on a board, in the order of their names.
std::vector<std::string> plan_paths(const WorkBoard& board);
/// Reads a plan. Throws InputError if the file is not a plan.
WorkPlan read_plan(const std::string& path);

std::string result_path(const WorkBoard& board, const WorkPiece& piece);
/// The path of the failure file of a piece. The file has one line with the reason and one line with
/// the place of the failure.
std::string failure_path(const WorkBoard& board, const WorkPiece& piece);
/// The text of the failure file, up to the limit for reading. Empty if there is no file.
std::string failure_text(const WorkBoard& board, const WorkPiece& piece);

}  // namespace synergraph
#pragma GCC visibility pop
