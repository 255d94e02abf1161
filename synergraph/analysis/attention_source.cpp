#include "synergraph/analysis/attention_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

// Heads of one sample are kept in memory up to this many bytes.
constexpr double kKeptBytes = 64 << 20;
// Working memory of all samples together, as far as it can be kept to.
constexpr double kWorkingBytes = 512 << 20;
// Matrices of working memory that measuring one head takes beside the heads themselves.
constexpr double kWorkMatrices = 8;

double matrix_bytes(int tokens) {
  return 8.0 * static_cast<double>(tokens) * static_cast<double>(tokens);
}

bool keeps_heads(int heads, int tokens) {
  return heads * matrix_bytes(tokens) <= kKeptBytes;
}

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

AttentionCheck rounding_check(DType dtype, int columns) {
  struct Rounding {
    double unit, sums, subnormal;
  };
  const Rounding r = dtype == DType::kFloat16    ? Rounding{0x1p-11, 0x1p-24, 0x1p-24}
                     : dtype == DType::kBFloat16 ? Rounding{0x1p-8, 0x1p-24, 0.0}
                     : dtype == DType::kFloat32  ? Rounding{0x1p-24, 0x1p-24, 0.0}
                                                 : Rounding{0x1p-53, 0x1p-53, 0.0};
  AttentionCheck check;
  check.row_tolerance = 4.0 * r.unit + columns * (r.sums + r.subnormal / 2.0);
  check.causal_tolerance = r.unit / columns;
  return check;
}

RowTolerance rounding_shown(DType dtype, int columns, const double* row, int count) {
  double widest = rounding_check(dtype, columns).row_tolerance;
  std::string_view type = dtype_name(dtype);
  struct Type {
    DType dtype;
    bool (*holds)(double);
  };
  for (const auto& [shorter, holds] : {Type{DType::kFloat32, is_float32},
                                       {DType::kFloat16, is_float16},
                                       {DType::kBFloat16, is_bfloat16}}) {
    const double tolerance = rounding_check(shorter, columns).row_tolerance;
    if (tolerance <= widest || !std::all_of(row, row + count, holds)) continue;
    widest = tolerance;
    type = dtype_name(shorter);
  }
  return {widest, fmt::format(", the most that rounding its entries to {} explains: "
                              "--row-tolerance allows more",
                              type)};
}

void cut_attention(const std::function<const double*(int i)>& row, int columns, int begin,
                   const AttentionCheck& check, Matrix& into) {
  for (int i = 0; i < into.rows(); ++i) {
    const double* whole = row(begin + i);
    double sum = checked_row_sum(whole, begin + i, columns, check);
    const double* kept = whole + begin;
    if (begin > 0) sum = total(kept, i + 1);
    if (!(sum > 0.0))
      throw InputError(fmt::format("{}: row {} gives nothing to the keys from {} on", check.name,
                                   begin + i, begin));
    double* to = into.row(i);
    for (int j = 0; j <= i; ++j) to[j] = kept[j] / sum;
  }
}

SampleHeads::SampleHeads(int heads, int tokens)
    : heads_(heads), tokens_(tokens), keep_(keeps_heads(heads, tokens)) {}

void SampleHeads::start(Reader reader) {
  reader_ = std::move(reader);
  held_ = -1;
  const auto wanted = static_cast<std::size_t>(keep_ ? heads_ : 1);
  while (matrices_.size() < wanted) matrices_.emplace_back(Matrix(tokens_, tokens_));
  for (int h = 0; keep_ && h < heads_; ++h) read(h, matrices_[static_cast<std::size_t>(h)]);
}

void SampleHeads::read(int h, MirroredMatrix& into) const {
  into.refill([&](Matrix& lower) { reader_(h, lower); });
}

const MirroredMatrix& SampleHeads::head(int h) {
  if (keep_) return matrices_[static_cast<std::size_t>(h)];
  if (held_ != h) {
    held_ = -1;
    read(h, matrices_.front());
    held_ = h;
  }
  return matrices_.front();
}

int problems_in_memory(int heads, int tokens) {
  const double kept = keeps_heads(heads, tokens) ? heads : 1;
  const double bytes = (kept + kWorkMatrices) * matrix_bytes(tokens);
  return static_cast<int>(std::clamp(kWorkingBytes / bytes, 1.0, 4096.0));
}

}  // namespace synergraph
