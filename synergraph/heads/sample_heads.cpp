#include "synergraph/heads/sample_heads.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/graph/attention_rounding.h"

namespace synergraph {
namespace {

// Of the working memory: for the heads at hand, and what is made of each.
constexpr double kHeadsShare = 4.0 / 9.0;
// For all heads of one sample.
constexpr double kKeptShare = 1.0 / 4.0;
// Matrices of working memory that measuring one head takes beside the heads themselves.
constexpr double kWorkMatrices = 8;

double matrix_bytes(int tokens) {
  return 8.0 * static_cast<double>(tokens) * static_cast<double>(tokens);
}

bool keeps_heads(int heads, int tokens, const WorkingMemory& memory, double most) {
  return heads * matrix_bytes(tokens) <=
         std::min(most, kKeptShare * static_cast<double>(memory.bytes()));
}

/// Refuses systems of many tokens that the memory does not hold. Smaller ones take what they need.
void require_memory(int tokens, const WorkingMemory& memory) {
  constexpr int kAlways = 16384;
  constexpr double kMatrices = 3;  // a head, the combination and a walk
  constexpr double kGiB = 1 << 30;
  const double needed = kMatrices * matrix_bytes(tokens);
  if (tokens <= kAlways || needed <= static_cast<double>(memory.bytes())) return;
  throw InputError(
      fmt::format("the CPU needs {:.0f} GiB of memory to measure {} tokens, and may use {:.1f} "
                  "GiB: raise {}, or "
                  "measure on a GPU ({} cuda)",
                  std::ceil(needed / kGiB), tokens, static_cast<double>(memory.bytes()) / kGiB,
                  option_mark("memory"), option_mark("device")));
}

}  // namespace

SampleHeads::SampleHeads(int heads, int tokens, const WorkingMemory& memory, double most)
    : heads_(heads), tokens_(tokens), keep_(keeps_heads(heads, tokens, memory, most)) {
  require_memory(tokens, memory);
}

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

SampleHeads::Reader head_reader(const AttentionView& view, const TokenSpan& sequence,
                                std::optional<double> row_tolerance, MissingMass missing_mass) {
  return [=](int head, Matrix& into) {
    const auto columns = static_cast<int>(view.tokens);
    AttentionCheck check = attention_check(view.type, columns, row_tolerance);
    check.name = fmt::format("sample {}, head {}", sequence.sample, head);
    check.missing_hint = "; missing_mass=\"node\" assigns the missing mass to an extra node";
    check.options = {"pass attention.swapaxes(-1, -2)", "lengths=attention_mask.sum(1)",
                     ", padding=\"left\""};
    // As many rows at a time as a cache line holds: they may lie side by side.
    constexpr int kRows = 16;
    std::vector<double> rows(kRows * static_cast<std::size_t>(columns));
    const auto begin = static_cast<int>(sequence.begin);
    const auto row = [&](int i) -> const double* {
      const int at = (i - begin) % kRows;
      if (at == 0)
        read_rows(view, sequence.sample, head, i, std::min<std::int64_t>(kRows, sequence.end - i),
                  rows.data());
      double* entries = rows.data() + std::ptrdiff_t{at} * columns;
      clear_padding(entries, begin, static_cast<int>(sequence.end), columns);
      return entries;
    };
    cut_attention(row, columns, begin, check, into, missing_mass);
  };
}

int systems_at_once(int heads, int tokens, const Execution& execution, double most) {
  const double kept = keeps_heads(heads, tokens, execution.memory, most) ? heads : 1;
  const double each = (kept + kWorkMatrices) * matrix_bytes(tokens);
  const double memory = kHeadsShare * static_cast<double>(execution.memory.bytes());
  return static_cast<int>(
      std::clamp(memory / each, 1.0, static_cast<double>(execution.thread_count())));
}

Execution execution_of_each(const Execution& execution, int at_once) {
  Execution each = execution.part(std::max(1, execution.thread_count() / at_once));
  const double memory = (1.0 - kHeadsShare) * static_cast<double>(execution.memory.bytes());
  each.memory = WorkingMemory(static_cast<std::size_t>(memory)).shared();
  return each;
}

}  // namespace synergraph
