#include "synergraph/graph/attention_rounding.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "synergraph/core/setting.h"

namespace synergraph {
namespace {

bool is_float32(double value) {
  return std::abs(value) <= 1e30 && static_cast<double>(static_cast<float>(value)) == value;
}

/// Whether the last `zeros` bits of a float32 are zero.
bool is_shorter(double value, unsigned zeros) {
  return is_float32(value) &&
         std::bit_cast<std::uint32_t>(static_cast<float>(value)) % (1U << zeros) == 0;
}

bool is_float16(double value) {
  return is_shorter(value, 13) && std::abs(value) <= 65504.0 &&
         std::trunc(value * 0x1p24) == value * 0x1p24;
}

bool is_bfloat16(double value) {
  return is_shorter(value, 16);
}

}  // namespace

AttentionCheck rounding_check(FloatType type, int columns) {
  struct Rounding {
    double unit, sums, subnormal;
  };
  const Rounding r = type == FloatType::kFloat16    ? Rounding{0x1p-11, 0x1p-24, 0x1p-24}
                     : type == FloatType::kBFloat16 ? Rounding{0x1p-8, 0x1p-24, 0.0}
                     : type == FloatType::kFloat32  ? Rounding{0x1p-24, 0x1p-24, 0.0}
                                                    : Rounding{0x1p-53, 0x1p-53, 0.0};
  AttentionCheck check;
  check.row_tolerance = 4.0 * r.unit + columns * (r.sums + r.subnormal / 2.0);
  check.causal_tolerance = r.unit / columns;
  return check;
}

RowTolerance rounding_shown(FloatType type, int columns, const double* row, int count) {
  double widest = rounding_check(type, columns).row_tolerance;
  std::string_view name = name_of(type);
  struct Type {
    FloatType type;
    bool (*holds)(double);
  };
  for (const auto& [shorter, holds] : {Type{FloatType::kFloat32, is_float32},
                                       {FloatType::kFloat16, is_float16},
                                       {FloatType::kBFloat16, is_bfloat16}}) {
    const double tolerance = rounding_check(shorter, columns).row_tolerance;
    if (tolerance <= widest || !std::all_of(row, row + count, holds)) continue;
    widest = tolerance;
    name = name_of(shorter);
  }
  return {widest, fmt::format(", the most that rounding its entries to {} explains", name), {}};
}

AttentionCheck attention_check(FloatType type, int columns, std::optional<double> row_tolerance,
                               std::string_view option) {
  AttentionCheck check = rounding_check(type, columns);
  check.options = {.swap = "give " + option_mark("axes") + " with key before query",
                   .lengths = option_mark("lengths") + " 5,8",
                   .left = ' ' + option_mark("padding") + " left"};
  if (row_tolerance)
    check.row_tolerance = *row_tolerance;
  else
    check.second_look = [type, columns, name = std::string(option)](const double* row, int count) {
      RowTolerance shown = rounding_shown(type, columns, row, count);
      shown.remedy = fmt::format(": {} allows more", name);
      return shown;
    };
  return check;
}

}  // namespace synergraph
