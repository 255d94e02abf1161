#pragma once

#include <map>
#include <string>
#include <vector>

#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A study: every task with every head count and every seed, trained and measured.
struct GridSettings {
  std::vector<std::string> tasks = {"copy", "cycle"};
  std::vector<int> heads = {1, 4, 8, 16};
  std::vector<std::uint64_t> seeds = {1};
  TrainSettings train;  ///< of every cell, but for task, heads and seed
  MeasureSettings measure;
};

/// The cells of a grid: by task, then heads, then seed.
std::vector<Cell> cells(const GridSettings& grid);

/// The settings of training that all cells share, by name.
std::map<std::string, std::string> common_training(const GridSettings& grid);

/// UsageError, naming what is wrong, unless every cell can be run.
void validate(const GridSettings& grid);

}  // namespace synergraph
#pragma GCC visibility pop
