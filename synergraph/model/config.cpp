#include "synergraph/model/config.h"

#include <fmt/core.h>

#include <cstdint>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"

namespace synergraph {
namespace {

constexpr int kLargestSize = 1 << 20;
constexpr std::int64_t kLargestModel = std::int64_t{1} << 31U;

void require_size(const char* key, int value) {
  if (value < 1 || value > kLargestSize)
    throw UsageError(
        fmt::format("{} must be between 1 and {}, not {}", option_mark(key), kLargestSize, value));
}

}  // namespace

void validate(const ModelConfig& config) {
  require_size("vocabulary", config.vocabulary);
  require_size("length", config.length);
  require_size("width", config.width);
  require_size("heads", config.heads);
  require_size("layers", config.layers);
  require_size("hidden", config.hidden);
  if (config.width % config.heads != 0)
    throw UsageError(
        fmt::format("{} heads do not divide the width {}", config.heads, config.width));
  const std::int64_t width = config.width;
  const std::int64_t layer = 4 * width * width + 2 * width * config.hidden;
  const std::int64_t embeddings = width * (2 * std::int64_t{config.vocabulary} + config.length);
  if (layer > kLargestModel / config.layers || layer * config.layers + embeddings > kLargestModel)
    throw UsageError("the model would have more than 2^31 parameters");
}

}  // namespace synergraph
