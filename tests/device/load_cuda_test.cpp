#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "synergraph/core/error.h"
#include "synergraph/device/backend.h"
#include "tests/device/fake_backend.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing::HasSubstr;

/// Where the library is looked for, during a test.
class LoadCuda : public testing::Test {
 protected:
  static void look_for(const char* path) { setenv("SYNERGRAPH_CUDA_LIBRARY", path, 1); }
  void TearDown() override { unsetenv("SYNERGRAPH_CUDA_LIBRARY"); }

  static std::string trouble() {
    try {
      cuda_backend();
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }
};

// One after the other: once it is loaded, it stays.
TEST_F(LoadCuda, SaysWhatIsWrongAndLoadsWhatIsRight) {
  look_for("/nowhere/libsynergraph_cuda.so");
  EXPECT_THAT(trouble(), HasSubstr("cannot be loaded: /nowhere/libsynergraph_cuda.so"));
  EXPECT_THAT(trouble(), testing::Not(HasSubstr("\n")));
  look_for(SYNERGRAPH_TEST_DATA "/loss_games.npy");
  EXPECT_THAT(trouble(), HasSubstr("cannot be loaded"));
  // What dlopen() would wait for, and what it would die of.
  const std::string path = testing::TempDir() + "two\nlines.so";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  look_for(path.c_str());
  EXPECT_THAT(trouble(), HasSubstr("two\\x0alines.so: this is no regular file"));
  std::filesystem::remove(path);
  EXPECT_THAT(trouble(), HasSubstr("two\\x0alines.so: cannot open"));
  for (const std::uintmax_t bytes : {4096U, 65536U}) {
    std::filesystem::copy_file(SYNERGRAPH_FAKE_LIBRARY, path,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path, bytes);
    EXPECT_THAT(trouble(), HasSubstr("the end of the file is missing"));
  }
  std::filesystem::remove(path);
  look_for(SYNERGRAPH_OTHER_LIBRARY);
  EXPECT_THAT(trouble(), HasSubstr("is of another build (version 0.0.1"));
  look_for(SYNERGRAPH_FAKE_LIBRARY);
  ASSERT_EQ(trouble(), "");
  EXPECT_EQ(cuda_backend().describe(1), "fake (device 1)");
  // What it throws is caught here: both have the same classes.
  EXPECT_THROW(cuda_backend().describe(2), InputError);
  look_for("/nowhere");
  EXPECT_EQ(trouble(), "");
}

TEST_F(LoadCuda, MeasuresInTheLibrary) {
  look_for(SYNERGRAPH_FAKE_LIBRARY);
  RandomSequence draws(3, Purpose::kTest, 0);
  const Matrix head = testing_support::random_attention(9, 1.0, draws);
  std::vector<double> values;
  for (int i = 0; i < 9; ++i) values.insert(values.end(), head.row(i), head.row(i) + 9);
  const AttentionView view = attention_view(values.data(), 1, 1, 9);
  const BatchMetrics expected = measure(view);
  const BatchMetrics measured = cuda_backend().measure(view, {}, {}, {});
  EXPECT_EQ(measured.sequences[0][0].combined.fidelity.minimax,
            expected.sequences[0][0].combined.fidelity.minimax);
  values[3] = 0.5;  // a later token
  EXPECT_THROW(cuda_backend().measure(view, {}, {}, {}), InputError);
}

}  // namespace
}  // namespace synergraph
