#include "synergraph/model/load_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/io/safetensors.h"

namespace synergraph {
namespace {

class LoadModelTest : public testing::Test {
 protected:
  LoadModelTest()
      : model_({.vocabulary = 5, .length = 6, .width = 4, .heads = 2, .layers = 2, .hidden = 3}) {
    initialise(model_, 1);
    for (const ParameterInfo& tensor : model_.layout().tensors())
      tensors_.push_back(tensor_data(tensor.name, tensor.shape, model_.tensor(tensor.name)));
    directory_ = std::filesystem::path(testing::TempDir()) /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(directory_);
  }
  ~LoadModelTest() override { std::filesystem::remove_all(directory_); }

  Model load(const char* name, const std::map<std::string, std::string>& metadata, int heads = 0) {
    const std::string path = (directory_ / name).string();
    write_safetensors(path, tensors_, metadata);
    return load_model(TensorFile::open(path), heads);
  }
  std::string message(const char* name, const std::map<std::string, std::string>& metadata,
                      int heads = 0) {
    try {
      load(name, metadata, heads);
    } catch (const InputError& error) {
      return spelled(error.what(), OptionSpelling::kProgram);
    }
    return "";
  }

  Model model_;
  std::vector<TensorData> tensors_;
  std::filesystem::path directory_;
};

TEST_F(LoadModelTest, SizesComeFromTheShapesAndHeadsFromWhoeverKnowsThem) {
  const Model loaded = load("a.safetensors", {{"heads", "2"}});
  EXPECT_EQ(loaded.config(), model_.config());
  EXPECT_EQ(loaded.values(), model_.values());
  EXPECT_EQ(load("4_heads_copy.safetensors", {}).config().heads, 4);
  EXPECT_EQ(load("4_heads_copy.safetensors", {{"heads", "2"}}).config().heads, 2);
  EXPECT_EQ(load("4_heads_copy.safetensors", {{"heads", "2"}}, 2).config().heads, 2);
  EXPECT_EQ(load("4_heads_copy.safetensors", {}, 1).config().heads, 1);
}

TEST_F(LoadModelTest, HeadsThatContradictTheFileAreRefused) {
  for (const int heads : {1, 4})
    EXPECT_THAT(message("a.safetensors", {{"heads", "2"}}, heads),
                testing::HasSubstr("the file says that it has 2 heads, not " +
                                   std::to_string(heads) + ": leave out --heads"));
}

TEST_F(LoadModelTest, APrefixIsFound) {
  for (TensorData& tensor : tensors_) tensor.info.name = "model." + tensor.info.name;
  EXPECT_EQ(load("a.safetensors", {}, 2).values(), model_.values());
}

TEST_F(LoadModelTest, BadCheckpointsAreRefusedInOneLine) {
  using testing::HasSubstr;
  EXPECT_THAT(message("a.safetensors", {}), HasSubstr("the number of heads is not in the file"));
  EXPECT_THAT(message("a.safetensors", {{"heads", "two"}}), HasSubstr("'heads' is 'two'"));
  EXPECT_THAT(message("a.safetensors", {}, 3), HasSubstr("3 heads do not divide the width 4"));

  tensors_[3].info.shape = {2, 8};
  EXPECT_THAT(message("a.safetensors", {}, 2), HasSubstr("shape (2, 8), expected (4, 4)"));
  tensors_[3].info.shape = {4, 4};
  model_.tensor("out_proj.bias")[2] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(message("a.safetensors", {}, 2),
              HasSubstr("tensor 'out_proj.bias': entry 2 is not finite"));
  tensors_.pop_back();
  EXPECT_THAT(message("a.safetensors", {}, 2), HasSubstr("out_proj.bias"));
}

}  // namespace
}  // namespace synergraph
