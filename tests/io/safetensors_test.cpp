#include "synergraph/io/safetensors.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/tensor_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

class SafetensorsTest : public InTemporaryDirectory {};

std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xffU);
  return bytes + header + data;
}

TensorFile parse(const std::string& bytes) {
  return TensorFile::open(memory_bytes("t.safetensors", bytes));
}

TEST_F(SafetensorsTest, ReadsBackWhatItWrote) {
  const std::vector<float> weights{1.5F, -2.0F, 0.0F, 3.25F, 1e-40F, 7.0F};
  const std::vector<std::int64_t> steps{-1, std::numeric_limits<std::int64_t>::max()};
  const double loss = 0.1;
  const std::vector<TensorData> tensors{tensor_data("w", {2, 3}, weights.data()),
                                        tensor_data("steps", {2}, steps.data()),
                                        tensor_data("loss", {}, &loss)};
  write_safetensors(path("a.safetensors"), tensors, {{"task", "copy"}, {"note", "a \"b\"\n"}});
  const TensorFile file = TensorFile::open(path("a.safetensors"));
  EXPECT_EQ(file.format(), FileFormat::kSafetensors);
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.at("w").shape(), (Shape{2, 3}));
  EXPECT_EQ(file.at("w").values<float>(), weights);
  EXPECT_EQ(file.at("steps").values<std::int64_t>(), steps);
  EXPECT_EQ(file.at("loss").values<double>(), std::vector<double>{loss});
  EXPECT_EQ(file.metadata().at("task"), "copy");
  EXPECT_EQ(file.metadata().at("note"), "a \"b\"\n");
}

TEST_F(SafetensorsTest, TheOrderOfTheTensorsDoesNotChangeTheBytes) {
  const std::vector<float> a{1, 2, 3};
  const std::vector<std::uint8_t> b{4, 5, 6};
  const TensorData first = tensor_data("a", {3}, a.data());
  const TensorData second = tensor_data("b", {3}, b.data());
  write_safetensors(path("ab"), std::vector{first, second}, {{"k", "v"}});
  write_safetensors(path("ba"), std::vector{second, first}, {{"k", "v"}});
  const std::string bytes = read_file(path("ab"));
  EXPECT_EQ(bytes, read_file(path("ba")));
  const std::string header =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
      R"("b":{"dtype":"U8","shape":[3],"data_offsets":[12,15]}})";
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ((bytes.size() - 15) % 8, 0U);
}

/// One tensor `a` of type F32 with this shape and offsets.
std::string one(const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST_F(SafetensorsTest, HasUpTo64Dimensions) {
  std::string ones = "[1";
  for (int i = 1; i < 64; ++i) ones += ",1";
  EXPECT_EQ(parse(file_of(one(ones + "]", "[0,4]"), "1234")).at("a").shape(), Shape(64, 1));
  expect_input_error("a list of too many numbers",
                     [&] { parse(file_of(one(ones + ",1]", "[0,4]"), "1234")); });
}

TEST_F(SafetensorsTest, ReadsTheReferenceLayout) {
  const TensorFile file =
      parse(file_of(R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                    R"("b":{"dtype":"BF16","shape":[1,1],"data_offsets":[4,6]},)"
                    R"("n":{"dtype":"F64","shape":[0,7],"data_offsets":[6,6]}}  )",
                    std::string("\x00\x3c\x01\x00\xc0\x3f", 6)));
  EXPECT_EQ(file.at("h").values<float>(), (std::vector<float>{1.0F, 0x1p-24F}));
  EXPECT_EQ(file.at("b").values<double>(), (std::vector<double>{1.5}));
  EXPECT_TRUE(file.at("n").values<double>().empty());
}

TEST_F(SafetensorsTest, SkipsTypesItCannotRead) {
  const TensorFile file =
      parse(file_of(R"({"q":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", "ab"));
  EXPECT_TRUE(file.tensors().empty());
  expect_input_error("t.safetensors: tensor 'q': dtype 'F8_E4M3' is not read",
                     [&] { (void)file.at("q"); });
}

TEST_F(SafetensorsTest, RefusesEveryTruncation) {
  const std::string whole = file_of(one("[2]", "[0,8]"), "12345678");
  EXPECT_NO_THROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse(whole.substr(0, size)), InputError) << size;
  }
  EXPECT_THROW(parse(whole + "x"), InputError);
}

TEST_F(SafetensorsTest, RefusesRangesThatAreWrong) {
  const auto refuses = [](const std::string& part, const std::string& header,
                          const std::string& data) {
    expect_input_error(part, [&] { parse(file_of(header, data)); });
  };
  refuses("tensor 'a': data_offsets [8, 0] do not lie in the 8 bytes", one("[2]", "[8,0]"),
          "12345678");
  refuses("tensor 'a': data_offsets [0, 16] do not lie in the 8 bytes", one("[4]", "[0,16]"),
          "12345678");
  refuses("tensor 'a': F32 (3,) takes 12 bytes, data_offsets give 8", one("[3]", "[0,8]"),
          "12345678");
  refuses("tensor 'a': the shape (4294967296, 4294967296) is too large",
          one("[4294967296,4294967296]", "[0,0]"), "");
  refuses("too large", one("[0,4294967296,4294967296]", "[0,0]"), "");
  refuses("tensor 'a': its data does not follow", one("[1]", "[4,8]"), "12345678");
  refuses("4 bytes of data belong to no tensor", one("[1]", "[0,4]"), "12345678");
  refuses("tensor 'b': its data overlaps",
          R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}})",
          "12345");
  refuses("tensor 'a': data_offsets are not two numbers", one("[1]", "[0,4,4]"), "1234");
}

TEST_F(SafetensorsTest, RefusesHeadersThatAreWrong) {
  const auto refuses = [](const std::string& part, const std::string& header) {
    expect_input_error(part, [&] { parse(file_of(header, "")); });
  };
  const std::string empty = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  refuses("'a' occurs twice", R"({"a":)" + empty + R"(,"a":)" + empty + "}");
  refuses("'__metadata__' occurs twice", R"({"__metadata__":{},"__metadata__":{}})");
  refuses("'k' occurs twice", R"({"__metadata__":{"k":"1","k":"2"}})");
  refuses("'dtype' occurs twice", R"({"a":{"dtype":"F32","dtype":"F32"}})");
  refuses("tensor 'a': no dtype", R"({"a":{"shape":[0],"data_offsets":[0,0]}})");
  refuses("tensor 'a': no shape", R"({"a":{"dtype":"F32","data_offsets":[0,0]}})");
  refuses("unexpected an object", R"({"a":{"dtype":{}}})");
  refuses("unexpected a list", R"({"a":{"shape":[[1]]}})");
  refuses("unexpected a list", "[]");
  refuses("unexpected a negative number", R"({"a":{"shape":[-1]}})");
  refuses("unexpected a number that is not", R"({"a":{"shape":[1.5]}})");
  refuses("unexpected a number that is not", R"({"a":{"shape":[99999999999999999999]}})");
  refuses("above the largest int64", R"({"a":{"shape":[18446744073709551615]}})");
  refuses("unexpected null", R"({"a":null})");
  refuses("a number", R"({"__metadata__":{"k":1}})");
  refuses("not JSON at byte", R"({"a")");
  refuses("not JSON at byte", "{\"\xff\":1}");
  refuses("not JSON at byte", "{} {}");
  refuses("unexpected a list", std::string(1000000, '['));
  refuses("unexpected a list", R"({"a\nb":)" + std::string(1000, '['));
  std::string long_header = file_of("{}", "");
  long_header[0] = 3;
  expect_input_error("the header's length 3 is beyond the file's end", [&] { parse(long_header); });
  // 100,000,000 and one more, little-endian.
  long_header.replace(0, 4, std::string("\x00\xe1\xf5\x05", 4));
  expect_input_error("length 100000000 is beyond the file's end", [&] { parse(long_header); });
  long_header[0] = 1;
  expect_input_error("length 100000001 is beyond the limit of 100 MB", [&] { parse(long_header); });
  long_header[7] = '\x7f';
  expect_input_error("beyond the limit of 100 MB", [&] { parse(long_header); });
}

TEST_F(SafetensorsTest, RefusesToWriteBadNames) {
  const float value = 1;
  const std::vector<TensorData> twice(2, tensor_data("a", {}, &value));
  expect_input_error("'a'", [&] { write_safetensors(path("a"), twice); });
  expect_input_error("'__metadata__'", [&] {
    write_safetensors(path("a"), std::vector{tensor_data("__metadata__", {}, &value)});
  });
  expect_input_error("cannot write '\\xff': not UTF-8", [&] {
    write_safetensors(path("a"), std::vector{tensor_data("\xff", {}, &value)});
  });
  EXPECT_FALSE(std::filesystem::exists(path("a")));
}

}  // namespace
}  // namespace synergraph
