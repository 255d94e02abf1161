#include "synergraph/train/settings.h"

#include <fmt/core.h>

#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/model/dropout.h"
#include "synergraph/train/data.h"

namespace synergraph {
namespace {

bool parse(const std::string& text, std::string& value) {
  value = text;
  return true;
}

template <class Number>
bool parse(const std::string& text, Number& value) {
  return parse_number(text, value);
}

void require(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw UsageError(fmt::format("{} must be between {} and {}, not {}", name, least, most, value));
}

}  // namespace

FleetSettings fleet_settings(const TrainSettings& settings) {
  return {settings.model, settings.adam, settings.dropout, settings.batch};
}

void validate(const TrainSettings& settings) {
  validate(settings.model);
  validate(settings.adam);
  constexpr int most = std::numeric_limits<std::int32_t>::max();
  require("sequences", settings.sequences, 1, most / settings.model.length - kJudged);
  require("batch", settings.batch, 1, settings.sequences);
  require("epochs", settings.epochs, 0, 1000000000);
  if (settings.steps() > std::numeric_limits<std::uint32_t>::max())
    throw UsageError("a run has at most 2^32 steps");
  const Dropout check(settings.dropout, 0, 0);
  if (settings.task != "data")
    require_sizes(find_task(settings.task), settings.model.length, settings.model.vocabulary);
}

std::map<std::string, std::string> to_metadata(const TrainSettings& settings) {
  std::map<std::string, std::string> metadata;
  visit_settings([&](const char* name, auto get, auto...) {
    metadata[name] = fmt::format("{}", get(settings));
  });
  return metadata;
}

TrainSettings from_metadata(const std::map<std::string, std::string>& metadata,
                            const std::string& where) {
  TrainSettings settings;
  visit_settings([&](const char* name, auto get, auto...) {
    const auto entry = metadata.find(name);
    if (entry == metadata.end())
      throw InputError(fmt::format("{}: metadata '{}' is missing", where, name));
    if (!parse(entry->second, get(settings)))
      throw InputError(fmt::format("{}: metadata '{}' is {}, not a number", where, name,
                                   quoted_text(entry->second)));
  });
  try {
    validate(settings);
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", where, error.what()));
  }
  return settings;
}

std::string difference(const TrainSettings& stored, const TrainSettings& wanted) {
  const auto other = to_metadata(wanted);
  std::string found;
  visit_settings([&](const std::string& name, auto get, auto...) {
    const std::string text = fmt::format("{}", get(stored));
    if (!found.empty() || name == "epochs" || text == other.at(name)) return;
    if (name == "data")
      found = "other training data";
    else
      found = fmt::format("{} {}, not {}", name, text, other.at(name));
  });
  return found;
}

}  // namespace synergraph
