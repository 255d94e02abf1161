#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// The directory through which workers share pieces of work. All files of a piece lie in one of 256
/// folders, chosen by the hash of the piece's name. With 100,000 pieces, each folder has some
/// hundreds.
class WorkBoard {
 public:
  /// Creates the directory if it is missing.
  explicit WorkBoard(std::string root);

  const std::string& root() const { return root_; }
  static std::string folder_of(std::string_view piece);  ///< "3f"
  /// The path of the file with this ending of a piece: root/3f/PIECE.ENDING, or root/3f/PIECE
  /// without an ending.
  std::string path(std::string_view piece, std::string_view ending = "") const;
  std::string worker_path(std::string_view token) const;  ///< root/workers/TOKEN

  /// Creates the folder of a piece. Throws FileError if the board itself is gone.
  void make_folder(std::string_view piece) const;

  /// Returns the names in one folder, or no names if the folder is missing. Throws FileError if the
  /// board itself is gone.
  std::set<std::string, std::less<>> names_in(const std::string& folder) const;
  std::vector<std::string> folders() const;  ///< folders that exist

 private:
  std::string root_;
};

}  // namespace synergraph
#pragma GCC visibility pop
