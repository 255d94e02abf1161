#include "synergraph/device/measuring_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synergraph/core/error.h"
#include "synergraph/device/device_name.h"
#include "tests/device/fake_backend.h"

namespace synergraph {
namespace {

using testing::ElementsAre;
using testing_support::FakeBackend;

MetricsBackend& fake() {
  static FakeBackend backend;
  return backend;
}
MetricsBackend& none() {
  throw InputError("the driver is too old");
}
MetricsBackend& empty() {
  static FakeBackend backend;
  backend.devices = 0;
  return backend;
}

std::string trouble(std::string_view name, LoadBackend load) {
  try {
    choose_measuring_device(name, 1e9, 0, load);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(DeviceName, IsParsed) {
  EXPECT_TRUE(device_name("auto").automatic);
  EXPECT_FALSE(device_name("cpu").gpu);
  EXPECT_FALSE(device_name("cuda").index.has_value());
  EXPECT_EQ(device_name("cuda:3").index, 3);
  EXPECT_TRUE(device_name("cuda:all").all);
  for (const char* wrong : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cudaX1", "cpu:0", "CUDA"})
    EXPECT_THROW(device_name(wrong), UsageError) << wrong;
}

TEST(MeasuringDevice, IsTheOneThatWasAskedFor) {
  EXPECT_TRUE(choose_measuring_device("cpu", 1e9, 0, none).is_cpu());
  EXPECT_THAT(choose_measuring_device("cuda", 0.0, 0, fake).indices, ElementsAre(0));
  EXPECT_THAT(choose_measuring_device("cuda", 0.0, 5, fake).indices, ElementsAre(1));
  EXPECT_THAT(choose_measuring_device("cuda:1", 0.0, 0, fake).indices, ElementsAre(1));
  EXPECT_THAT(choose_measuring_device("cuda:all", 0.0, 1, fake).indices, ElementsAre(0, 1));
}

TEST(MeasuringDevice, SaysWhyItCannotBeUsed) {
  EXPECT_EQ(trouble("cuda", none), "cuda: the driver is too old");
  EXPECT_EQ(trouble("cuda:2", fake), "cuda:2: this machine has 2 GPUs");
  EXPECT_EQ(trouble("cuda", empty), "cuda: no GPU on this machine");
  EXPECT_THROW(choose_measuring_device("tpu", 1e9, 0, none), UsageError);
}

TEST(MeasuringDevice, IsTheCpuWithAutoUnlessAGpuHelps) {
  EXPECT_TRUE(choose_measuring_device("auto", 1e9, 0, none).is_cpu());
  EXPECT_TRUE(choose_measuring_device("auto", 1e9, 0, empty).is_cpu());
  EXPECT_TRUE(choose_measuring_device("auto", 0.1, 0, fake).is_cpu());
  EXPECT_FALSE(choose_measuring_device("auto", 1e9, 0, fake).is_cpu());
}

}  // namespace
}  // namespace synergraph
