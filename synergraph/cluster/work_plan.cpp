#include "synergraph/cluster/work_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/own_file.h"

namespace synergraph {
namespace {

constexpr std::string_view kPrefix = "plan-";
constexpr std::string_view kFormat = "synergraph plan 1";
constexpr std::size_t kLongestPlanLine = 256;  ///< of a piece, on average
constexpr double kLargestCost = 1e100;         ///< the sum of all costs is finite
constexpr std::size_t kLargestFailure = std::size_t{1} << 16U;

/// Fields of a line, no more than a plan has.
std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::ptrdiff_t kMost = 4;
  if (std::count(line.begin(), line.end(), '\t') >= kMost) return {};
  return split(line, '\t');
}

bool read_title(std::string_view line, WorkPlan& plan) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.size() != 3 || fields[0] != kFormat) return false;
  plan.unit = fields[1];
  plan.title = fields[2];
  return true;
}

/// Names are those of files in a folder, and nowhere else.
bool read_piece(std::string_view line, std::vector<WorkPiece>& pieces) {
  const std::vector<std::string_view> fields = fields_of(line);
  WorkPiece piece;
  if (fields.size() != 4 || !parse_number(fields[0], piece.cost) || !(piece.cost >= 0.0) ||
      piece.cost > kLargestCost)
    return false;
  for (const std::string_view name : {fields[1], fields[2]})
    if (name.empty() || name.find('/') != std::string_view::npos) return false;
  piece.name = fields[1];
  piece.result = fields[2];
  piece.title = fields[3];
  pieces.push_back(std::move(piece));
  return true;
}

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
  if (plan.pieces.size() > kMostPieces)
    throw UsageError(fmt::format("{} {} are too many to share; the limit is {}", plan.pieces.size(),
                                 plan.unit, kMostPieces));
  const std::string path = fmt::format("{}/{}{}.txt", board.root(), kPrefix, plan.key());
  if (is_own_file(path)) return;
  std::string text = fmt::format("{}\t{}\t{}\n", kFormat, plan.unit, printable(plan.title));
  for (const WorkPiece& piece : plan.pieces)
    text += fmt::format("{}\t{}\t{}\t{}\n", piece.cost, piece.name, piece.result,
                        printable(piece.title));
  write_file(path, text, NamedBy::kProgram);
}

std::vector<std::string> plan_paths(const WorkBoard& board) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in_own(board.root()))
    if (name.starts_with(kPrefix)) paths.push_back(fmt::format("{}/{}", board.root(), name));
  return paths;
}

WorkPlan read_plan(const std::string& path) {
  const std::string text = read_regular_file(path, kMostPieces * kLongestPlanLine);
  WorkPlan plan;
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < text.size(); ++lines) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (lines == 0 ? !read_title(line, plan)
                   : plan.pieces.size() == kMostPieces || !read_piece(line, plan.pieces))
      throw InputError(
          fmt::format("{}: line {}: not a plan of synergraph's; remove the file", path, lines + 1));
  }
  return plan;
}

std::string result_path(const WorkBoard& board, const WorkPiece& piece) {
  return board.path(piece.name, piece.result);
}

std::string failure_path(const WorkBoard& board, const WorkPiece& piece) {
  return board.path(piece.name, piece.result + ".failed");
}

std::string failure_text(const WorkBoard& board, const WorkPiece& piece) {
  const std::string path = failure_path(board, piece);
  if (!is_own_file(path)) return "";
  const ByteSourcePtr bytes = open_bytes(path, NamedBy::kProgram);
  return bytes->read_string(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes->size(), kLargestFailure)));
}

}  // namespace synergraph
