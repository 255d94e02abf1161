#include "synergraph/train/run_notes.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"

namespace synergraph {
namespace {

constexpr const char* kNotesFormat = "synergraph run 1";
constexpr std::size_t kLargest = 1U << 16U;

}  // namespace

std::string notes_path(const std::string& directory) {
  return (std::filesystem::path(directory) / "run.json").string();
}

void write_notes(const std::string& directory, const RunNotes& notes) {
  const nlohmann::ordered_json json = {{"format", kNotesFormat},
                                       {"seconds", notes.seconds},
                                       {"track", notes.track_every},
                                       {"held_out", notes.held_out},
                                       {"devices", notes.devices}};
  write_file(notes_path(directory), json.dump() + "\n", NamedBy::kProgram);
}

std::optional<RunNotes> read_notes(const std::string& directory) {
  if (!own_file_exists(notes_path(directory))) return std::nullopt;
  const auto json =
      nlohmann::json::parse(read_regular_file(notes_path(directory), kLargest), nullptr, false);
  try {
    RunNotes notes;
    notes.seconds = json.at("seconds").get<double>();
    const auto track = json.at("track").get<std::int64_t>();
    notes.track_every = static_cast<int>(track);
    notes.held_out = json.at("held_out").get<bool>();
    notes.devices = json.value("devices", notes.devices);  // older notes have none
    const bool good = json.at("format") == kNotesFormat && notes.seconds >= 0.0 &&
                      std::isfinite(notes.seconds) && track >= 0 && track == notes.track_every;
    if (good) return notes;
  } catch (const nlohmann::json::exception&) {
  }
  throw InputError(fmt::format(
      "{}: it is damaged or not a '{}' file. Restore it, or remove it to resume without it.",
      notes_path(directory), kNotesFormat));
}

}  // namespace synergraph
