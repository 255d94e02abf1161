#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "synergraph/analysis/family_study.h"
#include "synergraph/report/figure.h"
#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A number of a graph: its key, and where it stands.
struct FamilyColumn {
  const char* key;
  const char* heading;  ///< for people; null: only for programs
  bool time;            ///< a lower limit if the graph's numbers are not exact
  double FamilyGraph::*value;
};

/// Returns all numbers of a graph, in the order of the CSV.
std::span<const FamilyColumn> family_columns();

/// One row for each family and size, for people: means over the seeds.
Table families_table(const std::vector<FamilyGraph>& graphs);

/// The same in LaTeX.
std::string latex_table(const std::vector<FamilyGraph>& graphs);

/// One row for each graph, for programs.
Table csv_table(const std::vector<FamilyGraph>& graphs);

/// The document synergraph.families.
std::string json_report(const FamilySettings& settings, const std::vector<FamilyGraph>& graphs);

/// Draws the normalised fidelity of each family against its averaged mixing time, both logarithmic:
/// a line for each family, a mark for each size. Graphs that never mix, or have no fidelity, have
/// no mark; a note below counts them.
void draw_families_figure(const std::string& path, const std::vector<FamilyGraph>& graphs,
                          const FigureOptions& options = {});

/// Draws the normalised fidelity of each family against the number of nodes, in the same way.
void draw_growth_figure(const std::string& path, const std::vector<FamilyGraph>& graphs,
                        const FigureOptions& options = {});

/// A graph and what a figure calls it.
struct GalleryGraph {
  std::string name;
  SparseGraph graph;
};

/// The largest graph that a gallery shows.
inline constexpr std::int64_t kMostGalleryNodes = 512;

/// Draws the adjacency matrix of each graph: a row for each query, a column for each key.
void draw_gallery(const std::string& path, const std::vector<GalleryGraph>& graphs,
                  const FigureOptions& options = {});

}  // namespace synergraph
#pragma GCC visibility pop
