#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "synergraph/train/settings.h"

namespace synergraph {

/// The means of what a run promotes, and how many layers of sequences have no speed; null where
/// nothing is promoted. `epoch` has the sums over an epoch.
inline nlohmann::ordered_json promoted_json(const TrainSettings& settings,
                                            const PromotedSums& epoch) {
  const Promotion promotion = parse_promotion(settings.promote);
  nlohmann::ordered_json json;
  for (const auto& [metric, name] : kNamesOf<PromotedMetric>)
    if (promotion[metric] != 0.0) json[std::string(name)] = epoch.mean(metric);
  if (promotion[PromotedMetric::kSpeed] != 0.0)
    json["left_out"] = static_cast<std::int64_t>(settings.sequences) * settings.model.layers -
                       epoch.count(PromotedMetric::kSpeed);
  return json;
}

}  // namespace synergraph
