#include <gtest/gtest.h>

#include <limits>

#include "synergraph/io/npy.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/tensor_file.h"
#include "tests/support/run_program.h"

namespace synergraph {
namespace {

class ConvertTest : public testing_support::ProgramTest {
 protected:
  testing_support::Outcome expect_success(const std::string& arguments) const {
    testing_support::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << '\n' << outcome.err;
    EXPECT_EQ(outcome.err, "") << arguments;
    return outcome;
  }
  void expect_same_tensors(const std::string& a, const std::string& b) const {
    const TensorFile first = TensorFile::open(a);
    const TensorFile second = TensorFile::open(path(b));
    ASSERT_EQ(first.tensors().size(), second.tensors().size());
    for (const Tensor& tensor : first.tensors()) {
      const Tensor& other = second.at(tensor.name());
      EXPECT_EQ(tensor.info().dtype, other.info().dtype) << tensor.name();
      EXPECT_EQ(tensor.shape(), other.shape()) << tensor.name();
      const auto x = tensor.values<double>();
      const auto y = other.values<double>();
      for (std::size_t k = 0; k < x.size(); ++k)
        EXPECT_TRUE(x[k] == y[k] || (x[k] != x[k] && y[k] != y[k])) << tensor.name() << " " << k;
    }
  }
};

TEST_F(ConvertTest, EveryElementTypeSurvives) {
  const std::string all = SYNERGRAPH_TEST_DATA "/io/all.safetensors";
  expect_success("convert " + all + " copy.safetensors");
  expect_same_tensors(all, "copy.safetensors");
  const std::string torch = SYNERGRAPH_TEST_DATA "/io/state_dict.pt";
  expect_success("convert " + torch + " state.npz");
  expect_success("convert state.npz state.safetensors");
  expect_same_tensors(torch, "state.npz");
  expect_same_tensors(torch, "state.safetensors");
  for (const char* name : {"le_f2", "le_f4", "le_f8", "be_i4", "fortran", "1_b1"}) {
    const std::string array = std::string(SYNERGRAPH_TEST_DATA "/io/npy_") + name + ".npy";
    expect_success("convert " + array + " array.npy");
    expect_same_tensors(array, "array.npy");
  }
}

TEST_F(ConvertTest, LargeUnsignedIntegersStayExact) {
  const std::vector<std::uint64_t> values = {0, std::uint64_t{1} << 63U, 0x8000000000000001U,
                                             std::numeric_limits<std::uint64_t>::max()};
  write_npy(path("a.npy"), tensor_data("", {2, 2}, values.data()));
  expect_success("convert a.npy b.safetensors");
  expect_success("convert b.safetensors c.npz");
  expect_success("convert c.npz d.npy");
  EXPECT_EQ(read("d.npy"), read("a.npy"));
}

TEST_F(ConvertTest, BFloat16BecomesFloat32ForNumpy) {
  const std::vector<std::uint16_t> bits = {0x3f80, 0xbf81, 0x0001, 0x7f80, 0x8000, 0x7f7f};
  const TensorData tensor{{"w", DType::kBFloat16, {2, 3}}, bits.data()};
  write_safetensors(path("a.safetensors"), {&tensor, 1});
  for (const char* to : {"b.npy", "b.npz"}) {
    const testing_support::Outcome outcome = run(std::string("convert a.safetensors ") + to);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err,
              "1 tensor of bfloat16 written as float32, exactly: NumPy has no bfloat16\n");
    const TensorFile file = TensorFile::open(path(to));
    const Tensor& widened = file.tensors().front();
    EXPECT_EQ(widened.info().dtype, DType::kFloat32);
    EXPECT_EQ(widened.shape(), (Shape{2, 3}));
    std::vector<std::uint32_t> wide(6);
    widened.read_elements(0, 6, wide.data());
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(wide[k], std::uint32_t{bits[k]} << 16U);
  }
  expect_success("convert a.safetensors c.safetensors");
  EXPECT_EQ(read("c.safetensors"), read("a.safetensors"));
}

TEST_F(ConvertTest, RefusesWhatItCannotDo) {
  const std::string state = SYNERGRAPH_TEST_DATA "/io/state_dict.pt";
  expect_refusal("convert " + state + " out.pt", 2,
                 "expected a name in .npy, .npz or .safetensors");
  expect_refusal("convert " + state + " out.npy", 2, "a .npy file holds one");
  expect_refusal("convert missing.pt out.npz", 1, "missing.pt");
  expect_refusal("convert " + state, 2, "OUT is required");
}

}  // namespace
}  // namespace synergraph
