#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph::cli {
namespace {

constexpr const char* kStandardOutput = "-";

[[noreturn]] void fail_to_write() {
  throw_system_error("standard output", "cannot write");
}

}  // namespace

void print(const std::string& text) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const std::string shown = terminal ? printable_lines(text) : text;
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size()) fail_to_write();
}

bool to_standard_output(std::initializer_list<std::string> paths) {
  const auto count = std::count(paths.begin(), paths.end(), kStandardOutput);
  if (count > 1) throw UsageError("only one output can go to standard output");
  return count == 1;
}

void write_output(const std::string& path, const std::string& text) {
  path == kStandardOutput ? print(text) : write_file(path, text);
}

void print_note(const std::string& line) {
  const std::string shown = printable(line) + '\n';
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

void print_error(const std::string& line) {
  const std::string shown = wrapped(printable(line), terminal_columns(stderr), 2) + '\n';
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

std::size_t output_columns() {
  return terminal_columns(stdout);
}

void finish_output() {
  if (std::fflush(stdout) != 0) fail_to_write();
}

void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    // Open the wrong way round, so that using it still fails. The lowest free number is the stream.
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return;
  }
}

}  // namespace synergraph::cli
