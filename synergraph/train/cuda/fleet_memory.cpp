#include "synergraph/train/cuda/fleet_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "synergraph/train/cuda/packing.h"

namespace synergraph::cuda {
namespace {

constexpr std::uint64_t kLeft = std::uint64_t{256} << 20U;
constexpr std::uint64_t kLeftShare = 16;  ///< and a sixteenth of all

std::uint64_t mebibytes(std::uint64_t bytes) {
  return (bytes + (1U << 20U) - 1) >> 20U;
}

std::uint64_t usable(std::uint64_t free_bytes) {
  const std::uint64_t left = kLeft + free_bytes / kLeftShare;
  return free_bytes > left ? free_bytes - left : 0;
}

}  // namespace

std::string refusal(const ModelConfig& config) {
  if (config.width > kWidth) return fmt::format("width {}, more than {}", config.width, kWidth);
  if (config.hidden > kHidden)
    return fmt::format("hidden {}, more than {}", config.hidden, kHidden);
  if (config.length > kPositions)
    return fmt::format("length {}, more than {}", config.length, kPositions);
  const int head_width = config.width / config.heads;
  if (const int slot = head_slot(head_width); config.heads > kWidth / slot)
    return fmt::format("{} heads of width {}, more than the {} for which there is room",
                       config.heads, head_width, kWidth / slot);
  if (config.layers > kMostLayers)
    return fmt::format("{} layers, more than {}", config.layers, kMostLayers);
  if (config.vocabulary > kMostTokens)
    return fmt::format("vocabulary {}, more than {}", config.vocabulary, kMostTokens);
  return {};
}

// The largest that is not refused is within ints.
static_assert(std::int64_t{kMostLayers} * (Saved::kLogSums + 16 * kPositions) +
                  4 * 16 * kPositions + kUnit + 2 * kBlocks * 16 * kWidth <
              std::numeric_limits<int>::max());
static_assert(std::int64_t{kMostLayers + 1} * Layout::kLayer +
                  (2 * std::int64_t{kMostTokens} + kPositions) * kWidth + kMostTokens + kUnit <
              std::numeric_limits<int>::max());

PlaceSizes::PlaceSizes(const ModelConfig& config) {
  const auto layers = static_cast<std::size_t>(config.layers);
  const int slots = slots_of(config);
  attention_masks = layers * static_cast<std::size_t>(Masks{slots}.words());
  mlp_masks = layers * Masks::kMlpBytes;
  saved = static_cast<std::size_t>(Saved{config.layers, slots}.size());
  partial = static_cast<std::size_t>(layout_of(config).partial_size());
}

std::size_t PlaceSizes::bytes() const {
  return 4 * attention_masks + mlp_masks + 4 * (saved + partial) + sizeof(double) +
         sizeof(std::int32_t);
}

std::uint64_t model_bytes(const FleetSettings& settings, int sequences) {
  const ModelConfig& config = settings.model;
  const auto numbers = static_cast<std::uint64_t>(layout_of(config).size());
  const auto tokens =
      2 * static_cast<std::uint64_t>(sequences) * static_cast<std::uint64_t>(config.length);
  return 4 * (kCopies * numbers + tokens) +
         static_cast<std::uint64_t>(settings.batch) * PlaceSizes(config).bytes();
}

int models_in(std::uint64_t free_bytes, const FleetSettings& settings, int sequences) {
  const std::uint64_t count = usable(free_bytes) / model_bytes(settings, sequences);
  return static_cast<int>(std::min<std::uint64_t>(count, std::numeric_limits<int>::max()));
}

std::string memory_refusal(std::uint64_t free_bytes, const FleetSettings& settings, int sequences) {
  if (models_in(free_bytes, settings, sequences) > 0) return {};
  return fmt::format(
      "too little memory: a model needs {} MiB, {} MiB are free, of which {} can be "
      "used",
      mebibytes(model_bytes(settings, sequences)), free_bytes >> 20U, usable(free_bytes) >> 20U);
}

}  // namespace synergraph::cuda
