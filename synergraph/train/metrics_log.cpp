#include "synergraph/train/metrics_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

#include "synergraph/io/atomic_file.h"
#include "synergraph/io/system_error.h"

namespace synergraph {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw_system_error(path, "cannot write");
}

}  // namespace

MetricsLog::MetricsLog(std::string path, std::uint64_t step) : path_(std::move(path)) {
  std::string kept;
  if (step > 0 && std::filesystem::exists(path_)) {
    std::istringstream lines(read_file(path_));
    for (std::string line; std::getline(lines, line);) {
      const auto entry = nlohmann::json::parse(line, nullptr, false);
      const auto at = entry.find("step");
      if (at == entry.end() || !at->is_number_unsigned() || at->get<std::uint64_t>() > step)
        continue;
      const auto seconds = entry.find("seconds");
      if (seconds != entry.end() && seconds->is_number()) seconds_ = seconds->get<double>();
      kept += line + "\n";
    }
  }
  write_file(path_, kept);
  descriptor_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
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
