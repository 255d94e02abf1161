#pragma once

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "synergraph/analysis/layer_summary.h"
#include "synergraph/model/loss_game.h"
#include "synergraph/report/setting_echo.h"
#include "synergraph/weights/best_weights.h"

namespace synergraph {

/// A number for a JSON document. JSON has neither infinity nor NaN: both are null
/// (docs/documents.md).
inline nlohmann::ordered_json json_number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

/// How something was measured: the `settings` of every document that reports metrics.
inline nlohmann::ordered_json json_settings(const MetricsOptions& options) {
  MetricsSettings settings = settings_of(options);
  nlohmann::ordered_json json;
  visit_settings(settings, SettingEcho(json));
  if (options.backward) json[kBackwardSetting.key] = true;
  return json;
}

/// The nodes that count for fidelity, in words.
inline std::string sources_text(const FidelityOptions& options) {
  if (!options.from.empty()) return options.from.described();
  return options.nodes == FidelityNodes::kSources ? "sources" : "all nodes";
}

/// How far fidelity was looked for, in the words of a table.
inline std::string horizon_text(const FidelityOptions& options) {
  if (options.horizon > 0) return fmt::format("{} steps", options.horizon);
  const bool limited = options.step_limit < FidelityOptions().step_limit;
  return limited ? fmt::format("at most {} steps", options.step_limit) : "certified";
}

/// What a model does without attention, and without the attention of each layer.
inline nlohmann::ordered_json json_control(const AttentionControl& control) {
  const auto score = [](const Evaluation& of) {
    return nlohmann::ordered_json{{"accuracy", json_number(of.accuracy)},
                                  {"loss", json_number(of.loss)}};
  };
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const Evaluation& off : control.without_layer) layers.push_back(score(off));
  return {{"without_attention", score(control.without_attention)},
          {"without_layer", std::move(layers)}};
}

/// A number over samples.
inline nlohmann::ordered_json json_summary(const Summary& summary) {
  return {{"mean", json_number(summary.mean)}, {"std", json_number(summary.std)},
          {"min", json_number(summary.min)},   {"median", json_number(summary.median)},
          {"max", json_number(summary.max)},   {"never", summary.never},
          {"undefined", summary.undefined},    {"samples", summary.samples}};
}

inline nlohmann::ordered_json json_interval(const Interval& interval) {
  return {{"estimate", json_number(interval.estimate)},
          {"low", json_number(interval.low)},
          {"high", json_number(interval.high)}};
}

/// A layer of a trained model; numbers that do not exist on any sample are left out.
inline nlohmann::ordered_json json_layer(const LayerSummary& layer) {
  std::map<std::string, nlohmann::ordered_json> numbers;
  for (const auto& [quantity, summary] : layer.numbers)
    if (summary.undefined < summary.samples) numbers[key_of(quantity)] = json_summary(summary);
  nlohmann::ordered_json json(numbers);
  json["with_synergy"] = layer.with_synergy;
  json["synergy_undecided"] = layer.synergy_undecided;
  json["rank_correlation"] = json_number(layer.rank_correlation);
  return json;
}

/// The best weights found for so many samples.
inline nlohmann::ordered_json json_weights(const BestWeights& best, int samples) {
  return {{"samples", samples},
          {"weights", best.weights},
          {"value", json_number(best.value)},
          {"given_value", json_number(best.given_value)},
          {"bound", json_number(best.bound)},
          {"simple_bound", json_number(best.simple_bound)},
          {"limit", best.limit},
          {"optimal", best.optimal},
          {"gradient_norm", json_number(best.gradient_norm)},
          {"starts", best.starts},
          {"iterations", best.iterations},
          {"adaptive",
           {{"head", best.adaptive_head},
            {"forward_probability", json_number(best.adaptive_probability)},
            {"value", json_number(best.adaptive_value)},
            {"steps", json_number(best.adaptive.steps)},
            {"valid_from_eps", json_number(best.adaptive.valid_from)}}}};
}

}  // namespace synergraph
