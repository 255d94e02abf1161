#include <fmt/format.h>

#include <iterator>
#include <string>

#include "cli/commands.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/setting_option.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/report/command_settings.h"
#include "synergraph/report/inspect_report.h"
#include "synergraph/report/table.h"

namespace synergraph::cli {
namespace {

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

/// Text from the file for a terminal; a file may hold a megabyte of it.
std::string shown(const std::string& text) {
  constexpr std::size_t kLongest = 200;
  return cut_end(printable(text), kLongest);
}

void print_table(const TensorFile& file) {
  Table table{{"tensor", "dtype", "shape", "size"}, {}};
  table.left_columns = 3;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  for (const Tensor& tensor : file.tensors()) {
    const TensorInfo& info = tensor.info();
    table.rows.push_back({info.name.empty() ? "(unnamed)" : shown(info.name),
                          std::string(name_of(info.dtype)), to_string(info.shape),
                          readable_size(info.bytes())});
    elements += info.elements();
    bytes += info.bytes();
  }
  const std::size_t columns = output_columns();
  print(wrapped(fmt::format("{}: {}, {} tensor{}, {} elements, {}\n\n", printable(file.path()),
                            name_of(file.format()), file.tensors().size(),
                            file.tensors().size() == 1 ? "" : "s", elements, readable_size(bytes)),
                columns, 2));
  print(format_text(table, columns));
  if (!file.skipped().empty()) {
    Table skipped{{"skipped", "why"}, {}};
    skipped.left_columns = 2;
    for (const SkippedTensor& tensor : file.skipped())
      skipped.rows.push_back({shown(tensor.name), tensor.reason});
    print('\n' + format_text(skipped, columns));
  }
  if (!file.metadata().empty()) {
    Table metadata{{"metadata", "value"}, {}};
    metadata.left_columns = 2;
    for (const auto& [key, value] : file.metadata())
      metadata.rows.push_back({shown(key), shown(value)});
    print('\n' + format_text(metadata, columns));
  }
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  add_command<InspectSettings>(app, "inspect",
                               "List the tensors and the metadata in a file: " + listed_endings(),
                               "", [](InspectSettings& settings) {
                                 const TensorFile file = open_tensors(settings.file);
                                 if (settings.json)
                                   print(json_report(file));
                                 else
                                   print_table(file);
                               });
}

}  // namespace synergraph::cli
