#include "synergraph/analysis/array_readings.h"
#include "synergraph/core/setting.h"

#include <fmt/format.h>

#include <algorithm>

namespace synergraph {
namespace {

bool has(const AttentionAxes& axes, AttentionAxis axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

void ArrayReadings::add(const Shape& shape, const AttentionAxes& axes) {
  const std::string text = to_string(shape);
  auto known = std::find_if(readings_.begin(), readings_.end(),
                            [&](const Reading& reading) { return reading.axes == axes; });
  if (known == readings_.end()) known = readings_.insert(known, {axes, text});
  ++known->arrays;
  known->other_shapes = known->other_shapes || known->shape != text;
  const auto key = std::find(axes.begin(), axes.end(), AttentionAxis::kKey) - axes.begin();
  const std::int64_t tokens = shape[static_cast<std::size_t>(key)];
  other_tokens_ = other_tokens_ || (tokens_ >= 0 && tokens != tokens_);
  tokens_ = tokens;
}

std::string ArrayReadings::text(const std::string& each, bool by_default) const {
  std::string text;
  int arrays = 0;
  bool layered = false;
  for (const Reading& reading : readings_) {
    if (!text.empty()) text += ", ";
    if (reading.arrays > 1) text += fmt::format("{} arrays of ", reading.arrays);
    text += fmt::format("shape {}{} read as {}", reading.shape,
                        reading.other_shapes ? " and others" : "", to_string(reading.axes));
    arrays += reading.arrays;
    layered = layered || has(reading.axes, AttentionAxis::kLayer);
  }
  const bool listed = arrays > 1 && !each.empty() && !layered;
  if (listed) text += fmt::format(", a {} each", each);
  if (!by_default || readings_.empty()) return text;
  // Sequences of several lengths are seldom layers.
  AttentionAxes samples = readings_.front().axes;
  if (!listed || !other_tokens_ || readings_.size() > 1)
    return text + " (default; change with " + option_mark("axes") + "=...)";
  if (!has(samples, AttentionAxis::kSample))
    samples.insert(samples.begin(), AttentionAxis::kSample);
  return text +
         fmt::format(" (default; {}='{}' reads samples)", option_mark("axes"), axes_list(samples));
}

}  // namespace synergraph
