#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "synergraph/core/error.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/tensor_file.h"

namespace synergraph::cli {
namespace {

/// The float16 that a float came from: it is one exactly.
std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude >= 0x7F800000U)  // infinity, NaN
    return static_cast<std::uint16_t>(sign | 0x7C00U | (magnitude >> 13U & 0x3FFU));
  if (magnitude >= 0x38800000U)  // normal: another bias of the exponent
    return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000U) >> 13U);
  const float units = std::bit_cast<float>(magnitude) * 0x1p24F;  // subnormal
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(units));
}

std::uint16_t to_bfloat16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U);
}

template <class To, class From, class Convert>
std::vector<std::byte> packed(const std::vector<From>& values, const Convert& convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(To));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const To element = convert(values[k]);
    std::memcpy(bytes.data() + k * sizeof(To), &element, sizeof(To));
  }
  return bytes;
}

/// A tensor's elements in its own type.
std::vector<std::byte> elements(const Tensor& tensor) {
  const auto integers = [&]<class To>(To /*type*/) {
    return packed<To>(tensor.values<std::int64_t>(),
                      [](std::int64_t v) { return static_cast<To>(v); });
  };
  switch (tensor.info().dtype) {
    case DType::kBool:
    case DType::kUInt8:
      return integers(std::uint8_t{});
    case DType::kInt8:
      return integers(std::int8_t{});
    case DType::kUInt16:
      return integers(std::uint16_t{});
    case DType::kInt16:
      return integers(std::int16_t{});
    case DType::kUInt32:
      return integers(std::uint32_t{});
    case DType::kInt32:
      return integers(std::int32_t{});
    case DType::kUInt64:
      return integers(std::uint64_t{});
    case DType::kInt64:
      return integers(std::int64_t{});
    case DType::kFloat16:
      return packed<std::uint16_t>(tensor.values<float>(), to_float16);
    case DType::kBFloat16:
      return packed<std::uint16_t>(tensor.values<float>(), to_bfloat16);
    case DType::kFloat32:
      return packed<float>(tensor.values<float>(), [](float v) { return v; });
    case DType::kFloat64:
      return packed<double>(tensor.values<double>(), [](double v) { return v; });
  }
  return {};
}

void convert(const std::string& from, const std::string& to) {
  const std::string ending = std::filesystem::path(to).extension().string();
  if (ending != ".npy" && ending != ".npz" && ending != ".safetensors")
    throw UsageError(fmt::format("{}: expected a name in .npy, .npz or .safetensors", to));
  const TensorFile file = TensorFile::open(from);
  if (ending == ".npy" && file.tensors().size() != 1)
    throw UsageError(
        fmt::format("{} has {} tensors, a .npy file holds one", from, file.tensors().size()));
  std::vector<std::vector<std::byte>> data;
  std::vector<TensorData> tensors;
  for (const Tensor& tensor : file.tensors()) {
    data.push_back(elements(tensor));
    tensors.push_back({tensor.info(), data.back().data()});
    if (tensor.name().empty() && ending != ".npy") tensors.back().info.name = "array";
  }
  if (ending == ".npy")
    write_npy(to, tensors.front());
  else if (ending == ".npz")
    write_npz(to, tensors);
  else
    write_safetensors(to, tensors, file.metadata());
  for (const SkippedTensor& skipped : file.skipped())
    fmt::print(stderr, "left out: {}: {}\n", skipped.name, skipped.reason);
}

}  // namespace

void add_convert_command(CLI::App& app) {
  struct Arguments {
    std::string from;
    std::string to;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App& command = *app.add_subcommand(
      "convert",
      "Write the tensors of a file (.npy, .npz, .safetensors, .pt) in another format. Element "
      "types and names stay; of the formats only .safetensors keeps the metadata, such as a "
      "checkpoint's number of heads.");
  command.add_option("IN", arguments->from, "file to read")->required();
  command.add_option("OUT", arguments->to, "file to write: .npy, .npz or .safetensors")->required();
  command.callback([arguments] { convert(arguments->from, arguments->to); });
}

}  // namespace synergraph::cli
