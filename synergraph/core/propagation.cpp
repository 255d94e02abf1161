#include "synergraph/core/propagation.h"

#include <algorithm>

#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/underflow.h"

namespace synergraph {

Propagation::Propagation(ConstMatrixView upper, const double* start)
    : upper_(upper),
      lanes_(kernels().doubles),
      panel_(panel()),
      pitch_(panel_ + (panel_ % 8 == 4 ? 4 : 8)),
      states_(static_cast<std::size_t>(offset(upper.rows))),
      active_(upper.rows) {
  for (int j = 0; j < upper.rows; ++j)
    states_[static_cast<std::size_t>(offset(j) + panel_)] = start[j];
}

Propagation::Propagation(ConstMatrixView rows, const double* scale, const double* stay,
                         const double* start)
    : Propagation(rows, start) {
  scale_ = scale;
  stay_ = stay;
}

int Propagation::panel() {
  return kPanelRegisters * kernels().doubles;
}

void Propagation::advance_panel() {
  if (scale_ == nullptr)
    kernels().advance(upper_, states_.data(), pitch_, active_, runs_);
  else
    kernels().advance_scaled(upper_, scale_, stay_, states_.data(), pitch_, active_, runs_);
}

void Propagation::advance(std::int64_t steps) {
  runs_ =
      static_cast<int>(std::clamp<std::int64_t>((steps + lanes_ - 1) / lanes_, 1, kPanelRegisters));
  if (flush_) {
    const FlushUnderflow flush;
    advance_panel();
    flushed_ = flushed_ || flush.happened();
  } else {
    advance_panel();
  }
  length_ = runs_ * lanes_;
  time_ += length_;
}

void Propagation::raise_to_panel(int count, double* into) const {
  kernels().raise_to_rows(states_.data(), pitch_, count, length_, into);
}

double Propagation::panel_total() const {
  return kernels().total_of_rows(states_.data(), pitch_, active_, length_);
}

}  // namespace synergraph
