#include "cli/shared_samples_options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/execution_options.h"
#include "cli/input.h"
#include "cli/output.h"
#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/terminal.h"
#include "synergraph/core/version.h"
#include "synergraph/io/byte_source.h"
#include "synergraph/io/file_stamp.h"

namespace synergraph::cli {
namespace {

/// Changes with the bytes of a file: with all of them, or of a large one with some everywhere and
/// with its time.
std::string content_of(const std::string& path) {
  constexpr std::uint64_t kBlock = 1U << 14U;
  constexpr std::uint64_t kBlocks = 1U << 10U;
  const ByteSourcePtr bytes = open_bytes(path);
  const std::uint64_t blocks = (bytes->size() + kBlock - 1) / kBlock;
  const std::uint64_t step = std::max<std::uint64_t>(1, blocks / kBlocks);
  Fingerprint fingerprint;
  for (std::uint64_t block = 0; block < blocks; block += step) {
    const std::uint64_t begin = block * kBlock;
    std::string text = bytes->read_string(
        begin, static_cast<std::size_t>(std::min(kBlock, bytes->size() - begin)));
    text.resize((text.size() + 3) / 4 * 4);
    for (std::size_t at = 0; at < text.size(); at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, text.data() + at, sizeof word);
      fingerprint.add(word);
    }
  }
  std::string content = fmt::format("{} bytes {}", bytes->size(), fingerprint.text());
  if (step > 1) content += ' ' + file_stamp(path);
  return content;
}

}  // namespace

void share_threads(Execution& execution, const WorkerPlace& place) {
  if (place.alone()) return;
  if (execution.threads == 0) execution.threads = worker_threads(place);
  execution.progress.prefix = fmt::format("{}/{}: ", place.rank + 1, place.size);
}

SharedSamplesArguments::SharedSamplesArguments(const CLI::App& command,
                                               const SharedSamplesSettings& settings,
                                               std::vector<Setting> all)
    : command_(command), settings_(settings), all_(std::move(all)) {}

std::string SharedSamplesArguments::given(SettingEffect effect) const {
  std::string text;
  for (const Setting& setting : all_) {
    if (!setting.offered(face::kProgram) || setting.effect != effect || setting.positional)
      continue;
    const CLI::Option* option = command_.get_option(option_name(setting.key));
    if (option->count() > 0)
      text += fmt::format("{}={}\n", option->get_name(), fmt::join(option->results(), ","));
  }
  return text;
}

void SharedSamplesArguments::check() const {
  if (wanted()) return;
  const auto refuse = [](std::string_view key) {
    throw UsageError(fmt::format("{} goes with {}", option_mark(key), option_mark("shard_dir")));
  };
  if (settings_.shard != "off" && settings_.shard != "auto") refuse("shard");
  for (const char* key : {"leave", "claim_timeout"})
    if (command_.count(option_name(key)) > 0) refuse(key);
}

SharedSamples SharedSamplesArguments::resolve(const std::vector<NamedPath>& inputs,
                                              const std::vector<std::string>& outputs,
                                              const std::string& device) const {
  SharedSamples how;
  how.directory = settings_.shard_dir;
  how.place = place();
  how.wait = !settings_.leave;
  how.timeout = settings_.claim_timeout;
  how.settings = fmt::format("{} {}\n", command_.get_name(), kVersion);
  std::vector<std::string> files;
  how.title = command_.get_name();
  for (const NamedPath& input : inputs) {
    if (input.path == kStandardInput)
      throw UsageError("--shard-dir: workers cannot share standard input");
    std::error_code none;
    const auto kind = std::filesystem::status(input.path, none).type();
    if (kind == std::filesystem::file_type::fifo)
      throw UsageError(
          fmt::format("--shard-dir: workers cannot share the pipe {}", quoted_text(input.path)));
    if (kind != std::filesystem::file_type::regular) continue;  // a list of weights
    how.settings += fmt::format("{} has {}\n", input.option, content_of(input.path));
    files.push_back(input.path);
    how.changed = std::max(how.changed, changed_at(input.path).value_or(how.changed));
    how.title += ' ' + std::filesystem::path(input.path).filename().string();
  }
  how.input_stamp = [files] { return files_stamp(files); };
  how.settings += given(SettingEffect::kNumbers);
  if (!device.empty()) how.settings += device + '\n';
  if (command_.count("--page") > 0) how.settings += "--page\n";  // measures each head alone
  how.outputs = given(SettingEffect::kOutput);
  how.stamp = [outputs] { return files_stamp(outputs); };
  how.prints = true;
  return how;
}

void SharedSamplesArguments::run(Execution& execution,
                                 const std::function<SharedEnd()>& work) const {
  const std::string name = place().name();
  share_threads(execution, place());
  SharedEnd end = SharedEnd::kMerged;
  run_until_stopped(execution, [&] { end = work(); });
  if (end == SharedEnd::kFinished)
    print_note(name + " is done; another has written the outputs");
  else if (end == SharedEnd::kOthers)
    print_note(name + " is done; others work on the last samples");
}

}  // namespace synergraph::cli
