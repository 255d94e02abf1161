#include "synergraph/gradients/step_panel.h"

#include <algorithm>

#include "synergraph/core/panels.h"

namespace synergraph {

// Whole registers of steps are made: what lies beyond the last step is never looked at.
StepPanel::StepPanel(int nodes, int steps)
    : steps_(steps), values_(nodes, (steps + 7) / 8 * 8 + 1) {}

void StepPanel::recur(int node, double scale, double stay) {
  double* x = values_.row(node);
  const double kept = scale * stay;
  for (int s = 0; s < steps_; ++s) x[s + 1] = scale * x[s + 1] + kept * x[s];
}

void StepPanel::advance_down(const CombinedRows& rows, const double* scale) {
  const std::ptrdiff_t pitch = values_.stride();
  rows.visit_down(nodes(), [&](int begin, int end, ConstMatrixView block) {
    // From nodes first .. end - 1, whose steps are made, to nodes `low` .. `high` - 1.
    const auto add = [&](int first, int low, int high) {
      if (first < end && low < high)
        add_panel_products({block.row(first - begin) + low, 1, block.stride, high - low,
                            end - first, values_.row(first), pitch, values_.row(low) + 1, pitch,
                            padded_steps()});
    };
    for (int i = end - 1; i >= begin; --i) {
      if (scale != nullptr && scale[i] == 0.0) {
        std::fill_n(values_.row(i) + 1, steps_, values_(i, 0));
        continue;
      }
      add(i + 1, i, i + 1);
      recur(i, scale == nullptr ? 1.0 : scale[i], block(i - begin, i));
    }
    add(begin, 0, begin);
  });
}

void StepPanel::advance_up(const CombinedRows& rows, const double* scale) {
  const std::ptrdiff_t pitch = values_.stride();
  rows.visit_up(nodes(), [&](int begin, int end, ConstMatrixView block) {
    const auto add = [&](int first, int last, int low, int high) {
      if (first < last)
        add_panel_products({block.row(low - begin) + first, block.stride, 1, high - low,
                            last - first, values_.row(first), pitch, values_.row(low) + 1, pitch,
                            padded_steps()});
    };
    add(0, begin, begin, end);
    for (int i = begin; i < end; ++i) {
      add(begin, i, i, i + 1);
      recur(i, scale == nullptr ? 1.0 : scale[i], block(i - begin, i));
    }
  });
}

void StepPanel::reverse() {
  for (int j = 0; j < nodes(); ++j) std::reverse(values_.row(j), values_.row(j) + steps_ + 1);
}

}  // namespace synergraph
