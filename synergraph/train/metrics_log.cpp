#include "synergraph/train/metrics_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/own_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw_system_error(path, "cannot write");
}

/// Calls visit(line) for the lines of a file that are no longer than `longest`; of a longer one no
/// more than that is in memory.
template <class Visit>
void visit_lines(const ByteSource& bytes, std::size_t longest, const Visit& visit) {
  constexpr std::uint64_t kBlock = std::uint64_t{1} << 16U;
  std::string line;
  bool too_long = false;
  const auto end_line = [&] {
    if (!too_long) visit(line);
    line.clear();
    too_long = false;
  };
  for (std::uint64_t at = 0; at < bytes.size(); at += kBlock) {
    const std::string block =
        bytes.read_string(at, static_cast<std::size_t>(std::min(kBlock, bytes.size() - at)));
    std::string_view rest = block;
    for (;;) {
      const std::size_t end = rest.find('\n');
      const std::string_view part = rest.substr(0, end);
      too_long = too_long || line.size() + part.size() > longest;
      if (!too_long) line += part;
      if (end == std::string_view::npos) break;
      end_line();
      rest.remove_prefix(end + 1);
    }
  }
  if (!line.empty()) end_line();
}

/// Calls keep(line) for the measurements up to a step.
template <class Keep>
LogPast read_lines(const std::string& path, std::uint64_t step, const LogLimits& limits,
                   const Keep& keep) {
  LogPast past;
  if (step == 0 || !own_file_exists(path)) return past;
  const ByteSourcePtr bytes = open_bytes(path, NamedBy::kProgram);
  if (bytes->size() > limits.file)
    throw InputError(
        fmt::format("{}: {} bytes, but the log of this run has at most {}. Move the file away to "
                    "resume without it.",
                    path, bytes->size(), limits.file));
  visit_lines(*bytes, limits.line, [&](const std::string& line) {
    const auto entry = nlohmann::json::parse(line, nullptr, false);
    const auto at = entry.find("step");
    if (at == entry.end() || !at->is_number_unsigned() || at->get<std::uint64_t>() > step) return;
    const auto seconds = entry.find("seconds");
    if (seconds != entry.end() && seconds->is_number()) past.seconds = seconds->get<double>();
    past.held_out = past.held_out || entry.contains("held_out_loss");
    keep(line);
  });
  return past;
}

}  // namespace

LogLimits log_limits(int epochs, int layers) {
  constexpr std::uint64_t kOthers = std::uint64_t{1} << 20U;  // what is dropped
  // Seven numbers with their names, and five a layer.
  const std::size_t line = 1024 + 512 * static_cast<std::size_t>(layers);
  return {kOthers + static_cast<std::uint64_t>(epochs) * line, line};
}

LogPast read_log(const std::string& path, std::uint64_t step, const LogLimits& limits) {
  return read_lines(path, step, limits, [](const std::string&) {});
}

MetricsLog::MetricsLog(std::string path, std::uint64_t step, const LogLimits& limits)
    : path_(std::move(path)) {
  AtomicFile file(path_, NamedBy::kProgram);
  past_ = read_lines(path_, step, limits, [&](const std::string& line) {
    file.write(line);
    file.write("\n");
  });
  file.commit();
  descriptor_ = open_own(path_, O_WRONLY | O_APPEND).release();
  if (descriptor_ < 0) fail(path_);
}

MetricsLog::~MetricsLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void MetricsLog::append(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(descriptor_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_);
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace synergraph
