#include "synergraph/cluster/work_plan.h"

#include <fmt/core.h>

#include <filesystem>

#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

constexpr std::string_view kPrefix = "plan-";
constexpr std::string_view kFormat = "synergraph plan 1";

}  // namespace

std::string WorkPlan::key() const {
  Fingerprint fingerprint;
  for (const WorkPiece& piece : pieces)
    for (const std::string_view text : {std::string_view(piece.name), std::string_view("."),
                                        std::string_view(piece.result), std::string_view("\n")})
      fingerprint.add(text);
  return fingerprint.text();
}

void publish(const WorkPlan& plan, const WorkBoard& board) {
  const std::string path = fmt::format("{}/{}{}.txt", board.root(), kPrefix, plan.key());
  std::error_code none;
  if (std::filesystem::exists(path, none)) return;
  std::string text = fmt::format("{}\t{}\t{}\n", kFormat, plan.unit, printable(plan.title));
  for (const WorkPiece& piece : plan.pieces)
    text += fmt::format("{}\t{}\t{}\t{}\n", piece.cost, piece.name, piece.result,
                        printable(piece.title));
  write_file(path, text);
}

std::vector<WorkPlan> published_plans(const WorkBoard& board) {
  std::vector<WorkPlan> plans;
  for (const auto& entry : std::filesystem::directory_iterator(board.root())) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const std::string text = read_regular_file(entry.path().string());
    WorkPlan& plan = plans.emplace_back();
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty()) continue;
      const std::vector<std::string_view> fields = split(line, '\t');
      WorkPiece piece;
      if (fields.size() == 3 && fields[0] == kFormat) {
        plan.unit = fields[1];
        plan.title = fields[2];
      } else if (fields.size() == 4 && parse_number(fields[0], piece.cost)) {
        piece.name = fields[1];
        piece.result = fields[2];
        piece.title = fields[3];
        plan.pieces.push_back(std::move(piece));
      } else {
        throw InputError(entry.path().string() + ": not a plan of synergraph's");
      }
    }
  }
  return plans;
}

std::string result_path(const WorkBoard& board, const WorkPiece& piece) {
  return board.path(piece.name, piece.result);
}

std::string failure_path(const WorkBoard& board, const WorkPiece& piece) {
  return board.path(piece.name, piece.result + ".failed");
}

}  // namespace synergraph
