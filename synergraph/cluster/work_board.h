#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The directory through which workers share pieces of work. What belongs to a piece lies side by
/// side in one of 256 folders, chosen by the hash of the piece's name: of 100,000 pieces, each has
/// some hundreds.
class WorkBoard {
 public:
  /// Makes the directory when it is missing.
  explicit WorkBoard(std::string root);

  const std::string& root() const { return root_; }
  static std::string folder_of(std::string_view piece);  ///< "3f"
  /// Where the file with this ending of a piece is: root/3f/PIECE.ENDING; without an ending:
  /// root/3f/PIECE.
  std::string path(std::string_view piece, std::string_view ending = "") const;
  std::string worker_path(std::string_view token) const;  ///< root/workers/TOKEN

  /// Makes the folder of a piece; FileError where the board itself is gone.
  void make_folder(std::string_view piece) const;

  /// The names in one folder; none where it is missing. FileError where the board itself is gone.
  std::set<std::string, std::less<>> names_in(const std::string& folder) const;
  std::vector<std::string> folders() const;  ///< those that there are

 private:
  std::string root_;
};

}  // namespace synergraph
#pragma GCC visibility pop
