#include "synergraph/train/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

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

/// What to_text() made of a list.
bool parse(const std::string& text, std::vector<std::string>& value) {
  value.clear();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    value.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return true;
}

template <class Value>
std::string to_text(const Value& value) {
  return fmt::format("{}", value);
}

/// The same promotion has the same text.
std::string to_text(const std::vector<std::string>& promote) {
  std::string text;
  for (const std::string& one : texts_of(parse_promotion(promote)))
    text += (text.empty() ? "" : " ") + one;
  return text;
}

template <class Number>
bool parse(const std::string& text, Number& value) {
  return parse_number(text, value);
}

void require(const char* key, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least || value > most)
    throw UsageError(
        fmt::format("{} must be between {} and {}, not {}", option_mark(key), least, most, value));
}

}  // namespace

FleetSettings fleet_settings(const TrainSettings& settings) {
  return {settings.model, settings.adam, settings.dropout, settings.batch,
          parse_promotion(settings.promote)};
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
  if (parse_promotion(settings.promote).active() && settings.model.length < 2)
    throw UsageError(
        fmt::format("{}: sequences of one token have no way to promote; give {} 2 or "
                    "more",
                    option_mark("promote"), option_mark("length")));
  if (settings.task != "data")
    require_sizes(find_task(settings.task), settings.model.length, settings.model.vocabulary);
}

std::string_view task_help() {
  static const std::string help = [] {
    std::string names;
    for (const Task& task : tasks())
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", task.name, task.description);
    return "task to learn: " + names;
  }();
  return help;
}

std::map<std::string, std::string> to_metadata(const TrainSettings& settings) {
  TrainSettings read = settings;
  std::map<std::string, std::string> metadata;
  visit_settings(read, [&](const Setting& setting, const auto& value, auto&&...) {
    const std::string text = to_text(value);
    // Runs that promote nothing have the metadata they had before there was anything to promote.
    if (setting.key != "promote" || !text.empty()) metadata[std::string(setting.key)] = text;
  });
  return metadata;
}

TrainSettings from_metadata(const std::map<std::string, std::string>& metadata,
                            const std::string& where) {
  TrainSettings settings;
  visit_settings(settings, [&](const Setting& setting, auto& value, auto&&...) {
    const auto entry = metadata.find(std::string(setting.key));
    if (entry == metadata.end() && setting.key == "promote") return;
    if (entry == metadata.end())
      throw InputError(fmt::format("{}: metadata '{}' is missing", where, setting.key));
    if (!parse(entry->second, value))
      throw InputError(fmt::format("{}: metadata '{}' is {}, not a number", where, setting.key,
                                   quoted_text(entry->second)));
  });
  try {
    validate(settings);
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", where, spelled(error.what(), OptionSpelling::kKey)));
  }
  return settings;
}

void inherit(TrainSettings& settings, TrainSettings stored,
             const std::function<bool(std::string_view key)>& given) {
  visit_settings(stored, [&](const Setting& kept, auto& old, auto&&...) {
    visit_settings(settings, [&](const Setting& setting, auto& value, auto&&...) {
      if constexpr (std::is_same_v<decltype(old), decltype(value)>)
        if (setting.key == kept.key && given(kept.key)) old = value;
    });
  });
  settings = std::move(stored);
}

std::string difference(const TrainSettings& stored, const TrainSettings& wanted) {
  const auto other = to_metadata(wanted);
  TrainSettings read = stored;
  std::string found;
  visit_settings(read, [&](const Setting& setting, const auto& value, auto&&...) {
    const std::string name(setting.key);
    const std::string text = to_text(value);
    const auto entry = other.find(name);
    const std::string new_text = entry == other.end() ? "" : entry->second;
    if (!found.empty() || name == "epochs" || text == new_text) return;
    if (name == "data")
      found = "other training data";
    else if (name == "promote")
      found = fmt::format("promote {}, not {}", text.empty() ? "nothing" : text,
                          new_text.empty() ? "nothing" : new_text);
    else
      found = fmt::format("{} {}, not {}", name, text, new_text);
  });
  return found;
}

}  // namespace synergraph
