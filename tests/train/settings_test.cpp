#include "synergraph/train/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/train/data.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

TrainSettings unusual() {
  TrainSettings settings;
  settings.model = {
      .vocabulary = 5, .length = 6, .width = 12, .heads = 3, .layers = 2, .hidden = 7};
  settings.task = "zero";
  settings.sequences = 77;
  settings.batch = 10;
  settings.epochs = 3;
  settings.seed = 0xFFFFFFFFFFFFFFFFULL;
  settings.dropout = 0.1 + 1e-17;
  settings.adam = {.learning_rate = 1.0 / 3.0, .beta1 = 0.7, .beta2 = 0.99, .epsilon = 1e-9};
  return settings;
}

TEST(Settings, SurviveTheirMetadata) {
  const TrainSettings settings = unusual();
  const TrainSettings back = from_metadata(to_metadata(settings), "file");
  EXPECT_EQ(to_metadata(back), to_metadata(settings));
  EXPECT_EQ(back.model, settings.model);
  EXPECT_EQ(back.seed, settings.seed);
  EXPECT_EQ(back.adam.learning_rate, settings.adam.learning_rate);
  EXPECT_EQ(settings.steps_per_epoch(), 8);
  EXPECT_EQ(settings.steps(), 24U);
}

TEST(Settings, BadMetadataIsRefused) {
  const auto message = [](const char* key, const char* value) -> std::string {
    auto metadata = to_metadata(unusual());
    if (value == nullptr)
      metadata.erase(key);
    else
      metadata[key] = value;
    try {
      from_metadata(metadata, "file");
    } catch (const InputError& error) {
      return spelled(error.what(), OptionSpelling::kKey);
    }
    return "";
  };
  EXPECT_EQ(message("heads", nullptr), "file: metadata 'heads' is missing");
  EXPECT_EQ(message("heads", "3x"), "file: metadata 'heads' is '3x', not a number");
  EXPECT_EQ(message("heads", "5"), "file: 5 heads do not divide the width 12");
  EXPECT_EQ(message("beta1", "1"), "file: beta1 must be in [0, 1), not 1");
  EXPECT_THAT(message("task", "sort"), HasSubstr("unknown task 'sort'"));
}

TEST(Settings, RunsThatCannotBeAreRefused) {
  const auto message = [](auto change) -> std::string {
    TrainSettings settings;
    change(settings);
    try {
      validate(settings);
    } catch (const UsageError& error) {
      return spelled(error.what(), OptionSpelling::kKey);
    }
    return "";
  };
  EXPECT_EQ(message([](TrainSettings&) {}), "");
  EXPECT_THAT(message([](TrainSettings& s) { s.batch = 0; }), HasSubstr("batch must be between 1"));
  EXPECT_THAT(message([](TrainSettings& s) { s.batch = 5001; }), HasSubstr("batch must be"));
  EXPECT_THAT(message([](TrainSettings& s) { s.sequences = 0; }), HasSubstr("sequences must be"));
  EXPECT_THAT(message([](TrainSettings& s) { s.epochs = -1; }), HasSubstr("epochs must be"));
  EXPECT_THAT(message([](TrainSettings& s) { s.epochs = 999999999; }), HasSubstr("2^32 steps"));
  EXPECT_THAT(message([](TrainSettings& s) { s.dropout = 1.0; }), HasSubstr("dropout must be"));
  EXPECT_THAT(message([](TrainSettings& s) { s.adam.learning_rate = -1; }),
              HasSubstr("learning_rate must be positive"));
  EXPECT_THAT(message([](TrainSettings& s) { s.adam.epsilon = 1e-50; }),
              HasSubstr("epsilon must be positive as a float32, not 1e-50"));
}

TEST(Settings, RunsAtTheEdgeOfWhatCanBeAreTaken) {
  TrainSettings settings;
  settings.batch = settings.sequences;
  settings.dropout = 0.0;
  settings.adam.beta1 = settings.adam.beta2 = 0.0;
  settings.adam.epsilon = 1e-44;
  settings.epochs = 0;
  EXPECT_NO_THROW(validate(settings));

  settings.model.length = 10;
  settings.batch = 1;
  settings.sequences = 65535;
  settings.epochs = 65537;
  EXPECT_EQ(settings.steps(), 0xFFFFFFFFU);
  EXPECT_NO_THROW(validate(settings));
  settings.sequences = settings.epochs = 65536;  // 2^32 steps
  EXPECT_THROW(validate(settings), UsageError);
  settings.model.length = 1 << 20;  // with the judged ones, 2^31 tokens and a few
  settings.epochs = 1;
  settings.sequences = 2047 - kJudged;
  EXPECT_NO_THROW(validate(settings));
  ++settings.sequences;
  EXPECT_THROW(validate(settings), UsageError);
}

TEST(Settings, TheFirstDifferenceIsNamedAndEpochsMayDiffer) {
  const TrainSettings stored;
  TrainSettings wanted;
  EXPECT_EQ(difference(stored, wanted), "");
  wanted.epochs = 300;
  EXPECT_EQ(difference(stored, wanted), "");
  wanted.seed = 9;
  EXPECT_EQ(difference(stored, wanted), "seed 0, not 9");
  wanted.model.heads = 8;
  EXPECT_EQ(difference(stored, wanted), "heads 4, not 8");
}

}  // namespace
}  // namespace synergraph
