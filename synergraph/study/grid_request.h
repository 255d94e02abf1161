#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/metrics_settings.h"
#include "synergraph/study/grid_run.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What a study is unless its settings say otherwise.
enum class Preset {
  kQuick,  ///< 4 epochs, 200 sequences measured
  kPaper,  ///< 200 epochs, all sequences measured
};

template <>
inline constexpr NameTable<Preset, 2> kNamesOf<Preset>{
    {{Preset::kQuick, "quick"}, {Preset::kPaper, "paper"}}};

/// What somebody wants of a study; a preset says the rest.
struct GridRequest {
  Preset preset = Preset::kQuick;
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

/// See Setting.
template <class Visit>
void visit_settings(GridRequest& request, Visit&& visit) {
  constexpr const char* kGrid = "Grid";
  const NumberRange<int> positive{1};
  visit(Setting{"preset", kGrid,
                "quick: 4 epochs, up to 200 sequences measured; paper: 200 epochs, all sequences "
                "measured"},
        request.preset);
  visit(Setting{"tasks", kGrid, "list of tasks to train (default: copy,cycle)"}, request.tasks);
  visit(Setting{"heads", kGrid, "list of numbers of heads (default: 1,4,8,16)"}, request.heads,
        positive);
  visit(Setting{"seeds", kGrid, "number of seeds: seeds 1 to K are used (default: 1)", "K"},
        request.seeds, NumberRange<int>{1, 1000000});
  visit(Setting{.key = "seed_list", .group = kGrid, .help = "list of seeds", .excludes = "seeds"},
        request.seed_list, NumberRange<std::uint64_t>{});
  visit(kEpochsSetting, request.epochs, NumberRange<int>{});
  visit(kSequencesSetting, request.sequences, positive);
  visit_model_and_rates(request.train, visit);
  visit(Setting{"samples", "Measurement",
                "number of training sequences to measure, from the first (the paper: 50; default: "
                "the preset's)"},
        request.samples, positive);
  visit(kEpsSetting, request.measure.eps, kThresholdRange);
  visit(kCutoffSetting, request.measure.cutoff, kStepRange);
  visit(Setting{"horizon", "Measurement", "diffusion steps looked at for the published fidelity"},
        request.measure.horizon, kStepRange);
  visit(Setting{"subset_samples", "Measurement",
                "number of sequences on which all subsets of up to 20 heads are measured; 0: none "
                "(default: the preset's)"},
        request.subset_samples, NumberRange<int>{});
}

/// The study that is wanted.
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
