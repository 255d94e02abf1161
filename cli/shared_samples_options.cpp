#include "cli/shared_samples_options.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

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

/// Options that change no number: how and where it is done, files (their bytes count), the device
/// (what was chosen counts), and outputs.
constexpr std::array<std::string_view, 10> kHow = {
    "--threads",   "--quiet",  "--shard",    "--leave", "--claim-timeout",
    "--shard-dir", "--tokens", "--out-proj", "FILE",    "--device"};
constexpr std::array<std::string_view, 10> kOutputs = {
    "--json",         "--csv",          "--per-sample", "--figure",       "--figure-size",
    "--figure-title", "--figure-names", "--page",       "--page-samples", "--page-tokens"};

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

/// "--eps=0.1": the options that were given, those on output or those that change a number.
std::string given(const CLI::App& command, bool on_output) {
  const auto among = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && !among(kHow, name) && among(kOutputs, name) == on_output)
      text += fmt::format("{}={}\n", name, fmt::join(option->results(), ","));
  }
  return text;
}

}  // namespace

void SharedSamplesArguments::add_to(CLI::App& command) {
  const char* group = "Workers";
  command_ = &command;
  command
      .add_option("--shard-dir", directory,
                  "directory through which several workers, started with the same command, share "
                  "the samples; the last one writes the outputs. What is there of the same options "
                  "and the same FILE is used again; above 16 MiB its size, times and blocks "
                  "everywhere in it say whether it is the same")
      ->type_name("DIR")
      ->group(group);
  shard.add_to(command, group);
}

void SharedSamplesArguments::check() const {
  if (wanted()) return;
  for (const char* option : {"--shard", "--leave", "--claim-timeout"})
    if (command_->count(option) > 0 &&
        !(option == std::string_view("--shard") && (shard.shard == "off" || shard.shard == "auto")))
      throw UsageError(fmt::format("{} goes with --shard-dir", option));
}

SharedSamples SharedSamplesArguments::resolve(const std::vector<NamedPath>& inputs,
                                              const std::vector<std::string>& outputs,
                                              const std::string& device) const {
  SharedSamples how;
  how.directory = directory;
  how.place = shard.place();
  how.wait = !shard.leave;
  how.timeout = shard.timeout;
  how.settings = fmt::format("{} {}\n", command_->get_name(), kVersion);
  std::vector<std::string> files;
  how.title = command_->get_name();
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
  how.settings += given(*command_, false);
  if (!device.empty()) how.settings += device + '\n';
  if (command_->count("--page") > 0) how.settings += "--page\n";  // measures each head alone
  how.outputs = given(*command_, true);
  how.stamp = [outputs] { return files_stamp(outputs); };
  how.prints = true;
  return how;
}

void SharedSamplesArguments::run(Execution& execution,
                                 const std::function<SharedEnd()>& work) const {
  const std::string name = shard.place().name();
  share_threads(execution, shard.place());
  SharedEnd end = SharedEnd::kMerged;
  run_until_stopped(execution, [&] { end = work(); });
  if (end == SharedEnd::kFinished)
    print_note(name + " is done; another has written the outputs");
  else if (end == SharedEnd::kOthers)
    print_note(name + " is done; others work on the last samples");
}

}  // namespace synergraph::cli
