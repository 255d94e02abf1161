#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "synergraph/io/tensor_file.h"

namespace synergraph::cli {
namespace {

struct InspectOptions {
  std::string path;
  bool json = false;
};

/// "1.5 MiB".
std::string readable_size(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

/// Text from the file for a terminal: without control characters, at most `longest` bytes.
std::string printable(const std::string& text, std::size_t longest) {
  std::string line;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < ' ' || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return text.size() > longest ? line + "..." : line;
}

void print_table(const TensorFile& file) {
  struct Row {
    std::string name, dtype, shape, size;
  };
  std::vector<Row> rows{{"tensor", "dtype", "shape", "size"}};
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  constexpr std::size_t kLongestName = 200;
  for (const Tensor& tensor : file.tensors()) {
    const TensorInfo& info = tensor.info();
    rows.push_back({info.name.empty() ? "(unnamed)" : printable(info.name, kLongestName),
                    std::string(dtype_name(info.dtype)), to_string(info.shape),
                    readable_size(info.bytes())});
    elements += info.elements();
    bytes += info.bytes();
  }
  const auto width = [&](std::string Row::*column) {
    std::size_t widest = 0;
    for (const Row& row : rows) widest = std::max(widest, (row.*column).size());
    return widest;
  };
  const std::size_t name = width(&Row::name);
  const std::size_t dtype = width(&Row::dtype);
  const std::size_t shape = width(&Row::shape);
  const std::size_t size = width(&Row::size);
  fmt::print("{}: {}, {} tensor{}, {} elements, {}\n\n", file.path(), format_name(file.format()),
             file.tensors().size(), file.tensors().size() == 1 ? "" : "s", elements,
             readable_size(bytes));
  for (const Row& row : rows) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:>{}}\n", row.name, name, row.dtype, dtype, row.shape,
               shape, row.size, size);
  }
  for (const SkippedTensor& skipped : file.skipped()) {
    fmt::print("{:<{}}  skipped: {}\n", printable(skipped.name, kLongestName), name,
               skipped.reason);
  }
  if (file.metadata().empty()) return;
  fmt::print("\nmetadata\n");
  std::size_t widest = 0;
  for (const auto& [key, value] : file.metadata()) {
    widest = std::max(widest, printable(key, kLongestName).size());
  }
  for (const auto& [key, value] : file.metadata()) {
    fmt::print("  {:<{}}  {}\n", printable(key, kLongestName), widest, printable(value, 200));
  }
}

void print_json(const TensorFile& file) {
  using nlohmann::ordered_json;
  ordered_json tensors = ordered_json::array();
  for (const Tensor& tensor : file.tensors()) {
    const TensorInfo& info = tensor.info();
    tensors.push_back({{"name", info.name},
                       {"dtype", dtype_name(info.dtype)},
                       {"shape", info.shape},
                       {"elements", info.elements()},
                       {"bytes", info.bytes()}});
  }
  ordered_json skipped = ordered_json::array();
  for (const SkippedTensor& tensor : file.skipped()) {
    skipped.push_back({{"name", tensor.name}, {"reason", tensor.reason}});
  }
  const ordered_json report{{"file", file.path()},
                            {"format", format_name(file.format())},
                            {"tensors", tensors},
                            {"skipped", skipped},
                            {"metadata", file.metadata()}};
  // Names in a file need not be UTF-8: what is not is replaced.
  fmt::print("{}\n", report.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  const auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect",
                                         "List the tensors and the metadata in a file: .npy, .npz, "
                                         ".safetensors or a PyTorch archive (.pt)");
  command->add_option("file", options->path, "File to list")->required()->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    const TensorFile file = TensorFile::open(options->path);
    options->json ? print_json(file) : print_table(file);
  });
}

}  // namespace synergraph::cli
