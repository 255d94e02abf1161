#pragma once

/// The seam between the measuring logic and a device. This header holds no code yet: the CPU is the
/// only device that measures, and its functions are called directly.
///
/// The seam lies below heads/measure.h. Certificates, conventions, best head, synergy and the order
/// of errors stay on the host and are written once. A device gets operators (triangular matrices)
/// and returns numbers of nodes. It knows no heads, samples or conventions. visit_systems()
/// (heads/visit_systems.h) decides what runs at the same time, whatever the device.
///
/// A device must do four things. Each line names the function on the CPU and its callers:
/// - propagate one operator by a panel of steps, and reduce the panel: Propagation
///   (core/propagation.h), raise_to_panel, panel_total. Callers: chain/ (hitting, mixing,
///   survival_sweep, truncated_mean), diffusion/ (fidelity, fidelity_tracker, quick_minimax),
///   heads/cross_head_share, weights/weight_gradient.
/// - solve a triangular system: forward_substitute (core/triangular.h). Caller:
///   diffusion/quick_minimax.
/// - square an operator and apply a power of it: square_upper, multiply_upper (core/triangular.h),
///   WalkPowers (chain/walk_powers.h). Callers: chain/ (mixing, survival_sweep),
///   diffusion/slow_signal, weights/ (part_signals, power_adjoint, weight_gradient).
/// - add operators with convex weights: ConvexSum, convex_sum_of_lower (core/convex_sum.h),
///   add_upper. Callers: chain/walk, heads/ (head, measure, cross_head_share, stack),
///   subsets/head_sums, weights/weight_objective.
///
/// There is no virtual interface yet. Propagation::find() and at() are inlined into the loops that
/// search a panel, and a call for each state would be slow. A device takes whole panels with their
/// reductions. So the loops that look at single states (find, at, current) must first become
/// reductions: the first step at which a state passes a threshold, the largest state of each node,
/// and the sum.
