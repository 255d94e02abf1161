#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/safetensors.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/io/tensor_stream.h"

namespace synergraph::cli {
namespace {

/// A tensor as the format can hold it: NumPy has no bfloat16, of which every value is a float32.
TensorStream stream_for(const std::string& ending, const Tensor& tensor) {
  TensorStream stream = stream_of(tensor);
  if (tensor.name().empty() && ending != ".npy") stream.info.name = "array";
  if (tensor.info().dtype == DType::kBFloat16 && ending != ".safetensors") {
    stream.info.dtype = DType::kFloat32;
    stream.read = [tensor](std::int64_t first, std::int64_t count, void* out) {
      tensor.read(first, count, static_cast<float*>(out));
    };
  }
  return stream;
}

void convert(const std::string& from, const std::string& to) {
  const std::string ending = std::filesystem::path(to).extension().string();
  if (ending != ".npy" && ending != ".npz" && ending != ".safetensors")
    throw UsageError(fmt::format("{}: expected a name in .npy, .npz or .safetensors", to));
  check_writable(to);
  const TensorFile file = open_tensors(from);
  if (ending == ".npy" && file.tensors().size() != 1)
    throw UsageError(
        fmt::format("{} has {} tensors, a .npy file holds one", from, file.tensors().size()));
  std::vector<TensorStream> tensors;
  int widened = 0;
  for (const Tensor& tensor : file.tensors()) {
    tensors.push_back(stream_for(ending, tensor));
    if (tensors.back().info.dtype != tensor.info().dtype) ++widened;
  }
  if (ending == ".npy")
    stream_npy(to, tensors.front());
  else if (ending == ".npz")
    stream_npz(to, tensors);
  else
    stream_safetensors(to, tensors, file.metadata());
  if (widened > 0)
    print_note(
        fmt::format("{} tensor{} of bfloat16 written as float32, exactly: NumPy has no bfloat16",
                    widened, widened == 1 ? "" : "s"));
  for (const SkippedTensor& skipped : file.skipped())
    print_note(fmt::format("left out: {}: {}", skipped.name, skipped.reason));
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
      "types and names stay (but for bfloat16, which NumPy does not have: it becomes float32); of "
      "the formats only .safetensors keeps the metadata, such as a checkpoint's number of heads.");
  command.add_option("IN", arguments->from, "file to read; - for standard input")->required();
  command.add_option("OUT", arguments->to, "file to write: .npy, .npz or .safetensors")->required();
  command.callback([arguments] { convert(arguments->from, arguments->to); });
}

}  // namespace synergraph::cli
