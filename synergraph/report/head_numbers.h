#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "synergraph/analysis/layer_head_values.h"

namespace synergraph {

/// The numbers of a head among those of its layer, by the keys of their rows (quantity_rows.h).
inline constexpr std::array<std::pair<std::string_view, Estimate ValueOfHead::*>, 4> kHeadNumbers =
    {{{"shapley", &ValueOfHead::shapley},
      {"banzhaf", &ValueOfHead::banzhaf},
      {"alone", &ValueOfHead::alone},
      {"dropped", &ValueOfHead::dropped}}};

}  // namespace synergraph
