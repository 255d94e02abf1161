#include "synergraph/train/run_settings.h"

#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/train/checkpoint.h"
#include "synergraph/train/run_notes.h"

namespace synergraph {

TrainOptions RunSettings::options() const {
  TrainOptions options;
  options.directory = out;
  options.resume = resume;
  options.checkpoint_interval = checkpoint_every;
  options.track_every = track;
  return options;
}

void RunSettings::resume_run(const std::function<bool(std::string_view key)>& given) {
  inherit(train, read_settings(out), given);
  if (const auto notes = read_notes(out); notes && !given("track")) track = notes->track_every;
}

void RunSettings::fit(const TrainingData& data,
                      const std::function<bool(std::string_view key)>& given) {
  const int count = data.inputs.count;
  if (given("sequences") && train.sequences != count)
    throw UsageError(fmt::format("{} is {}, but there are {} pairs", option_mark("sequences"),
                                 train.sequences, count));
  if (!given("length")) train.model.length = data.inputs.length;
  if (!given("batch")) train.batch = std::min(train.batch, count);
  train.sequences = count;
  train.task = "data";
  train.data = fingerprint(data);
}

}  // namespace synergraph
