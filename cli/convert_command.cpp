#include <fmt/core.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/file_writer.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/io/tensor_stream.h"
#include "synergraph/report/command_settings.h"

namespace synergraph::cli {
namespace {

/// A tensor as the format can hold it: NumPy has no bfloat16, of which every value is a float32.
TensorStream stream_for(const FileWriter& format, const Tensor& tensor) {
  TensorStream stream = stream_of(tensor);
  if (tensor.name().empty() && format.several) stream.info.name = "array";
  if (tensor.info().dtype == DType::kBFloat16 && !format.bfloat16) {
    stream.info.dtype = DType::kFloat32;
    stream.read = [tensor](std::int64_t first, std::int64_t count, void* out) {
      tensor.read(first, count, static_cast<float*>(out));
    };
  }
  return stream;
}

void convert(const std::string& from, const std::string& to) {
  const std::string ending = std::filesystem::path(to).extension().string();
  const FileWriter* format = find_writer(ending);
  if (format == nullptr)
    throw UsageError(fmt::format("{}: expected a name in {}", to, written_endings()));
  check_writable(to);
  const TensorFile file = open_tensors(from);
  if (!format->several && file.tensors().size() != 1)
    throw UsageError(
        fmt::format("{} has {} tensors, a {} file holds one", from, file.tensors().size(), ending));
  std::vector<TensorStream> tensors;
  int widened = 0;
  for (const Tensor& tensor : file.tensors()) {
    tensors.push_back(stream_for(*format, tensor));
    if (tensors.back().info.dtype != tensor.info().dtype) ++widened;
  }
  format->write(to, tensors, file.metadata());
  if (widened > 0)
    print_note(
        fmt::format("{} tensor{} of bfloat16 written as float32, exactly: NumPy has no bfloat16",
                    widened, widened == 1 ? "" : "s"));
  for (const SkippedTensor& skipped : file.skipped())
    print_note(fmt::format("left out: {}: {}", skipped.name, skipped.reason));
}

}  // namespace

void add_convert_command(CLI::App& app) {
  add_command<ConvertSettings>(
      app, "convert",
      fmt::format("Write the tensors of a file ({}) in another format. Element types and names "
                  "stay, except that bfloat16 becomes float32 in NumPy formats. Only .safetensors "
                  "keeps the metadata, such as a checkpoint's number of heads.",
                  listed_endings()),
      "", [](ConvertSettings& settings) { convert(settings.from, settings.to); });
}

}  // namespace synergraph::cli
