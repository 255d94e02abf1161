#include "synergraph/core/float_type.h"

#include <array>

namespace synergraph {
namespace {

struct Traits {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Traits, 4> kTraits{
    {{"float16", 2}, {"bfloat16", 2}, {"float32", 4}, {"float64", 8}}};

}  // namespace

std::string_view name_of(FloatType type) {
  return kTraits[static_cast<std::size_t>(type)].name;
}

std::size_t item_size(FloatType type) {
  return kTraits[static_cast<std::size_t>(type)].size;
}

}  // namespace synergraph
