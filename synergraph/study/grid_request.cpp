#include "synergraph/study/grid_request.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "synergraph/train/data.h"
#include "synergraph/train/make_fleet.h"

namespace synergraph {
namespace {

/// Cells that a GPU trains at once: more are not faster.
constexpr int kCudaSet = 64;
/// Cells whose sequences are done at once by a large GPU: smaller sets are trained side by side.
constexpr int kCudaCells = 5;

}  // namespace

GridSettings grid_settings(const GridRequest& request) {
  const bool paper = request.preset == Preset::kPaper;
  GridSettings grid;
  grid.train = request.train;
  grid.measure = request.measure;
  if (!request.tasks.empty()) grid.tasks = request.tasks;
  if (!request.heads.empty()) grid.heads = request.heads;
  if (!request.seed_list.empty()) {
    grid.seeds = request.seed_list;
  } else {
    grid.seeds.resize(static_cast<std::size_t>(request.seeds.value_or(1)));
    std::iota(grid.seeds.begin(), grid.seeds.end(), std::uint64_t{1});
  }
  grid.train.epochs = request.epochs.value_or(paper ? 200 : 4);
  grid.train.sequences = request.sequences.value_or(grid.train.sequences);
  grid.measure.samples =
      request.samples.value_or(paper ? grid.train.sequences : std::min(200, grid.train.sequences));
  grid.measure.subset_samples = request.subset_samples.value_or(std::min(2, grid.measure.samples));
  return grid;
}

void cut_sets(const GridSettings& grid, int room, GridOptions& options) {
  const int side_by_side = kCudaCells / static_cast<int>(grid.tasks.size() * grid.seeds.size());
  if (options.jobs == 0) options.jobs = side_by_side;
  options.jobs = std::max(1, std::min(options.jobs, room));
  options.set_size = std::clamp(room / options.jobs, 1, kCudaSet);
}

void choose_grid_device(const GridSettings& grid, std::string_view name, Precision precision,
                        GridOptions& options) {
  std::vector<FleetSettings> shapes;
  for (const Cell& cell : cells(grid)) shapes.push_back(fleet_settings(cell.train));
  const int sequences = grid.train.sequences + kJudged;
  // What only merges computes nothing: any device will do that has a name.
  if (!options.merge_only)
    options.device = choose_device(name, precision, shapes, options.place.local_rank, sequences);
  else if (name != kAutomatic)
    parse_device(name);
  if (options.device.kind == DeviceKind::kCuda) {
    int room = std::numeric_limits<int>::max();
    for (const FleetSettings& shape : shapes)
      room = std::min(room, fleet_room(options.device, shape, sequences));
    cut_sets(grid, room, options);
  } else if (options.jobs == 0) {
    options.jobs = 1;
  }
}

}  // namespace synergraph
