#include "synergraph/io/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "synergraph/io/tensor_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/pattern.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string bytes("\x93NUMPY", 6);
  bytes += {version, '\0', static_cast<char>(dictionary.size() & 0xffU),
            static_cast<char>(dictionary.size() >> 8U & 0xffU)};
  if (version > 1)
    bytes += {static_cast<char>(dictionary.size() >> 16U & 0xffU),
              static_cast<char>(dictionary.size() >> 24U)};
  return bytes + dictionary + data;
}

std::string dictionary(const std::string& shape, const std::string& type = "<f4") {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
}

TensorFile parse(const std::string& bytes) {
  return TensorFile::open(memory_bytes("t.npy", bytes));
}

struct NumpyFile {
  const char* name;
  DType dtype;
  Shape shape;
};

class NumpyFileTest : public testing::TestWithParam<NumpyFile> {};

TEST_P(NumpyFileTest, HasTheValuesThatNumpyWrote) {
  const TensorFile file = TensorFile::open(data_file(std::string("npy_") + GetParam().name));
  EXPECT_EQ(file.format(), FileFormat::kNpy);
  ASSERT_EQ(file.tensors().size(), 1U);
  const Tensor& tensor = file.at("");
  EXPECT_EQ(tensor.info().dtype, GetParam().dtype);
  EXPECT_EQ(tensor.shape(), GetParam().shape);
  const std::vector<double> expected = pattern_of(tensor.info());
  EXPECT_EQ(tensor.values<double>(), expected);
  EXPECT_EQ(tensor.values<float>(), std::vector<float>(expected.begin(), expected.end()));
  if (is_integer(tensor.info().dtype)) {
    EXPECT_EQ(tensor.values<std::int64_t>(),
              std::vector<std::int64_t>(expected.begin(), expected.end()));
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, NumpyFileTest,
                         testing::Values(NumpyFile{"le_f2.npy", DType::kFloat16, {2, 3}},
                                         NumpyFile{"be_f2.npy", DType::kFloat16, {2, 3}},
                                         NumpyFile{"le_f4.npy", DType::kFloat32, {2, 3}},
                                         NumpyFile{"be_f4.npy", DType::kFloat32, {2, 3}},
                                         NumpyFile{"le_f8.npy", DType::kFloat64, {2, 3}},
                                         NumpyFile{"be_f8.npy", DType::kFloat64, {2, 3}},
                                         NumpyFile{"1_b1.npy", DType::kBool, {2, 3}},
                                         NumpyFile{"1_u1.npy", DType::kUInt8, {2, 3}},
                                         NumpyFile{"1_i1.npy", DType::kInt8, {2, 3}},
                                         NumpyFile{"le_u2.npy", DType::kUInt16, {2, 3}},
                                         NumpyFile{"be_u2.npy", DType::kUInt16, {2, 3}},
                                         NumpyFile{"le_i2.npy", DType::kInt16, {2, 3}},
                                         NumpyFile{"be_i2.npy", DType::kInt16, {2, 3}},
                                         NumpyFile{"le_u4.npy", DType::kUInt32, {2, 3}},
                                         NumpyFile{"be_u4.npy", DType::kUInt32, {2, 3}},
                                         NumpyFile{"le_i4.npy", DType::kInt32, {2, 3}},
                                         NumpyFile{"be_i4.npy", DType::kInt32, {2, 3}},
                                         NumpyFile{"le_u8.npy", DType::kUInt64, {2, 3}},
                                         NumpyFile{"be_u8.npy", DType::kUInt64, {2, 3}},
                                         NumpyFile{"le_i8.npy", DType::kInt64, {2, 3}},
                                         NumpyFile{"be_i8.npy", DType::kInt64, {2, 3}},
                                         NumpyFile{"fortran.npy", DType::kFloat32, {3, 4, 5}},
                                         NumpyFile{"fortran_be.npy", DType::kFloat64, {4, 3}},
                                         NumpyFile{"version2.npy", DType::kFloat32, {2, 3}},
                                         NumpyFile{"version3.npy", DType::kFloat32, {2, 3}},
                                         NumpyFile{"scalar.npy", DType::kFloat64, {}},
                                         NumpyFile{"empty.npy", DType::kFloat32, {3, 0, 2}}),
                         [](const testing::TestParamInfo<NumpyFile>& test) {
                           std::string name = test.param.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

class NpyTest : public InTemporaryDirectory {};

TEST_F(NpyTest, WritesTheBytesThatNumpyWrites) {
  const std::vector<float> floats{-3.0F, -2.5F, -2.0F, -1.5F, -1.0F, -0.5F};
  write_npy(path("a.npy"), tensor_data("", {2, 3}, floats.data()));
  EXPECT_EQ(read_file(path("a.npy")), read_file(data_file("npy_le_f4.npy")));
  const double scalar = -3.0;
  write_npy(path("b.npy"), tensor_data("", {}, &scalar));
  EXPECT_EQ(read_file(path("b.npy")), read_file(data_file("npy_scalar.npy")));
  const std::vector<std::uint8_t> bytes{0, 1, 2, 3, 4, 5};
  write_npy(path("c.npy"), tensor_data("", {2, 3}, bytes.data()));
  EXPECT_EQ(read_file(path("c.npy")), read_file(data_file("npy_1_u1.npy")));
}

TEST_F(NpyTest, WritesPieceByPiece) {
  const std::vector<float> floats{-3.0F, -2.5F, -2.0F, -1.5F, -1.0F, -0.5F};
  TensorStream stream = streams_of(std::vector{tensor_data("", {2, 3}, floats.data())}).front();
  stream.piece_bytes = 16;
  stream_npy(path("a.npy"), stream);
  EXPECT_EQ(read_file(path("a.npy")), read_file(data_file("npy_le_f4.npy")));
  stream.info.dtype = DType::kBFloat16;
  expect_input_error("bfloat16 cannot be written", [&] { stream_npy(path("b.npy"), stream); });
  EXPECT_FALSE(std::filesystem::exists(path("b.npy")));
}

TEST_F(NpyTest, RefusesEveryTruncation) {
  const std::string whole = read_file(data_file("npy_fortran_be.npy"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse(whole.substr(0, size)), InputError) << size;
  }
  expect_input_error("t.npy: float64 (4, 3) takes 96 bytes, 97 follow the header",
                     [&] { parse(whole + "x"); });
}

TEST_F(NpyTest, RefusesOtherContents) {
  for (const auto& [name, reason] :
       {std::pair{"npy_text.npy", "dtype '<U2' is not read"},
        std::pair{"npy_records.npy", "an array of records is not read"}}) {
    expect_input_error(reason, [&, file = name] { TensorFile::open(data_file(file)); });
  }
  expect_input_error("dtype '|O' is not read", [] { parse(npy(dictionary("(1,)", "|O"), "x")); });
  expect_input_error("dtype '<c8' is not read",
                     [] { parse(npy(dictionary("(1,)", "<c8"), "12345678")); });
  expect_input_error("version 4.0", [] { parse(npy(dictionary("(1,)"), "1234", 4)); });
}

TEST_F(NpyTest, RefusesBadHeaders) {
  const auto refuses = [](const std::string& part, const std::string& header) {
    expect_input_error("t.npy: " + part, [&] { parse(npy(header, "1234")); });
  };
  EXPECT_NO_THROW(parse(npy(dictionary("(1,)"), "1234")));
  EXPECT_NO_THROW(parse(npy(dictionary("(1L,)", "=f4"), "1234")));
  refuses("the shape (4294967296, 4294967296) is too large",
          dictionary("(4294967296, 4294967296)"));
  refuses("the shape (0, 9223372036854775807, 2) is too large",
          dictionary("(0, 9223372036854775807, 2)"));
  refuses(".npy header: a shape that is not of integers", dictionary("(-1,)"));
  refuses(".npy header: a shape that is not of integers", dictionary("(99999999999999999999,)"));
  refuses(".npy header: no comma in the shape", dictionary("(1.5,)"));
  const auto ones = [](int count) {
    std::string text = "(";
    for (int i = 0; i < count; ++i) text += "1,";
    return dictionary(text + ")");
  };
  EXPECT_EQ(parse(npy(ones(64), "1234")).tensors().front().shape(), Shape(64, 1));
  refuses(".npy header: more than 64 dimensions", ones(65));
  std::string longest = dictionary("(1,)");
  longest.resize(std::size_t{1} << 20U, ' ');
  EXPECT_NO_THROW(parse(npy(longest, "1234", 2)));
  expect_input_error("length 1048577 is beyond the limit of 1 MiB",
                     [&] { parse(npy(longest + " ", "1234", 2)); });
  refuses(".npy header: expected '('", dictionary("1"));
  refuses(".npy header: no comma", dictionary("(1 1)"));
  refuses(".npy header: expected '{'", "");
  refuses(".npy header: not all of", "{'descr': '<f4', 'shape': (1,)}");
  refuses(".npy header: an unexpected key 'other'", "{'other': 1}");
  refuses(".npy header: an unexpected key 'shape'", "{'shape': (1,), 'shape': (1,)}");
  refuses(".npy header: an unexpected key '\\x0a'", "{'\n': (1,)}");
  refuses(".npy header: a string without an end", "{'descr");
  refuses(".npy header: text after the dictionary", dictionary("(1,)") + "x");
  refuses(".npy header: fortran_order is neither", "{'fortran_order': None}");
  std::string beyond = npy(dictionary("(1,)"), "1234");
  beyond[9] = '\x7f';
  expect_input_error("header's length 32570 is beyond the end", [&] { parse(beyond); });
}

TEST_F(NpyTest, IntegersBeyondInt64AreAnError) {
  const std::string huge = npy(dictionary("(1,)", "<u8"), std::string(8, '\xff'));
  EXPECT_EQ(parse(huge).at("").values<double>(), std::vector<double>{18446744073709551615.0});
  expect_input_error("above the largest int64",
                     [&] { (void)parse(huge).at("").values<std::int64_t>(); });
  expect_input_error("expected integers, found float32", [] {
    (void)parse(npy(dictionary("(1,)"), "1234")).at("").values<std::int64_t>();
  });
}

TEST_F(NpyTest, NotAFile) {
  expect_input_error("nothing.npy: cannot read: No such file",
                     [&] { TensorFile::open(path("nothing.npy")); });
  expect_input_error("not a regular file", [&] { TensorFile::open(directory_.string()); });
  expect_input_error("not a regular file", [] { TensorFile::open("/dev/zero"); });
  expect_input_error("does not begin with", [] { parse("text"); });
  expect_input_error("unknown format",
                     [] { TensorFile::open(memory_bytes("t.txt", "some text here")); });
}

}  // namespace
}  // namespace synergraph
