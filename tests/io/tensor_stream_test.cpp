#include "synergraph/io/tensor_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/tensor_file.h"
#include "tests/io/expect_error.h"
#include "tests/io/pattern.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

class TensorStreamTest : public InTemporaryDirectory {
 protected:
  TensorStreamTest() : doubles_(1000), shorts_(77) {
    std::iota(doubles_.begin(), doubles_.end(), 0.5);
    std::iota(shorts_.begin(), shorts_.end(), -5);
    data_ = {tensor_data("doubles", {10, 100}, doubles_.data()),
             tensor_data("shorts", {7, 11}, shorts_.data()),
             tensor_data("none", {0, 3}, shorts_.data()), tensor_data("one", {}, doubles_.data())};
  }

  std::vector<double> doubles_;
  std::vector<std::int16_t> shorts_;
  std::vector<TensorData> data_;
};

TEST_F(TensorStreamTest, PiecesAreInOrderWholeAndNoLargerThanAskedFor) {
  for (const std::int64_t bytes : {1, 8, 15, 16, 4000, 7999, 8000, 8001, 1 << 20}) {
    std::vector<TensorStream> streams = streams_of(data_);
    for (TensorStream& stream : streams) {
      stream.piece_bytes = bytes;
      std::int64_t next = 0;
      const auto read = stream.read;
      const auto item = static_cast<std::int64_t>(item_size(stream.info.dtype));
      stream.read = [&, read](std::int64_t first, std::int64_t count, void* out) {
        EXPECT_EQ(first, next);
        EXPECT_GE(count, 1);
        EXPECT_LE(count * item, std::max(bytes, item));
        next += count;
        read(first, count, out);
      };
      std::vector<std::byte> all;
      StreamReader pieces(stream);
      for (auto piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
        all.insert(all.end(), piece.begin(), piece.end());
      }
      EXPECT_EQ(next, stream.info.elements());
      EXPECT_TRUE(pieces.next().empty());
      ASSERT_EQ(all.size(), static_cast<std::size_t>(stream.info.bytes()));
      const auto& whole = data_[static_cast<std::size_t>(&stream - streams.data())];
      EXPECT_TRUE(std::equal(all.begin(), all.end(), static_cast<const std::byte*>(whole.data)))
          << bytes;
    }
  }
}

TEST_F(TensorStreamTest, FilesDoNotDependOnThePieces) {
  write_npy(path("a.npy"), data_.front());
  write_npz(path("a.npz"), data_);
  write_safetensors(path("a.safetensors"), data_, {{"heads", "2"}});
  for (const std::int64_t bytes : {1, 56, 1 << 12}) {
    std::vector<TensorStream> streams = streams_of(data_);
    for (TensorStream& stream : streams) stream.piece_bytes = bytes;
    stream_npy(path("b.npy"), streams.front());
    stream_npz(path("b.npz"), streams);
    stream_safetensors(path("b.safetensors"), streams, {{"heads", "2"}});
    for (const char* ending : {".npy", ".npz", ".safetensors"}) {
      EXPECT_EQ(read_file(path(std::string("a") + ending)),
                read_file(path(std::string("b") + ending)))
          << bytes << ending;
    }
  }
}

TEST_F(TensorStreamTest, AFailureKeepsItsMessageAndLeavesNoFile) {
  std::vector<TensorStream> streams = streams_of(data_);
  streams[1].read = [](std::int64_t, std::int64_t, void*) {
    throw InputError("in.npy: the file became shorter");
  };
  const std::string message = "in.npy: the file became shorter";
  expect_input_error(message, [&] { stream_npy(path("b.npy"), streams[1]); });
  expect_input_error(message, [&] { stream_npz(path("b.npz"), streams); });
  expect_input_error(message, [&] { stream_safetensors(path("b.safetensors"), streams); });
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(TensorStreamTest, ElementsKeepTheirBits) {
  // What no conversion keeps: NaN with a payload, the largest uint64, negative zero.
  const std::vector<std::uint64_t> bits = {0x7ff4000000000123U, ~std::uint64_t{0}, 1U << 31U,
                                           std::uint64_t{1} << 63U};
  for (const DType dtype :
       {DType::kUInt64, DType::kInt64, DType::kFloat64, DType::kFloat32, DType::kUInt32,
        DType::kFloat16, DType::kBFloat16, DType::kInt16, DType::kUInt8, DType::kInt8}) {
    const auto count =
        static_cast<std::int64_t>(sizeof(std::uint64_t) * bits.size() / item_size(dtype));
    const TensorData data{{"bits", dtype, {2, count / 2}}, bits.data()};
    write_safetensors(path("a.safetensors"), {&data, 1});
    const TensorFile file = TensorFile::open(path("a.safetensors"));
    std::vector<std::uint64_t> back(bits.size());
    file.at("bits").read_elements(0, count, back.data());
    EXPECT_EQ(back, bits) << name_of(dtype);
    // Transposed twice over, by the strides and by hand.
    const Tensor transposed = file.at("bits").permuted({1, 0});
    EXPECT_EQ(transposed.shape(), (Shape{count / 2, 2}));
    const std::size_t item = item_size(dtype);
    std::vector<std::byte> columns(bits.size() * 8);
    transposed.read_elements(0, count, columns.data());
    const auto* rows = reinterpret_cast<const std::byte*>(bits.data());
    const auto half = static_cast<std::size_t>(count) / 2;
    for (std::size_t k = 0; k < 2 * half; ++k)
      EXPECT_EQ(std::memcmp(columns.data() + k * item, rows + (k % 2 * half + k / 2) * item, item),
                0)
          << name_of(dtype) << k;
  }
}

TEST_F(TensorStreamTest, ElementsInOtherOrdersAreWrittenInC) {
  for (const char* name : {"npy_fortran", "npy_fortran_be", "npy_be_i4", "npy_le_f2"}) {
    const TensorFile file = TensorFile::open(data_file(std::string(name) + ".npy"));
    stream_npy(path("c.npy"), stream_of(file.tensors().front()));
    const TensorFile copy = TensorFile::open(path("c.npy"));
    EXPECT_TRUE(copy.tensors().front().in_c_order());
    EXPECT_EQ(copy.tensors().front().values<double>(), pattern_of(file.tensors().front().info()));
  }
  // Out of order, small pieces would pass over the file too often, and large ones fill the memory.
  const TensorFile file = TensorFile::open(data_file("npy_le_f4.npy"));
  const Tensor& tensor = file.tensors().front();
  EXPECT_TRUE(tensor.in_c_order());
  EXPECT_FALSE(tensor.permuted({1, 0}).in_c_order());
  EXPECT_TRUE(tensor.permuted({1, 0}).permuted({1, 0}).in_c_order());
  EXPECT_EQ(stream_of(tensor).piece_bytes, 1 << 20);
  EXPECT_EQ(stream_of(tensor.permuted({1, 0})).piece_bytes, 1 << 26);
  // A byte of a bool that is neither 0 nor 1 is true.
  const std::uint8_t odd[] = {0, 1, 2, 255};
  const TensorData data{{"", DType::kBool, {4}}, odd};
  write_npy(path("b.npy"), data);
  std::vector<std::uint8_t> back(4);
  TensorFile::open(path("b.npy")).tensors().front().read_elements(0, 4, back.data());
  EXPECT_EQ(back, (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

}  // namespace
}  // namespace synergraph
