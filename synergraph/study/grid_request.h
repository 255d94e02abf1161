#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/study/grid_run.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What somebody wants of a study; a preset says the rest.
struct GridRequest {
  /// "quick": 4 epochs, 200 sequences measured; "paper": 200 epochs, all sequences measured.
  std::string preset = "quick";
  std::vector<std::string> tasks = {};        ///< none: copy and cycle
  std::vector<int> heads = {};                ///< none: 1, 4, 8 and 16
  std::optional<int> seeds = {};              ///< seeds 1 to this; unless given, 1
  std::vector<std::uint64_t> seed_list = {};  ///< or these
  std::optional<int> epochs = {};
  std::optional<int> sequences = {};
  std::optional<int> samples = {};         ///< sequences measured
  std::optional<int> subset_samples = {};  ///< of these, for every subset of the heads
  TrainSettings train = {};                ///< the other settings of training
  MeasureSettings measure = {};            ///< and of measuring
};

/// The study that is wanted. UsageError for another preset.
GridSettings grid_settings(const GridRequest& request);

/// Sets of cells for a GPU, and the jobs unless they are given: the GPU has memory for `room` cells
/// at once, and no more are in training. Results do not depend on that.
void cut_sets(const GridSettings& grid, int room, GridOptions& options);

/// Chooses the device for all cells of a grid, see choose_device(), for a GPU sets of cells that
/// fit in the memory it has free, and the jobs unless they are given. Of several workers on a
/// machine each has a GPU of its own, as far as there are enough.
void choose_grid_device(const GridSettings& grid, std::string_view name, Precision precision,
                        GridOptions& options);

}  // namespace synergraph
#pragma GCC visibility pop
