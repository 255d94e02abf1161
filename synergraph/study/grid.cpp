#include "synergraph/study/grid.h"

#include <fmt/core.h>

#include <set>

#include "synergraph/cluster/work_plan.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

template <class T>
void require_distinct(const std::vector<T>& values, const char* what) {
  if (values.empty()) throw UsageError(fmt::format("no {} to study", what));
  if (std::set<T>(values.begin(), values.end()).size() != values.size())
    throw UsageError(fmt::format("the same {} twice", what));
}

}  // namespace

void validate(const GridSettings& grid) {
  require_distinct(grid.tasks, "task");
  require_distinct(grid.heads, "head count");
  require_distinct(grid.seeds, "seed");
  if (grid.tasks.size() * grid.heads.size() > kMostPieces / grid.seeds.size())
    throw UsageError(fmt::format("{} tasks, {} head counts and {} seeds: at most {} cells",
                                 grid.tasks.size(), grid.heads.size(), grid.seeds.size(),
                                 kMostPieces));
  for (const Cell& cell : cells(grid)) {
    if (cell.train.task == "data") throw UsageError("a study needs tasks, not data");
    validate(cell.train);
  }
  if (grid.measure.samples < 1 || grid.measure.samples > grid.train.sequences)
    throw UsageError(fmt::format("samples must be between 1 and the {} training sequences, not {}",
                                 grid.train.sequences, grid.measure.samples));
  if (grid.measure.subset_samples < 0 || grid.measure.subset_samples > grid.measure.samples)
    throw UsageError(
        fmt::format("samples for subsets must be between 0 and the {} samples measured, not {}",
                    grid.measure.samples, grid.measure.subset_samples));
}

std::vector<Cell> cells(const GridSettings& grid) {
  std::vector<Cell> all;
  for (const std::string& task : grid.tasks)
    for (const int heads : grid.heads)
      for (const std::uint64_t seed : grid.seeds) {
        Cell cell{grid.train, grid.measure};
        cell.train.task = task;
        cell.train.model.heads = heads;
        cell.train.seed = seed;
        all.push_back(std::move(cell));
      }
  return all;
}

std::map<std::string, std::string> common_training(const GridSettings& grid) {
  std::map<std::string, std::string> settings = to_metadata(grid.train);
  for (const char* own : {"task", "data", "heads", "seed"}) settings.erase(own);
  return settings;
}

}  // namespace synergraph
