#include "synergraph/io/npz.h"

#include <gtest/gtest.h>

#include <numeric>

#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/tensor_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/pattern.h"
#include "tests/io/temporary_directory.h"
#include "tests/io/zip_builder.h"

namespace synergraph {
namespace {

class NpzTest : public InTemporaryDirectory {};

/// A member with six floats.
ZipEntry floats(const std::string& name) {
  return {name, read_file(data_file("npy_le_f4.npy"))};
}

TensorFile parse(const std::string& bytes) {
  return TensorFile::open(memory_bytes("t.npz", bytes));
}

void refuses(const std::string& part, const std::vector<ZipEntry>& entries) {
  expect_input_error("t.npz: " + part, [&] { parse(build_zip(entries)); });
}

TEST_F(NpzTest, HasTheValuesThatNumpyWrote) {
  for (const char* name : {"npz_stored.npz", "npz_deflated.npz"}) {
    const TensorFile file = TensorFile::open(data_file(name));
    EXPECT_EQ(file.format(), FileFormat::kNpz);
    ASSERT_EQ(file.tensors().size(), 3U);
    for (const char* tensor : {"attention", "tokens", "layers/0/weight"}) {
      EXPECT_EQ(file.at(tensor).values<double>(), pattern_of(file.at(tensor).info())) << tensor;
    }
    EXPECT_EQ(file.at("attention").shape(), (Shape{2, 3, 3}));
    expect_input_error("tensor 'words': dtype '<U2' is not read", [&] { (void)file.at("words"); });
    expect_input_error("no tensor 'x': it has 'attention', 'tokens', 'layers/0/weight'",
                       [&] { (void)file.at("x"); });
  }
}

TEST_F(NpzTest, ReadsDeflatedMembersInAnyOrder) {
  const TensorFile file = TensorFile::open(data_file("npz_deflated.npz"));
  for (const char* name : {"attention", "layers/0/weight"}) {
    const Tensor& tensor = file.at(name);
    const std::vector<double> expected = pattern_of(tensor.info());
    for (std::size_t k = expected.size(); k-- > 0;) {
      double value = 0;
      tensor.read(static_cast<std::int64_t>(k), 1, &value);
      EXPECT_EQ(value, expected[k]);
    }
  }
}

TEST_F(NpzTest, ReadsBackWhatItWroteWithTheSameBytes) {
  std::vector<double> weights(1000);
  std::iota(weights.begin(), weights.end(), 0.5);
  const std::vector<std::int32_t> tokens{3, 1, 2};
  const std::vector<TensorData> tensors{tensor_data("w", {10, 100}, weights.data()),
                                        tensor_data("tokens", {3}, tokens.data()),
                                        tensor_data("none", {0}, weights.data())};
  write_npz(path("a.npz"), tensors);
  write_npz(path("b.npz"), tensors);
  const std::string bytes = read_file(path("a.npz"));
  EXPECT_EQ(bytes, read_file(path("b.npz")));
  // Midnight of 1 January 1980, whatever the clock says.
  EXPECT_EQ(bytes.substr(10, 4), std::string("\0\0\x21\0", 4));
  const TensorFile file = TensorFile::open(path("a.npz"));
  ASSERT_EQ(file.tensors().size(), 3U);
  EXPECT_EQ(file.at("w").values<double>(), weights);
  EXPECT_EQ(file.at("tokens").values<std::int64_t>(), (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ(file.at("none").info().elements(), 0);
  write_npz(path("c.npz"), {});
  EXPECT_TRUE(TensorFile::open(path("c.npz")).tensors().empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 3);
}

TEST_F(NpzTest, RefusesToWriteANameTwice) {
  const float value = 1;
  const std::vector<TensorData> twice(2, tensor_data("a", {}, &value));
  expect_input_error("the tensor name 'a'", [&] { write_npz(path("a"), twice); });
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(NpzTest, ReadsMoreMembersThanItKeepsOpen) {
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 40; ++i) entries.push_back(floats(std::to_string(i) + ".npy"));
  const TensorFile file = parse(build_zip(entries));
  ASSERT_EQ(file.tensors().size(), 40U);
  for (std::int64_t k = 0; k < 6; ++k) {
    for (const Tensor& tensor : file.tensors()) {
      double value = 0;
      tensor.read(k, 1, &value);
      EXPECT_EQ(value, pattern(DType::kFloat32, k));
    }
  }
}

TEST_F(NpzTest, RefusesEveryTruncation) {
  for (const char* name : {"npz_stored.npz", "npz_deflated.npz"}) {
    const std::string whole = read_file(data_file(name));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_THROW(parse(whole.substr(0, size)), InputError) << size;
    }
  }
}

TEST_F(NpzTest, WritesNoNameThatItWouldNotRead) {
  const float value = 1.0F;
  const std::string out = path("names.npz");
  const auto write = [&](const std::string& name) {
    write_npz(out, std::vector{tensor_data(name, {1}, &value)});
  };
  for (const std::string& name :
       {std::string("a\0b", 3), std::string("../a"), std::string("/a"), std::string("./a"),
        std::string("a/../../b"), std::string("a\\b"), std::string("a\nb"), std::string("a\x7f"),
        std::string(4093, 'a')}) {
    expect_input_error("the tensor name " + quoted_text(name) + " is not a plain relative path",
                       [&] { write(name); });
    EXPECT_FALSE(std::filesystem::exists(out)) << name;
  }
  for (const std::string& name : {std::string("a.b/c d..e"), std::string("東京"),
                                  std::string("a.npy"), std::string(4092, 'a')}) {
    write(name);
    EXPECT_EQ(TensorFile::open(out).tensors().front().name(), name);
  }
}

TEST_F(NpzTest, RefusesPathTricksAndNamesThatOccurTwice) {
  EXPECT_NO_THROW(parse(build_zip({floats("a/b.npy"), {"empty/", ""}})));
  for (const char* name :
       {"../a.npy", "/a.npy", "a/../../b.npy", "a\\b.npy", "./a.npy", "a\nb.npy"}) {
    refuses("member " + quoted_text(name) + ": its name is not a plain relative path",
            {floats(name)});
  }
  EXPECT_NO_THROW(parse(build_zip({{std::string(4096, 'a'), ""}})));
  expect_input_error("its name is not a plain relative path", [] {
    parse(build_zip({{std::string(4097, 'a'), ""}}));
  });
  refuses("member 'a.npy': its name occurs twice", {floats("a.npy"), floats("a.npy")});
}

TEST_F(NpzTest, RefusesBombs) {
  ZipEntry bomb = floats("a.npy");
  bomb.method = 8;
  bomb.declared = 0xfffffff0U;
  refuses("member 'a.npy': 4294967280 bytes cannot come from 152 bytes", {bomb});
  bomb.declared = 304'000;
  refuses("member 'a.npy': 304000 bytes cannot come from 152 bytes", {bomb});
  bomb.declared = 153 * 1032;  // the first size beyond what deflate expands 152 bytes to
  refuses("member 'a.npy': 157896 bytes cannot come from 152 bytes", {bomb});
  const std::string large(1000, 'x');
  refuses("member 'b': it overlaps another member",
          {{"a", large}, {"b", "", 0, 0, 1000, 1000, {}, 0}});
  ZipEntry stored = floats("a.npy");
  stored.declared = 1000;
  refuses("member 'a.npy': 1000 bytes cannot come from 152 bytes", {stored});
}

TEST_F(NpzTest, RefusesEncryptionAndOtherMethods) {
  ZipEntry encrypted = floats("a.npy");
  encrypted.flags = 1;
  refuses("member 'a.npy': it is encrypted", {encrypted});
  ZipEntry other = floats("a.npy");
  other.method = 12;
  refuses("member 'a.npy': compression method 12 is not read", {other});
}

TEST_F(NpzTest, DamagedDataAreAnErrorWhenRead) {
  ZipEntry damaged = floats("a.npy");
  damaged.checksum = 1;
  const TensorFile file = parse(build_zip({damaged}));
  expect_input_error("t.npz: member 'a.npy': CRC error",
                     [&] { (void)file.at("a").values<float>(); });
  ZipEntry garbage{"b.npy", std::string(152, '\xff'), 8};
  expect_input_error("t.npz: member 'b.npy': ", [&] { parse(build_zip({garbage})); });
}

TEST_F(NpzTest, RefusesBadMembers) {
  refuses("tensor 'a': not in the .npy format", {{"a.npy", "text, not an array"}});
  ZipEntry cut = floats("a.npy");
  cut.data.pop_back();
  refuses("tensor 'a': float32 (2, 3) takes 24 bytes, 23 follow", {cut});
  const TensorFile file = parse(build_zip({floats("a.npy"), {"readme.txt", "hello"}}));
  expect_input_error("not a .npy member", [&] { (void)file.at("readme.txt"); });
  expect_input_error("not a readable zip archive",
                     [] { parse("PK\x03\x04 and nothing more of it"); });
}

}  // namespace
}  // namespace synergraph
